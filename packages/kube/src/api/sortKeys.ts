// Go serializes objects without a Go struct as maps, and writes maps in key order.

import { isObject, type Json, type JsonObject, setOwn } from './json.ts';

/** A copy with sorted keys, at every depth. */
export function sortKeys(value: JsonObject): JsonObject;
export function sortKeys(value: Json): Json;
export function sortKeys(value: Json): Json {
  if (Array.isArray(value)) return value.map((v) => sortKeys(v));
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value).sort()) {
    const one = value[key];
    if (one !== undefined) setOwn(out, key, sortKeys(one));
  }
  return out;
}
