// Just enough ASN.1 (DER) to write an X.509 certificate.

export const TAG = { sequence: 0x30, set: 0x31, utf8: 0x0c, octets: 0x04, bits: 0x03, time: 0x18 } as const;

/** One element: tag, length, and its contents one after the other. */
export function der(tag: number, ...contents: Uint8Array[]): Buffer {
  const body = Buffer.concat(contents);
  return Buffer.concat([Buffer.from([tag, ...lengthBytes(body.length)]), body]);
}

export function sequence(...contents: Uint8Array[]): Buffer {
  return der(TAG.sequence, ...contents);
}

/** An explicitly tagged element, `[n]`. */
export function tagged(n: number, ...contents: Uint8Array[]): Buffer {
  return der(0xa0 | n, ...contents);
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return der(TAG.bits, Buffer.from([unusedBits]), bytes);
}

export function oid(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  return der(0x06, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
}

/** A positive integer from its big-endian bytes; DER has no leading zeros except the one that keeps it positive. */
export function integer(bytes: Uint8Array): Buffer {
  const first = bytes.findIndex((byte) => byte !== 0);
  const shortest = first < 0 ? Buffer.of(0) : bytes.subarray(first);
  const signed = shortest[0]! & 0x80 ? Buffer.concat([Buffer.of(0), shortest]) : shortest;
  return der(0x02, signed);
}

export function boolean(value: boolean): Buffer {
  return der(0x01, Buffer.of(value ? 0xff : 0));
}

/** GeneralizedTime, whole seconds. */
export function generalizedTime(date: Date): Buffer {
  const text = `${date.toISOString().replace(/\D/g, '').slice(0, 14)}Z`;
  return der(TAG.time, Buffer.from(text));
}

function lengthBytes(length: number): number[] {
  if (length < 0x80) return [length];
  if (length < 0x100) return [0x81, length];
  return [0x82, length >> 8, length & 0xff];
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >> 7; rest > 0; rest >>= 7) bytes.unshift((rest & 0x7f) | 0x80);
  return bytes;
}
