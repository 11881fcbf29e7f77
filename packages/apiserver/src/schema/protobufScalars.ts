// Scalars and special types of the built-in table in protobuf: the wire type, and the JSON that a client would have
// sent.

import { formatGoDuration } from '@lapse/base/goDuration';
import type { Json } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import type { ScalarType } from './builtinTable.ts';
import { DecodeError } from './decodeError.ts';
import { formatGoTime, RFC3339, RFC3339_MICRO } from './goTime.ts';
import { BYTES, type ProtobufReader, VARINT } from './protobufReader.ts';

interface ScalarReader {
  wire: number;
  read(reader: ProtobufReader): Json;
}

const FIXED64 = 1;
const MAX_RAW_DEPTH = 500;
const ZERO_TIME = '0001-01-01T00:00:00Z';

/** Lists of these types may be packed into one field. */
export const packable = (type: string): boolean =>
  type === 'int32' || type === 'int64' || type === 'uint32' || type === 'uint64' || type === 'bool';

/** Reads the fields 1, 2, … of a small message; `read[n - 1]` reads field n. */
function small(message: string, reader: ProtobufReader, read: [wire: number, read: () => void][]): void {
  while (!reader.done) {
    const { field, wire } = reader.tag(message);
    const entry = read[field - 1];
    if (entry === undefined) reader.skip();
    else {
      if (entry[0] !== wire) throw new DecodeError(`proto: wrong wireType = ${wire} for field ${message}`);
      entry[1]();
    }
  }
}

function readTimestamp(reader: ProtobufReader): { seconds: number; nanos: number } | undefined {
  if (reader.done) return undefined;
  let seconds = 0;
  let nanos = 0;
  small('Timestamp', reader, [
    [VARINT, () => (seconds = Number(reader.int64()))],
    [VARINT, () => (nanos = reader.int32())],
  ]);
  // RFC 3339 cannot represent times outside these years.
  if (seconds < -62_167_219_200 || seconds > 253_402_300_799)
    throw new DecodeError('proto: time out of range');
  return { seconds, nanos };
}

function readTime(reader: ProtobufReader): Json {
  const time = readTimestamp(reader.message());
  return time === undefined ? ZERO_TIME : formatGoTime(RFC3339, { seconds: time.seconds, nanos: 0 });
}

function readMicroTime(reader: ProtobufReader): Json {
  const time = readTimestamp(reader.message());
  if (time === undefined) return '0001-01-01T00:00:00.000000Z';
  const carry = Math.floor(time.nanos / 1e9);
  return formatGoTime(RFC3339_MICRO, { seconds: time.seconds + carry, nanos: time.nanos - carry * 1e9 });
}

function readQuantity(outer: ProtobufReader): Json {
  const reader = outer.message();
  let text = '0';
  small('Quantity', reader, [[BYTES, () => (text = reader.string())]]);
  return text;
}

function readDuration(outer: ProtobufReader): Json {
  const reader = outer.message();
  let nanos = 0n;
  small('Duration', reader, [[VARINT, () => (nanos = BigInt(reader.int64()))]]);
  return formatGoDuration(nanos);
}

function readIntOrString(outer: ProtobufReader): Json {
  const reader = outer.message();
  let isString = false;
  let int = 0;
  let text = '';
  small('IntOrString', reader, [
    [VARINT, () => (isString = Number(reader.int64()) === 1)],
    [VARINT, () => (int = reader.int32())],
    [BYTES, () => (text = reader.string())],
  ]);
  return isString ? text : int;
}

/** RawExtension and FieldsV1: JSON text in field 1. */
const readRaw =
  (message: string) =>
  (outer: ProtobufReader): Json => {
    const reader = outer.message();
    let raw: Uint8Array = new Uint8Array();
    small(message, reader, [[BYTES, () => (raw = reader.bytes())]]);
    if (raw.length === 0) return null;
    try {
      return parseJson(raw, { maxDepth: MAX_RAW_DEPTH }).value;
    } catch (error) {
      throw new DecodeError((error as Error).message);
    }
  };

export const SCALAR_READERS: Record<ScalarType, ScalarReader> = {
  string: { wire: BYTES, read: (r) => r.string() },
  bool: { wire: VARINT, read: (r) => r.bool() },
  int32: { wire: VARINT, read: (r) => r.int32() },
  int64: { wire: VARINT, read: (r) => r.int64() },
  uint32: { wire: VARINT, read: (r) => r.uint32() },
  uint64: { wire: VARINT, read: (r) => r.uint64() },
  float64: { wire: FIXED64, read: (r) => r.float64() },
  bytes: { wire: BYTES, read: (r) => Buffer.from(r.bytes()).toString('base64') },
  Time: { wire: BYTES, read: readTime },
  MicroTime: { wire: BYTES, read: readMicroTime },
  Duration: { wire: BYTES, read: readDuration },
  Quantity: { wire: BYTES, read: readQuantity },
  IntOrString: { wire: BYTES, read: readIntOrString },
  RawExtension: { wire: BYTES, read: readRaw('RawExtension') },
  FieldsV1: { wire: BYTES, read: readRaw('FieldsV1') },
  JSON: { wire: BYTES, read: readRaw('JSON') },
};
