// Formats values: for error messages (as Go prints them) and for explanations.

import { formatDouble } from './numbers.ts';
import { formatDuration, formatTimestamp } from './time.ts';
import {
  CelMap,
  Double,
  Duration,
  Failure,
  isPlainMap,
  Opaque,
  Optional,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts';

/** A key as in error messages: without quotes. */
export function describeKey(key: Value): string {
  if (typeof key === 'object' && key !== null) {
    if (key instanceof Uint) return String(key.uintBits);
    if (key instanceof Double) return formatDouble(key.float64);
    return describe(key);
  }
  return String(key);
}

/** A value in CEL notation, truncated to about `limit` characters. */
export function describe(value: Value, limit = 200): string {
  const text = write(value, limit);
  return text.length > limit ? `${text.slice(0, limit)}…` : text;
}

// Deeper structures are hard to read, and may exceed the stack.
const MAX_DEPTH = 12;

function write(value: Value, room: number, depth = 0): string {
  if (typeof value === 'string')
    return JSON.stringify(value.length > room ? `${value.slice(0, room)}…` : value);
  if (typeof value !== 'object' || value === null) return String(value);
  if (depth > MAX_DEPTH) return '…';
  if (Array.isArray(value)) return sequence('[', value, ']', room, (v) => write(v, room, depth + 1));
  if (value instanceof Uint8Array)
    return `b${JSON.stringify(Buffer.from(value.subarray(0, room)).toString('latin1'))}`;
  if (value instanceof CelMap) {
    const entries = value.celEntries.values();
    return sequence('{', entries, '}', room, ([k, v]) => `${write(k, room)}: ${write(v, room, depth + 1)}`);
  }
  if (isPlainMap(value)) {
    return sequence(
      '{',
      Object.entries(value),
      '}',
      room,
      ([k, v]) => `${JSON.stringify(k)}: ${write(v ?? null, room, depth + 1)}`,
    );
  }
  return writeObject(value as object, room, depth);
}

function writeObject(value: object, room: number, depth: number): string {
  if (value instanceof Uint) return `${value.uintBits}u`;
  if (value instanceof Double) {
    const text = formatDouble(value.float64);
    return /^-?\d+$/.test(text) ? `${text}.0` : text;
  }
  if (value instanceof Timestamp) return `timestamp("${formatTimestamp(value)}")`;
  if (value instanceof Duration) return `duration("${formatDuration(value)}")`;
  if (value instanceof TypeValue) return value.typeValue.name;
  if (value instanceof Optional) {
    return value.heldValue === undefined
      ? 'optional.none()'
      : `optional.of(${write(value.heldValue, room, depth + 1)})`;
  }
  if (value instanceof Failure) return `error: ${value.errorMessage}`;
  return value instanceof Opaque ? value.opaqueType().name : 'object';
}

/** Formats elements until the limit is reached, so that a huge list costs no more than a small one. */
function sequence<T>(
  open: string,
  items: Iterable<T>,
  close: string,
  room: number,
  one: (item: T) => string,
): string {
  let text = open;
  let first = true;
  for (const item of items) {
    if (text.length > room) return `${text}, …${close}`;
    text += first ? one(item) : `, ${one(item)}`;
    first = false;
  }
  return text + close;
}
