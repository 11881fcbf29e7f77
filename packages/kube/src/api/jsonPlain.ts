// JSON text → value for the texts that programs write: no spaces, no repeated keys, no number but plain integers. They
// are the great majority of bodies, and the engine's own reader takes a fifth of the time of jsonParse.ts for them.

import { isUtf8 } from 'node:buffer';
import type { Json } from './json.ts';

const OPEN_OBJECT = 123;
const QUOTE = 34;
const NEWLINE = 10;

/**
 * What parseJson would answer, with nothing to note about it; undefined when the text is not of the plain form (or no
 * JSON at all), and parseJson has to look at it.
 */
export function parsePlainJson(bytes: Uint8Array, maxDepth: number): Json | undefined {
  if (bytes[0] !== OPEN_OBJECT || bytes[1] !== QUOTE || !isUtf8(bytes)) return undefined;
  // Go's encoder ends with a new line.
  const length = bytes.at(-1) === NEWLINE ? bytes.length - 1 : bytes.length;
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, length).toString('utf8');
  // Escaped halves of surrogate pairs are something else to Go than to JavaScript.
  if (text.includes('\\u')) return undefined;
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
  // Repeated keys, spaces and other spellings do not come back as they were.
  return isPlain(value, maxDepth) && JSON.stringify(value) === text ? value : undefined;
}

function isPlain(value: Json | undefined, depth: number): boolean {
  if (typeof value === 'number') return Number.isSafeInteger(value);
  if (typeof value !== 'object' || value === null) return true;
  if (depth === 0) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlain(item, depth - 1)) return false;
  } else for (const key in value) if (!isPlain(value[key], depth - 1)) return false;
  return true;
}
