// A fast JSON parser for texts as programs write them: no spaces, no repeated keys, only plain integers. Most bodies
// have this form, and native JSON.parse takes a fifth of the time of jsonParse.ts.

import { isUtf8 } from 'node:buffer';
import type { Json, JsonObject } from './json.ts';

const OPEN_OBJECT = 123;
const QUOTE = 34;
const NEWLINE = 10;

/**
 * The result of parseJson if it has no notes. Undefined if the text is not in plain form or not JSON; the caller then
 * uses parseJson.
 */
export function parsePlainJson(bytes: Uint8Array, maxDepth: number): Json | undefined {
  if (bytes[0] !== OPEN_OBJECT || bytes[1] !== QUOTE || !isUtf8(bytes)) return undefined;
  // Go's encoder appends a newline.
  const length = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('utf8');
  // Go and JavaScript decode escaped halves of surrogate pairs differently.
  if (text.includes('\\u')) return undefined;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
  // Texts with repeated keys, spaces or other number formats differ when they are written back.
  return isPlain(value, maxDepth) && JSON.stringify(value) === text ? value : undefined;
}

function isPlain(value: Json | undefined, depth: number): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  return Array.isArray(value) ? isPlainList(value, depth - 1) : isPlainObject(value, depth - 1);
}

function isPlainList(list: readonly Json[], depth: number): boolean {
  for (const item of list) if (!isPlain(item, depth)) return false;
  return true;
}

function isPlainObject(object: JsonObject, depth: number): boolean {
  for (const key in object) if (!isPlain(object[key], depth)) return false;
  return true;
}
