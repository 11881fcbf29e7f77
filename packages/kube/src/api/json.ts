// JSON values as Kubernetes objects use them. Integers beyond 2^53 are bigint, so that an int64 survives a round trip.

export type Json = null | boolean | number | bigint | string | Json[] | JsonObject;
export interface JsonObject {
  [key: string]: Json | undefined;
}

export const isObject = (v: unknown): v is JsonObject =>
  typeof v === 'object' && v !== null && !Array.isArray(v);

/** Copies deeply. `__proto__` is an ordinary key and stays an own property. */
export function clone<T extends Json | undefined>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((v) => clone(v)) as T;
  const out: JsonObject = {};
  for (const key in value) {
    if (!Object.hasOwn(value, key)) continue;
    const inner = (value as JsonObject)[key];
    setOwn(out, key, typeof inner === 'object' ? clone(inner) : inner);
  }
  return out as T;
}

/** Sets an own property even when the key is `__proto__`. */
export function setOwn(target: JsonObject, key: string, value: Json | undefined): void {
  if (key === '__proto__') {
    Object.defineProperty(target, key, { value, writable: true, enumerable: true, configurable: true });
  } else target[key] = value;
}

/** Reads an own property. Inherited names such as `constructor` or `__proto__` are undefined. */
export const getOwn = (target: JsonObject, key: string): Json | undefined =>
  Object.hasOwn(target, key) ? target[key] : undefined;

/** Deep equality; undefined properties count as absent. */
export function equal(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    if (!Array.isArray(a) || !Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i])) return false;
    return true;
  }
  return equalObjects(a, b);
}

/** Allocates no key lists, because most comparisons are of large, equal objects. */
function equalObjects(a: JsonObject, b: JsonObject): boolean {
  let more = 0;
  for (const key in a) {
    if (!Object.hasOwn(a, key) || a[key] === undefined) continue;
    if (!Object.hasOwn(b, key) || !equal(a[key], b[key])) return false;
    more++;
  }
  for (const key in b) if (Object.hasOwn(b, key) && b[key] !== undefined) more--;
  return more === 0;
}
