// The lists and sets extensions, and `reverse_list`, the name of the upstream Cleaner for reverse.

import {
  type CallCost,
  fn,
  type Implementation,
  type Library,
  member,
  type Overload,
  overload,
} from '../declarations.ts';
import { listContains } from '../equality.ts';
import type { Frame } from '../frame.ts';
import { SORT_BY_MACROS, SORT_MACROS } from '../macrosMore.ts';
import { allocating, selfCompareCost, sizeOf } from '../sizes.ts';
import { sortedBy } from '../sorting.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  listOf,
  param,
  STRING,
  TIMESTAMP,
  UINT,
} from '../types.ts';
import { adapt, fail, type Value } from '../values.ts';

const T = param('T');
const LIST = listOf(T);
const CALL = 1;

const COMPARABLE: readonly CelType[] = [INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES];

const ofResult: CallCost = (a) => allocating(sizeOf(a));
const count = (v: Value): number => (typeof v === 'number' && v > 0 ? v : 0);

/** The length of a slice, or 1 for the error of an invalid one. */
function sliceSize(list: Value, start: Value, end: Value): number {
  if (!Array.isArray(list) || typeof start !== 'number' || typeof end !== 'number') return 1;
  return start < 0 || start > end || end > list.length ? 1 : end - start;
}

function slice(list: Value, start: Value, end: Value, f: Frame): Value | undefined {
  if (!Array.isArray(list) || typeof start !== 'number' || typeof end !== 'number') return undefined;
  const call = `cannot slice(${start}, ${end})`;
  if (start < 0 || end < 0) return fail(`${call}, negative indexes not supported`);
  if (start > end) return fail(`${call}, start index must be less than or equal to end index`);
  if (list.length < end) return fail(`${call}, list is length ${list.length}`);
  f.work(end - start);
  return list.slice(start, end);
}

function flatten(list: Value, depth: Value, f: Frame): Value | undefined {
  if (!Array.isArray(list) || typeof depth !== 'number') return undefined;
  if (depth < 0) return fail('level must be non-negative');
  const out: Value[] = [];
  appendFlat(list, depth, out, f);
  return out;
}

function appendFlat(list: readonly Value[], depth: number, out: Value[], f: Frame): void {
  f.work(list.length + 1);
  for (const e of list) {
    if (depth > 0 && Array.isArray(e)) appendFlat(e, depth - 1, out, f);
    else out.push(e);
  }
}

function range(n: Value, f: Frame): Value | undefined {
  if (typeof n === 'bigint') {
    if (n < 0n) return [];
    f.charge(Number.POSITIVE_INFINITY);
  }
  if (typeof n !== 'number') return undefined;
  f.work(Math.max(n, 0) * 3);
  const list: number[] = [];
  for (let i = 0; i < n; i++) list.push(i);
  return list;
}

function reverse(list: Value, f: Frame): Value | undefined {
  if (!Array.isArray(list)) return undefined;
  f.work(list.length);
  return [...list].reverse();
}

function distinct(list: Value, f: Frame): Value | undefined {
  if (!Array.isArray(list)) return undefined;
  const scalars = list.every(
    (e) => typeof e === 'string' || typeof e === 'boolean' || Number.isSafeInteger(e),
  );
  if (scalars) {
    f.work(list.length * 4);
    return [...new Set(list)];
  }
  const out: Value[] = [];
  for (const e of list) if (!listContains(out, adapt(e), f)) out.push(e);
  return out;
}

const sort = (list: Value, f: Frame): Value | undefined => {
  if (!Array.isArray(list)) return undefined;
  const elements = list.map(adapt);
  return sortedBy(elements, elements, f);
};

const perComparable = (id: (name: string) => string, call: Implementation): Overload[] =>
  COMPARABLE.map((t) =>
    member(id(t.name), [listOf(t)], listOf(t), call, { cost: (a) => selfCompareCost(a) }),
  );

export const LISTS: Library = {
  name: 'lists',
  macros: SORT_MACROS,
  functions: [
    fn(
      'slice',
      member('list_slice', [LIST, INT, INT], LIST, slice, {
        cost: (_l, s, e) => allocating(sliceSize(_l, s, e)),
      }),
    ),
    fn(
      'flatten',
      member('list_flatten', [listOf(LIST)], LIST, (l: Value, f: Frame) => flatten(l, 1, f), {
        cost: ofResult,
      }),
      member('list_flatten_int', [listOf(DYN), INT], listOf(DYN), flatten, {
        cost: (l, d) => allocating(sizeOf(l) * count(d)),
      }),
    ),
    fn('sort', ...perComparable((name) => `list_${name}_sort`, sort)),
    fn(
      'lists.range',
      overload('lists_range', [INT], listOf(INT), range, { cost: (n) => allocating(count(n)) }),
    ),
    fn('reverse', member('list_reverse', [LIST], LIST, reverse, { cost: ofResult })),
    fn('distinct', member('list_distinct', [LIST], LIST, distinct, { cost: (a) => selfCompareCost(a) })),
  ],
};

export const CLEANER_LISTS: Library = {
  name: 'cleaner lists',
  macros: SORT_BY_MACROS,
  functions: [fn('reverse_list', member('list_reverse_list', [LIST], LIST, reverse, { cost: ofResult }))],
};

const setsCost =
  (factor: number): CallCost =>
  (a, b) =>
    CALL + sizeOf(a) * sizeOf(b) * factor;

const containsAll = (list: readonly Value[], sub: readonly Value[], f: Frame): boolean =>
  sub.every((e) => listContains(list, adapt(e), f));

/** A test on two lists. */
const onLists =
  (test: (a: readonly Value[], b: readonly Value[], f: Frame) => boolean) => (a: Value, b: Value, f: Frame) =>
    Array.isArray(a) && Array.isArray(b) ? test(a, b, f) : undefined;

export const SETS: Library = {
  name: 'sets',
  functions: [
    fn(
      'sets.contains',
      overload('list_sets_contains_list', [LIST, LIST], BOOL, onLists(containsAll), { cost: setsCost(1) }),
    ),
    fn(
      'sets.equivalent',
      overload(
        'list_sets_equivalent_list',
        [LIST, LIST],
        BOOL,
        onLists((a, b, f) => containsAll(a, b, f) && containsAll(b, a, f)),
        { cost: setsCost(2) },
      ),
    ),
    fn(
      'sets.intersects',
      overload(
        'list_sets_intersects_list',
        [LIST, LIST],
        BOOL,
        onLists((a, b, f) => a.some((e) => listContains(b, adapt(e), f))),
        { cost: setsCost(1) },
      ),
    ),
  ],
};
