// JSON merge patch (RFC 7396): maps merge, null removes, everything else replaces.

import { getOwn, isObject, type Json, type JsonObject, setOwn } from '#api/json';

/** A new value; neither argument is changed, but parts of both are shared with the result. */
export function applyMergePatch(target: Json | undefined, patch: Json): Json {
  if (!isObject(patch)) return patch;
  const out: JsonObject = {};
  if (isObject(target)) for (const key of Object.keys(target)) setOwn(out, key, target[key]);
  for (const key of Object.keys(patch)) {
    const value = patch[key]!;
    if (value === null) delete out[key];
    else setOwn(out, key, applyMergePatch(getOwn(out, key), value));
  }
  return out;
}
