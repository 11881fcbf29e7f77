// Sizes of values as the cost model of Kubernetes counts them, with one liberty: a text counts by its UTF-16 units.
// That is its number of code points unless it holds characters beyond U+FFFF, which then cost double; counting
// exactly would make reading a text for its cost as dear as reading it for its content.

import { CelMap, CelObject, isPlainMap, Opaque, Optional, type Value } from './values.ts';

const STRING_FACTOR = 0.1;

/** How large a value is for its cost; 1 for what has no size. */
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

/** Entries of an object; a property that is undefined counts as absent. */
export function mapSize(map: { readonly [key: string]: Value | undefined }): number {
  let n = 0;
  for (const key in map) if (Object.hasOwn(map, key) && map[key] !== undefined) n++;
  return n;
}

/** The cost of reading a text of `size` once. */
export const traversal = (size: number): number => Math.ceil(size * STRING_FACTOR);

/** The smaller of two sizes, as comparisons are charged. */
export function comparisonCost(a: Value, b: Value): number {
  return traversal(Math.min(sizeOf(a), sizeOf(b)));
}

/** The cost of walking through a whole tree of values. */
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

/** A call that builds a list of `size` elements, as cel-go rates it. */
export const allocating = (size: number): number => Math.floor(size) + 11;

/** Comparing every element with every other: what sorting and distinct are charged. */
export function selfCompareCost(list: Value): number {
  if (!Array.isArray(list)) return 1;
  const [first] = list;
  const factor = typeof first === 'string' || first instanceof Uint8Array ? 2.1 : 2;
  return Math.min(allocating(list.length * list.length * factor), Number.MAX_SAFE_INTEGER);
}
