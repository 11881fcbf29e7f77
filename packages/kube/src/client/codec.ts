// Converts between bytes and JSON values. Uses native JSON.parse except where a number would lose digits: a 64-bit
// integer must survive a round trip.

import type { Json } from '#api/json';

// An integer of 16 digits or more may exceed 2^53. A false match inside a string only costs time.
const LONG_INTEGER = /[:[,]\s*-?\d{16}/;
const INTEGER = /^-?\d+$/;

type Reviver = (this: unknown, key: string, value: unknown, context: { source?: string }) => unknown;
const jsonWithSource = JSON as unknown as {
  parse(text: string, reviver: Reviver): Json;
  rawJSON(text: string): unknown;
};

const exactRead: Reviver = (_key, value, context) => {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  const source = context.source ?? '';
  return INTEGER.test(source) ? BigInt(source) : value;
};

const exactWrite = (_key: string, value: unknown): unknown =>
  typeof value === 'bigint' ? jsonWithSource.rawJSON(value.toString()) : value;

/** Throws SyntaxError. Invalid UTF-8 becomes U+FFFD, as in Go. */
export function parseText(text: string): Json {
  return LONG_INTEGER.test(text) ? jsonWithSource.parse(text, exactRead) : (JSON.parse(text) as Json);
}

export const asBuffer = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);

export const textOf = (bytes: Uint8Array): string => asBuffer(bytes).toString('utf8');

export const parseBytes = (bytes: Uint8Array): Json => parseText(textOf(bytes));

/** Omits undefined properties. */
export function encodeBytes(value: unknown): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(value));
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return Buffer.from(JSON.stringify(value, exactWrite));
  }
}
