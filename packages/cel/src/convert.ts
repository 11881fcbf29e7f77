// Type conversions: int(), string(), timestamp() and so on, and converting JSON values to the type that a schema
// declares.

import { AssociativeList } from './associativeList.ts';
import {
  doubleToInt,
  doubleToUint,
  formatDouble,
  parseFloat64,
  parseInt64,
  parseUint64,
  toInt,
  toUint,
} from './numbers.ts';
import { decodeUtf8, encodeUtf8 } from './text.ts';
import {
  durationNanos,
  formatDuration,
  formatTimestamp,
  parseDuration,
  parseTimestamp,
  timestampFromSeconds,
} from './time.ts';
import type { CelType } from './types.ts';
import { adapt, Double, Duration, fail, isInt, isPlainMap, Timestamp, Uint, type Value } from './values.ts';

const conversionError = (from: string, to: string): Value =>
  fail(`type conversion error from '${from}' to '${to}'`);

export function convertToInt(v: Value): Value | undefined {
  if (isInt(v)) return v;
  if (v instanceof Double) return doubleToInt(v.float64);
  if (v instanceof Uint) return toInt(v.uintBits);
  if (v instanceof Timestamp) return v.epochSeconds;
  if (v instanceof Duration) return toInt(durationNanos(v));
  return typeof v === 'string' ? (parseInt64(v) ?? conversionError('string', 'int')) : undefined;
}

export function convertToUint(v: Value): Value | undefined {
  if (v instanceof Uint) return v;
  if (isInt(v)) return toUint(BigInt(v));
  if (v instanceof Double) return doubleToUint(v.float64);
  return typeof v === 'string' ? (parseUint64(v) ?? conversionError('string', 'uint')) : undefined;
}

export function convertToDouble(v: Value): Value | undefined {
  if (v instanceof Double) return v;
  if (isInt(v)) return new Double(Number(v));
  if (v instanceof Uint) return new Double(Number(v.uintBits));
  if (typeof v !== 'string') return undefined;
  const parsed = parseFloat64(v);
  return parsed === undefined ? conversionError('string', 'double') : new Double(parsed);
}

const TRUE_WORDS = new Set(['1', 't', 'true', 'TRUE', 'True', 'T']);
const FALSE_WORDS = new Set(['0', 'f', 'false', 'FALSE', 'False', 'F']);

export function convertToBool(v: Value): Value | undefined {
  if (typeof v === 'boolean') return v;
  if (typeof v !== 'string') return undefined;
  if (TRUE_WORDS.has(v)) return true;
  return FALSE_WORDS.has(v) ? false : conversionError('string', 'bool');
}

export function convertToString(v: Value): Value | undefined {
  switch (typeof v) {
    case 'string':
      return v;
    case 'boolean':
    case 'number':
    case 'bigint':
      return String(v);
  }
  if (v instanceof Double) return formatDouble(v.float64);
  if (v instanceof Uint) return String(v.uintBits);
  if (v instanceof Timestamp) return formatTimestamp(v);
  if (v instanceof Duration) return formatDuration(v);
  if (!(v instanceof Uint8Array)) return undefined;
  return decodeUtf8(v) ?? fail('invalid UTF-8 in bytes, cannot convert to string');
}

export function convertToBytes(v: Value): Value | undefined {
  if (v instanceof Uint8Array) return v;
  return typeof v === 'string' ? encodeUtf8(v) : undefined;
}

export function convertToTimestamp(v: Value): Value | undefined {
  if (typeof v === 'string')
    return parseTimestamp(v) ?? conversionError('string', 'google.protobuf.Timestamp');
  if (v instanceof Timestamp) return v;
  return isInt(v) ? timestampFromSeconds(Number(v)) : undefined;
}

export function convertToDuration(v: Value): Value | undefined {
  if (typeof v === 'string') return parseDuration(v) ?? conversionError('string', 'google.protobuf.Duration');
  if (v instanceof Duration) return v;
  // Declared but always rejected: cel-go does not define how long an int is.
  return isInt(v) ? conversionError('int', 'google.protobuf.Duration') : undefined;
}

/** Converts a bound value to its declared type. The same input may be converted often: the caller caches results. */
export type Reader = (v: Value) => Value;

/** The reader for values of a declared type, or undefined if JSON values need no conversion. */
export function readerFor(t: CelType): Reader | undefined {
  switch (t.kind) {
    case 'double':
      return (v) => (typeof v === 'number' || typeof v === 'bigint' ? new Double(Number(v)) : v);
    case 'uint':
      return (v) => (typeof v === 'number' || typeof v === 'bigint' ? toUint(BigInt(v)) : v);
    // A date without time means midnight.
    case 'timestamp':
      return (v) => (typeof v === 'string' ? readTimestamp(v) : v);
    case 'duration':
      return (v) => (typeof v === 'string' ? (parseDuration(v) ?? fail(`Invalid duration ${v}`)) : v);
    case 'bytes':
      return (v) => (typeof v === 'string' ? Uint8Array.from(Buffer.from(v, 'base64')) : v);
    case 'list':
      return listReader(t);
    case 'map':
      return mapReader(t);
    default:
      return undefined;
  }
}

const DATE = /^[0-9]{4}-[0-9]{2}-[0-9]{2}$/;

/** Schemas have two time formats: with the time of day, and the date alone, which means its first instant. */
function readTimestamp(text: string): Value {
  return parseTimestamp(DATE.test(text) ? `${text}T00:00:00Z` : text) ?? fail(`invalid date-time: ${text}`);
}

function listReader(t: CelType): Reader | undefined {
  const element = readerFor(t.params[0]!);
  const { semantics } = t;
  if (element === undefined && semantics === undefined) return undefined;
  return (v) => {
    if (!Array.isArray(v)) return v;
    const read = element === undefined ? v : v.map((e) => element(adapt(e)));
    return semantics === undefined ? read : AssociativeList.withRule(read, semantics);
  };
}

function mapReader(t: CelType): Reader | undefined {
  const value = readerFor(t.params[1]!);
  if (value === undefined) return undefined;
  return (v) => {
    if (!isPlainMap(v)) return v;
    const read: Record<string, Value> = Object.create(null);
    for (const [key, e] of Object.entries(v)) if (e !== undefined) read[key] = value(adapt(e));
    return read;
  };
}
