// The operators as functions, with cel-go's overloads.

import { AssociativeList } from '../associativeList.ts';
import {
  type CallCost,
  type FunctionDecl,
  fn,
  type Implementation,
  type Overload,
  overload,
} from '../declarations.ts';
import { equals, listContains } from '../equality.ts';
import type { Frame } from '../frame.ts';
import { addInt, arithmeticUint, divInt, modInt, mulInt, negInt, subInt } from '../numbers.ts';
import { greater, greaterEquals, less, lessEquals } from '../ordering.ts';
import { index, mapGet } from '../select.ts';
import { comparisonCost, sizeOf, traversal } from '../sizes.ts';
import { addDurations, addTimestamp, subTimestamps } from '../time.ts';
import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  INT,
  listOf,
  mapOf,
  param,
  STRING,
  TIMESTAMP,
  UINT,
} from '../types.ts';
import { Double, Duration, isInt, isMap, Opaque, Timestamp, Uint, type Value } from '../values.ts';

const A = param('A');
const B = param('B');
const LIST_A = listOf(A);

const bothSizes: CallCost = (a, b) => traversal(sizeOf(a) + sizeOf(b));

function add(a: Value, b: Value, f: Frame): Value | undefined {
  if (isInt(a)) return isInt(b) ? addInt(a, b) : undefined;
  if (typeof a === 'string') return typeof b === 'string' ? joinStrings(a, b, f) : undefined;
  if (Array.isArray(a)) return Array.isArray(b) ? joinLists(a, b, f) : undefined;
  return addObjects(a, b, f);
}

/** The sum of values that are neither ints, strings nor lists. */
function addObjects(a: Value, b: Value, f: Frame): Value | undefined {
  if (a instanceof Double) return b instanceof Double ? new Double(a.float64 + b.float64) : undefined;
  if (a instanceof Timestamp) return b instanceof Duration ? addTimestamp(a, b, 1) : undefined;
  if (a instanceof Duration) return addToDuration(a, b);
  if (a instanceof Uint) return b instanceof Uint ? unsigned('+', a, b, f) : undefined;
  return a instanceof Uint8Array && b instanceof Uint8Array ? joinBytes(a, b, f) : undefined;
}

function joinBytes(a: Uint8Array, b: Uint8Array, f: Frame): Uint8Array {
  f.work(30 + (a.length + b.length) * 0.1);
  const joined = new Uint8Array(a.length + b.length);
  joined.set(a);
  joined.set(b, a.length);
  return joined;
}

// Unsigned numbers are bigints, which are slow.
const UNSIGNED_WORK = 12;

function unsigned(op: '+' | '-' | '*' | '/' | '%', a: Uint, b: Uint, f: Frame): Value {
  f.work(UNSIGNED_WORK);
  return arithmeticUint(op, a, b);
}

function addToDuration(a: Duration, b: Value): Value | undefined {
  if (b instanceof Duration) return addDurations(a, b, 1);
  return b instanceof Timestamp ? addTimestamp(b, a, 1) : undefined;
}

function joinStrings(a: string, b: string, f: Frame): string {
  f.work((a.length + b.length) * 0.1);
  return a + b;
}

function joinLists(a: readonly Value[], b: readonly Value[], f: Frame): readonly Value[] {
  f.work(a.length + b.length);
  if (!(a instanceof AssociativeList)) return a.concat(b);
  f.work(a.length * b.length);
  return a.merge(b, (x, y) => equals(x, y, f));
}

function subtract(a: Value, b: Value, f: Frame): Value | undefined {
  if (isInt(a)) return isInt(b) ? subInt(a, b) : undefined;
  if (a instanceof Timestamp) return subtractFromTimestamp(a, b);
  if (a instanceof Duration) return b instanceof Duration ? addDurations(a, b, -1) : undefined;
  if (a instanceof Double) return b instanceof Double ? new Double(a.float64 - b.float64) : undefined;
  return a instanceof Uint && b instanceof Uint ? unsigned('-', a, b, f) : undefined;
}

function subtractFromTimestamp(a: Timestamp, b: Value): Value | undefined {
  if (b instanceof Timestamp) return subTimestamps(a, b);
  return b instanceof Duration ? addTimestamp(a, b, -1) : undefined;
}

function multiply(a: Value, b: Value, f: Frame): Value | undefined {
  if (isInt(a)) return isInt(b) ? mulInt(a, b) : undefined;
  if (a instanceof Double) return b instanceof Double ? new Double(a.float64 * b.float64) : undefined;
  return a instanceof Uint && b instanceof Uint ? unsigned('*', a, b, f) : undefined;
}

function divide(a: Value, b: Value, f: Frame): Value | undefined {
  if (isInt(a)) return isInt(b) ? divInt(a, b) : undefined;
  if (a instanceof Double) return b instanceof Double ? new Double(a.float64 / b.float64) : undefined;
  return a instanceof Uint && b instanceof Uint ? unsigned('/', a, b, f) : undefined;
}

function modulo(a: Value, b: Value, f: Frame): Value | undefined {
  if (isInt(a)) return isInt(b) ? modInt(a, b) : undefined;
  return a instanceof Uint && b instanceof Uint ? unsigned('%', a, b, f) : undefined;
}

function negate(a: Value): Value | undefined {
  if (isInt(a)) return negInt(a);
  if (a instanceof Duration) return addDurations(new Duration(0, 0), a, -1);
  return a instanceof Double ? new Double(-a.float64) : undefined;
}

function contains(element: Value, container: Value, f: Frame): Value | undefined {
  if (Array.isArray(container)) return listContains(container, element, f);
  return isMap(container) ? mapGet(container, element) !== undefined : undefined;
}

/** Library types compare only with values of the same type. Like Kubernetes, they return an error for others. */
function equalsOrFails(a: Value, b: Value, f: Frame): Value | undefined {
  if (a instanceof Opaque && !(b instanceof Opaque && a.opaqueType().name === b.opaqueType().name))
    return undefined;
  return equals(a, b, f);
}

/** All overloads of an operator share one body, which checks the values itself. */
const operator = (name: string, call: Implementation, signatures: readonly Signature[]): FunctionDecl =>
  fn(
    name,
    ...signatures.map(([id, params, result, cost]): Overload => overload(id, params, result, call, { cost })),
  );

type Signature = readonly [
  id: string,
  params: readonly CelType[],
  result: CelType,
  cost?: CallCost | undefined,
];

const same = (id: string, t: CelType, cost?: CallCost): Signature => [id, [t, t], t, cost];

// In cel-go's order of declaration: the first match decides the result type.
function relation(name: string, word: string, call: Implementation): FunctionDecl {
  const of = (suffix: string, a: CelType, b: CelType, cost?: CallCost): Signature => [
    `${word}_${suffix}`,
    [a, b],
    BOOL,
    cost,
  ];
  return operator(name, call, [
    of('bool', BOOL, BOOL),
    of('int64', INT, INT),
    of('int64_double', INT, DOUBLE),
    of('int64_uint64', INT, UINT),
    of('uint64', UINT, UINT),
    of('uint64_double', UINT, DOUBLE),
    of('uint64_int64', UINT, INT),
    of('double', DOUBLE, DOUBLE),
    of('double_int64', DOUBLE, INT),
    of('double_uint64', DOUBLE, UINT),
    of('string', STRING, STRING, comparisonCost),
    of('bytes', BYTES, BYTES, comparisonCost),
    of('timestamp', TIMESTAMP, TIMESTAMP),
    of('duration', DURATION, DURATION),
  ]);
}

/** Library types compare at a flat rate. */
export const equalityCost: CallCost = (a, b) => (a instanceof Opaque ? 1 : comparisonCost(a, b));

export const OPERATORS: readonly FunctionDecl[] = [
  operator('_?_:_', () => undefined, [['conditional', [BOOL, A, A], A]]),
  operator('!_', (a: Value) => (typeof a === 'boolean' ? !a : undefined), [['logical_not', [BOOL], BOOL]]),
  operator('_==_', equalsOrFails, [['equals', [A, A], BOOL, equalityCost]]),
  operator('_!=_', (a: Value, b: Value, f: Frame) => !equals(a, b, f), [
    ['not_equals', [A, A], BOOL, comparisonCost],
  ]),
  operator('_+_', add, [
    same('add_bytes', BYTES, bothSizes),
    same('add_double', DOUBLE),
    same('add_duration_duration', DURATION),
    ['add_duration_timestamp', [DURATION, TIMESTAMP], TIMESTAMP],
    ['add_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP],
    same('add_int64', INT),
    same('add_list', LIST_A),
    same('add_string', STRING, bothSizes),
    same('add_uint64', UINT),
  ]),
  operator('_/_', divide, [
    same('divide_double', DOUBLE),
    same('divide_int64', INT),
    same('divide_uint64', UINT),
  ]),
  operator('_%_', modulo, [same('modulo_int64', INT), same('modulo_uint64', UINT)]),
  operator('_*_', multiply, [
    same('multiply_double', DOUBLE),
    same('multiply_int64', INT),
    same('multiply_uint64', UINT),
  ]),
  operator('-_', negate, [
    ['negate_double', [DOUBLE], DOUBLE],
    ['negate_int64', [INT], INT],
  ]),
  operator('_-_', subtract, [
    same('subtract_double', DOUBLE),
    same('subtract_duration_duration', DURATION),
    same('subtract_int64', INT),
    ['subtract_timestamp_duration', [TIMESTAMP, DURATION], TIMESTAMP],
    ['subtract_timestamp_timestamp', [TIMESTAMP, TIMESTAMP], DURATION],
    same('subtract_uint64', UINT),
  ]),
  relation('_<_', 'less', less),
  relation('_<=_', 'less_equals', lessEquals),
  relation('_>_', 'greater', greater),
  relation('_>=_', 'greater_equals', greaterEquals),
  operator('_[_]', index, [
    ['index_list', [LIST_A, INT], A],
    ['index_map', [mapOf(A, B), A], B],
  ]),
  operator('@in', contains, [
    ['in_list', [A, LIST_A], BOOL, (_a, b) => sizeOf(b)],
    ['in_map', [A, mapOf(A, B)], BOOL],
  ]),
];
