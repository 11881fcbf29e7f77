// YAML bodies, read as kubectl's YAML is: version 1.1 scalars (yes, on), exact integers, one document, bounded depth.

import { parseDocument } from 'yaml';
import { isObject, type Json, type JsonObject, setOwn } from '#api/json';
import { BodyError } from './body.ts';

/** Throws BodyError with the parser's complaint. */
export function parseYaml(text: string, maxDepth: number): Json {
  if (nesting(text) > maxDepth) throw new BodyError('exceeded max depth');
  const document = parseDocument(text, {
    version: '1.1',
    intAsBigInt: true,
    uniqueKeys: true,
    logLevel: 'silent',
  });
  const problem = document.errors[0];
  if (problem) throw new BodyError(`error converting YAML to JSON: yaml: ${problem.message.split('\n')[0]}`);
  try {
    return toJson(document.toJS({ maxAliasCount: 1000 }) as unknown, maxDepth);
  } catch (cause) {
    if (cause instanceof BodyError) throw cause;
    throw new BodyError(`error converting YAML to JSON: yaml: ${(cause as Error).message}`);
  }
}

/** An upper bound on how deep flow collections nest, found without building anything. */
function nesting(text: string): number {
  let depth = 0;
  let deepest = 0;
  for (const ch of text) {
    if (ch === '[' || ch === '{') deepest = Math.max(deepest, ++depth);
    else if (ch === ']' || ch === '}') depth--;
  }
  return deepest;
}

function toJson(value: unknown, depth: number): Json {
  if (depth === 0) throw new BodyError('exceeded max depth');
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  if (value === undefined || value === null) return null;
  if (Array.isArray(value)) return value.map((v) => toJson(v, depth - 1));
  if (value instanceof Uint8Array) return Buffer.from(value).toString('base64');
  if (isObject(value)) {
    const out: JsonObject = {};
    for (const [k, v] of Object.entries(value)) setOwn(out, k, toJson(v, depth - 1));
    return out;
  }
  if (typeof value === 'object') return String(value);
  return value as Json;
}
