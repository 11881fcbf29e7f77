// Equality of values. Numbers compare across types, values of different kinds are unequal, and NaN equals nothing.
// Comparing deep structures is charged as work.

import { AssociativeList } from './associativeList.ts';
import type { Frame } from './frame.ts';
import { equalNumbers, numericOf } from './numbers.ts';
import { mapGet } from './select.ts';
import { mapSize } from './sizes.ts';
import {
  adapt,
  CelMap,
  CelObject,
  Double,
  Duration,
  isMap,
  isPlainMap,
  Opaque,
  Optional,
  type PlainMap,
  Timestamp,
  TypeValue,
  Uint,
  type Value,
} from './values.ts';

export function equals(a: Value, b: Value, f: Frame): boolean {
  if (a === b) return typeof a !== 'object' || a === null || !mayHoldNaN(a) || deepEquals(a, b, f);
  if (typeof a !== 'object' && typeof b !== 'object') return false;
  return deepEquals(a, b, f);
}

// Only NaN differs from itself, so identical values are equal unless they may contain NaN.
const mayHoldNaN = (v: Value): boolean =>
  !(v instanceof CelObject) || v instanceof Double || v instanceof CelMap || v instanceof Optional;

function deepEquals(a: Value, b: Value, f: Frame): boolean {
  const x = numericOf(a);
  if (x !== undefined) {
    const y = numericOf(b);
    return y !== undefined && equalNumbers(x, y);
  }
  if (Array.isArray(a)) return Array.isArray(b) && equalLists(a, b, f);
  if (a instanceof Uint8Array) return b instanceof Uint8Array && Buffer.compare(a, b) === 0;
  if (isMap(a)) return isMap(b) && equalMaps(a, b, f);
  return a instanceof CelObject && b instanceof CelObject && equalObjects(a, b, f);
}

function equalObjects(a: CelObject, b: CelObject, f: Frame): boolean {
  if (a instanceof Timestamp) {
    return b instanceof Timestamp && a.epochSeconds === b.epochSeconds && a.subNanos === b.subNanos;
  }
  if (a instanceof Duration) {
    return b instanceof Duration && a.wholeSeconds === b.wholeSeconds && a.subNanos === b.subNanos;
  }
  if (a instanceof TypeValue) return b instanceof TypeValue && a.typeValue.name === b.typeValue.name;
  if (a instanceof Optional) return b instanceof Optional && equalOptionals(a, b, f);
  return a instanceof Opaque && a.opaqueEquals(b);
}

function equalOptionals(a: Optional, b: Optional, f: Frame): boolean {
  if (a.heldValue === undefined || b.heldValue === undefined) return a.heldValue === b.heldValue;
  return equals(a.heldValue, b.heldValue, f);
}

function equalLists(a: readonly Value[], b: readonly Value[], f: Frame): boolean {
  if (a instanceof AssociativeList) return a.equalTo(b, (x, y) => equals(x, y, f));
  if (a.length !== b.length) return false;
  f.work(a.length * 3);
  return a.every((v, i) => equals(adapt(v), adapt(b[i]!), f));
}

function equalMaps(a: PlainMap | CelMap, b: PlainMap | CelMap, f: Frame): boolean {
  const size = a instanceof CelMap ? a.celEntries.size : mapSize(a);
  if (size !== (b instanceof CelMap ? b.celEntries.size : mapSize(b))) return false;
  f.work(size * 8);
  for (const [key, value] of entriesOf(a)) {
    const other = mapGet(b, key);
    if (other === undefined || !equals(value, other, f)) return false;
  }
  return true;
}

/** Adapted keys and values of any map. */
export function* entriesOf(map: PlainMap | CelMap): Generator<readonly [Value, Value]> {
  if (map instanceof CelMap) {
    yield* map.celEntries.values();
    return;
  }
  if (!isPlainMap(map)) return;
  for (const key of Object.keys(map)) {
    const value = map[key];
    if (value !== undefined) yield [key, adapt(value)];
  }
}

/** `element in list`. */
export function listContains(list: readonly Value[], element: Value, f: Frame): boolean {
  f.work(list.length * 2);
  return list.some((v) => equals(adapt(v), element, f));
}

/** Whether a value is the zero value of its type. optional.ofNonZeroValue drops these. */
export function isZero(v: Value): boolean {
  if (v === null || v === false || v === 0 || v === '') return true;
  if (v instanceof Double) return v.float64 === 0;
  if (v instanceof Uint) return v.uintBits === 0n;
  if (v instanceof Duration) return v.wholeSeconds === 0 && v.subNanos === 0;
  // Go's zero time is the first instant of year 1.
  if (v instanceof Timestamp) return v.epochSeconds === -62_135_596_800 && v.subNanos === 0;
  if (Array.isArray(v) || v instanceof Uint8Array) return v.length === 0;
  if (v instanceof CelMap) return v.celEntries.size === 0;
  return isPlainMap(v) && mapSize(v) === 0;
}
