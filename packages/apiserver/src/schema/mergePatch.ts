// JSON merge patch (RFC 7396): maps merge, null removes, everything else replaces. As in kube-apiserver, nulls are
// also removed from maps inside new lists, but stay where a list replaces a map.

import { getOwn, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { sortKeys } from '@lapse/kube/api/sortKeys';

/**
 * The same with keys in the order in which kube-apiserver writes the result: sorted in containers that the patch
 * accessed, unchanged elsewhere.
 */
export function applyMergePatchInOrder(target: Json | undefined, patch: Json): Json {
  if (!isObject(target)) return sortKeys(withoutNulls(patch));
  if (!isObject(patch)) return patch;
  const out: JsonObject = {};
  for (const key of [...new Set([...Object.keys(target), ...Object.keys(patch)])].sort()) {
    const value = Object.hasOwn(patch, key) ? patch[key] : undefined;
    if (value === undefined) setOwn(out, key, target[key]);
    else if (value !== null) setOwn(out, key, applyMergePatchInOrder(getOwn(target, key), value));
  }
  return out;
}

/** Returns a new value; does not modify its arguments, but shares parts with them. */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(target)) return withoutNulls(patch);
  if (!isObject(patch)) return patch;
  const out: JsonObject = {};
  for (const key of Object.keys(target)) setOwn(out, key, target[key]);
  for (const key of Object.keys(patch)) {
    const value = patch[key]!;
    if (value === null) delete out[key];
    else setOwn(out, key, applyMergePatch(getOwn(out, key), value));
  }
  return out;
}

/** Keeps null entries of lists: they are elements, not removals. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) if (value[key] !== null) setOwn(out, key, withoutNulls(value[key]!));
  return out;
}
