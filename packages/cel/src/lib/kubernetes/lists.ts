// List functions of Kubernetes: isSorted, sum, min, max, indexOf, lastIndexOf.

import {
  type CallCost,
  type FunctionDecl,
  fnAt,
  type Implementation,
  type Library,
  member,
} from '../../declarations.ts';
import { equals } from '../../equality.ts';
import type { Frame } from '../../frame.ts';
import { addInt, arithmeticUint } from '../../numbers.ts';
import { compare } from '../../ordering.ts';
import { deepTraversal } from '../../sizes.ts';
import { addDurations } from '../../time.ts';
import { typeOfValue } from '../../typeOfValue.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  param,
  STRING,
  TIMESTAMP,
  UINT,
} from '../../types.ts';
import {
  adapt,
  Double,
  Duration,
  Failure,
  fail,
  isInt,
  noSuchOverload,
  Uint,
  type Value,
} from '../../values.ts';

const A = param('A');

const SUMMABLE: readonly (readonly [string, CelType, Value])[] = [
  ['int', INT, 0],
  ['uint', UINT, new Uint(0n)],
  ['double', DOUBLE, new Double(0)],
  ['duration', DURATION, new Duration(0, 0)],
];

const COMPARABLE: readonly (readonly [string, CelType])[] = [
  ['int', INT],
  ['uint', UINT],
  ['double', DOUBLE],
  ['bool', BOOL],
  ['duration', DURATION],
  ['timestamp', TIMESTAMP],
  ['string', STRING],
  ['bytes', BYTES],
];

const walkCost: CallCost = (a) => deepTraversal(a);

function isSorted(list: Value, f: Frame): Value | undefined {
  if (!Array.isArray(list)) return undefined;
  f.work(list.length);
  for (let i = 1; i < list.length; i++) {
    const order = compare(adapt(list[i - 1]!), adapt(list[i]!));
    if (order === undefined) return noSuchOverload();
    if (typeof order === 'number' && order > 0) return false;
  }
  return true;
}

function addTwo(a: Value, b: Value): Value {
  if (isInt(a) && isInt(b)) return addInt(a, b);
  if (a instanceof Double && b instanceof Double) return new Double(a.float64 + b.float64);
  if (a instanceof Uint && b instanceof Uint) return arithmeticUint('+', a, b);
  return a instanceof Duration && b instanceof Duration ? addDurations(a, b, 1) : noSuchOverload();
}

const sumFrom = (zero: Value) => (list: Value, f: Frame) => {
  if (!Array.isArray(list)) return undefined;
  // The first element selects the overload if the list's type is not known.
  if (list.length > 0 && typeOfValue(adapt(list[0]!)) !== typeOfValue(zero)) return undefined;
  f.work(list.length);
  let sum = zero;
  for (const e of list) {
    sum = addTwo(sum, adapt(e));
    if (sum instanceof Failure) return sum;
  }
  return sum;
};

/** The extreme element: the one that `wins` over all before it. */
const extreme = (name: string, wins: (order: number) => boolean) => (list: Value, f: Frame) => {
  if (!Array.isArray(list)) return undefined;
  f.work(list.length);
  if (list.length === 0) return fail(`${name} called on empty list`);
  let best = adapt(list[0]!);
  for (const e of list) {
    const v = adapt(e);
    const order = compare(v, best);
    if (order === undefined) return noSuchOverload();
    if (typeof order === 'number' && wins(order)) best = v;
  }
  return best;
};

const perComparable = (
  name: string,
  id: (t: string) => string,
  call: Implementation,
  result?: CelType,
): FunctionDecl =>
  fnAt(walkCost, name, ...COMPARABLE.map(([t, type]) => member(id(t), [listOf(type)], result ?? type, call)));

/** Searches an element from the front or from the back. */
const position = (fromEnd: boolean) => (list: Value, item: Value, f: Frame) => {
  if (!Array.isArray(list)) return undefined;
  f.work(list.length);
  const same = (e: Value) => equals(adapt(e), item, f);
  return fromEnd ? list.findLastIndex(same) : list.findIndex(same);
};

export const KUBERNETES_LISTS: Library = {
  name: 'kubernetes lists',
  functions: [
    perComparable('isSorted', (t) => `list_${t}_is_sorted_bool`, isSorted, BOOL),
    fnAt(
      walkCost,
      'sum',
      ...SUMMABLE.map(([t, type, zero]) => member(`list_${t}_sum_${t}`, [listOf(type)], type, sumFrom(zero))),
    ),
    perComparable(
      'max',
      (t) => `list_${t}_max_${t}`,
      extreme('max', (o) => o > 0),
    ),
    perComparable(
      'min',
      (t) => `list_${t}_min_${t}`,
      extreme('min', (o) => o < 0),
    ),
    fnAt(walkCost, 'indexOf', member('list_a_index_of_int', [listOf(A), A], INT, position(false))),
    fnAt(walkCost, 'lastIndexOf', member('list_a_last_index_of_int', [listOf(A), A], INT, position(true))),
  ],
};
