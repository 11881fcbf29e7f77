// Sizes of values in the cost model of Kubernetes, with one difference: the size of a string is its number of UTF-16
// units. It equals the number of code points except for characters beyond U+FFFF, which count twice. Exact counting
// would cost as much as reading the string.

import { CelMap, CelObject, isPlainMap, Opaque, Optional, type Value } from './values.ts';

const STRING_FACTOR = 0.1;

/** The size of a value in the cost model. 1 for values without a size. */
export function sizeOf(v: Value): number {
  if (typeof v === 'string') return v.length;
  if (typeof v !== 'object' || v === null) return 1;
  if (Array.isArray(v)) return v.length;
  if (v instanceof Uint8Array) return v.length;
  if (v instanceof CelObject) return sizeOfObject(v);
  return isPlainMap(v) ? mapSize(v) : 1;
}

function sizeOfObject(v: CelObject): number {
  if (v instanceof CelMap) return v.celEntries.size;
  if (v instanceof Optional) return v.heldValue === undefined ? 1 : sizeOf(v.heldValue);
  return v instanceof Opaque ? v.opaqueSize() : 1;
}

/** Number of entries of an object. Undefined properties count as absent. */
export function mapSize(map: { readonly [key: string]: Value | undefined }): number {
  let n = 0;
  for (const key in map) if (Object.hasOwn(map, key) && map[key] !== undefined) n++;
  return n;
}

/** The cost of reading a text of `size` once. */
export const traversal = (size: number): number => Math.ceil(size * STRING_FACTOR);

/** The smaller of two sizes, which is what comparisons cost. */
export function comparisonCost(a: Value, b: Value): number {
  return traversal(Math.min(sizeOf(a), sizeOf(b)));
}

/** The cost of traversing a whole tree of values. */
export function deepTraversal(v: Value): number {
  if (typeof v === 'string') return Math.floor(Buffer.byteLength(v) * STRING_FACTOR);
  if (typeof v !== 'object' || v === null) return 1;
  if (v instanceof Uint8Array) return Math.floor(v.length * STRING_FACTOR);
  if (Array.isArray(v)) return v.reduce((sum: number, e: Value) => sum + deepTraversal(e), 0);
  if (v instanceof CelMap) {
    let sum = 0;
    for (const [key, value] of v.celEntries.values()) sum += deepTraversal(key) + deepTraversal(value);
    return sum;
  }
  if (!isPlainMap(v)) return 1;
  return Object.entries(v).reduce((sum, [k, e]) => sum + deepTraversal(k) + deepTraversal(e ?? null), 0);
}

/** The cost of building a list of `size` elements, as in cel-go. */
export const allocating = (size: number): number => Math.floor(size) + 11;

/** The cost of comparing every element with every other, charged for sorting and distinct. */
export function selfCompareCost(list: Value): number {
  if (!Array.isArray(list)) return 1;
  const [first] = list;
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2.1 : 2;
  return Math.min(allocating(list.length * list.length * factor), Number.MAX_SAFE_INTEGER);
}
