// Test kit: encodes protobuf messages by field number, in the given order.

export type Value = string | number | boolean | Uint8Array | Message;
export type Message = readonly (readonly [number: number, value: Value])[];

function varint(value: number | bigint): Buffer {
  const bytes: number[] = [];
  let rest = BigInt.asUintN(64, BigInt(value));
  for (; rest > 0x7fn; rest >>= 7n) bytes.push(Number(rest & 0x7fn) | 0x80);
  bytes.push(Number(rest));
  return Buffer.from(bytes);
}

function field(number: number, value: Value): Buffer {
  if (typeof value === 'number' || typeof value === 'boolean')
    return Buffer.concat([varint(number << 3), varint(Number(value))]);
  const bytes = typeof value === 'string' || value instanceof Uint8Array ? Buffer.from(value) : encode(value);
  return Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes]);
}

export const encode = (message: Message): Buffer =>
  Buffer.concat(message.map(([number, value]) => field(number, value)));

/** A message in the envelope of Kubernetes. */
export const envelope = (apiVersion: string, kind: string, message: Message): Buffer =>
  Buffer.concat([
    Buffer.from('k8s\0'),
    encode([
      [
        1,
        [
          [1, apiVersion],
          [2, kind],
        ],
      ],
      [2, encode(message)],
      [3, ''],
      [4, ''],
    ]),
  ]);

/** A watch event with its length prefix. */
export function frame(type: string, object: Buffer): Buffer {
  const body = encode([
    [1, type],
    [2, [[1, object]]],
  ]);
  const head = Buffer.alloc(4);
  head.writeUInt32BE(body.length);
  return Buffer.concat([head, body]);
}
