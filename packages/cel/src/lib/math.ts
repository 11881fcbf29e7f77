// The math extension: extremes, rounding, signs, bits.

import {
  type FunctionDecl,
  fn,
  type Implementation,
  type Library,
  type Overload,
  overload,
} from '../declarations.ts';
import type { Frame } from '../frame.ts';
import { MATH_MACROS } from '../macrosMore.ts';
import { negInt, numericOf, toInt } from '../numbers.ts';
import { compare } from '../ordering.ts';
import { BOOL, type CelType, DOUBLE, DYN, INT, listOf, UINT } from '../types.ts';
import { adapt, Double, Failure, fail, isInt, Uint, type Value } from '../values.ts';

const NUMERIC: readonly (readonly [string, CelType])[] = [
  ['double', DOUBLE],
  ['int', INT],
  ['uint', UINT],
];

type Better = (order: number) => boolean;

/** The second of two numbers if it is better than the first. */
function pick(better: Better, a: Value, b: Value): Value | undefined {
  const order = compare(b, a);
  if (typeof order !== 'number') return order;
  return better(order) ? b : a;
}

function pickFrom(better: Better, name: string, list: Value, f: Frame): Value | undefined {
  if (!Array.isArray(list)) return undefined;
  f.work(list.length);
  let best: Value | undefined;
  for (const e of list) {
    const v = adapt(e);
    if (numericOf(v) === undefined) return fail(`no such overload: ${name}`);
    best = best === undefined ? v : pick(better, best, v);
    if (best === undefined || best instanceof Failure) return best;
  }
  return best ?? fail(`${name}(list) argument must not be empty`);
}

function extreme(word: 'max' | 'min', better: Better): FunctionDecl {
  const name = `math.@${word}`;
  const one = (a: Value) => (numericOf(a) === undefined ? undefined : a);
  const two = (a: Value, b: Value) => pick(better, a, b);
  const all = (l: Value, f: Frame) => pickFrom(better, name, l, f);
  const overloads: Overload[] = [];
  for (const [id, t] of NUMERIC) {
    overloads.push(overload(`math_@${word}_${id}`, [t], t, one));
    overloads.push(overload(`math_@${word}_list_${id}`, [listOf(t)], t, all));
    for (const [other, u] of NUMERIC)
      overloads.push(overload(`math_@${word}_${id}_${other}`, [t, u], t === u ? t : DYN, two));
  }
  return fn(name, ...overloads);
}

const onDouble = (name: string, result: CelType, body: (d: number) => Value): FunctionDecl =>
  fn(
    `math.${name}`,
    overload(`math_${name}_double`, [DOUBLE], result, (v: Value) =>
      v instanceof Double ? body(v.float64) : undefined,
    ),
  );

/** Rounds ties away from zero, unlike Math.round. */
const round = (d: number): Value =>
  new Double(Math.sign(d) * Math.floor(Math.abs(d) + 0.5 - (Math.abs(d) < 2 ** 52 ? 0 : 0.5)));

function abs(v: Value): Value | undefined {
  if (isInt(v)) return v < 0 ? negInt(v) : v;
  if (v instanceof Double) return new Double(Math.abs(v.float64));
  return v instanceof Uint ? v : undefined;
}

function sign(v: Value): Value | undefined {
  if (isInt(v)) return v < 0 ? -1 : v > 0 ? 1 : 0;
  if (v instanceof Double) return new Double(v.float64 === 0 ? 0 : Math.sign(v.float64));
  return v instanceof Uint ? new Uint(v.uintBits === 0n ? 0n : 1n) : undefined;
}

function sqrt(v: Value): Value | undefined {
  const n = numericOf(v);
  return n === undefined ? undefined : new Double(Math.sqrt(Number(n)));
}

const perType = (name: string, body: Implementation, result?: CelType): FunctionDecl =>
  fn(`math.${name}`, ...NUMERIC.map(([id, t]) => overload(`math_${name}_${id}`, [t], result ?? t, body)));

const asInt = (bits: bigint): Value => toInt(BigInt.asIntN(64, bits));
const asUint = (bits: bigint): Value => new Uint(BigInt.asUintN(64, bits));

function bitwise(name: string, body: (a: bigint, b: bigint) => bigint): FunctionDecl {
  const call = (a: Value, b: Value) => {
    if (isInt(a) && isInt(b)) return asInt(body(BigInt(a), BigInt(b)));
    return a instanceof Uint && b instanceof Uint ? asUint(body(a.uintBits, b.uintBits)) : undefined;
  };
  return fn(
    `math.${name}`,
    overload(`math_${name}_int_int`, [INT, INT], INT, call),
    overload(`math_${name}_uint_uint`, [UINT, UINT], UINT, call),
  );
}

function bitNot(a: Value): Value | undefined {
  if (isInt(a)) return asInt(~BigInt(a));
  return a instanceof Uint ? asUint(~a.uintBits) : undefined;
}

/** Shifts treat ints as unsigned 64-bit values. Shifting by 64 or more gives 0. */
function shift(name: string, body: (bits: bigint, by: bigint) => bigint): FunctionDecl {
  const call = (a: Value, by: Value) => {
    if (!isInt(by)) return undefined;
    if (by < 0) return fail(`math.${name}() negative offset: ${by}`);
    const bits = isInt(a) ? BigInt.asUintN(64, BigInt(a)) : a instanceof Uint ? a.uintBits : undefined;
    if (bits === undefined) return undefined;
    const shifted = by >= 64 ? 0n : body(bits, BigInt(by));
    return isInt(a) ? asInt(shifted) : asUint(shifted);
  };
  return fn(
    `math.${name}`,
    overload(`math_${name}_int_int`, [INT, INT], INT, call),
    overload(`math_${name}_uint_int`, [UINT, INT], UINT, call),
  );
}

export const MATH: Library = {
  name: 'math',
  macros: MATH_MACROS,
  functions: [
    extreme('max', (order) => order > 0),
    extreme('min', (order) => order < 0),
    onDouble('ceil', DOUBLE, (d) => new Double(Math.ceil(d))),
    onDouble('floor', DOUBLE, (d) => new Double(Math.floor(d))),
    onDouble('round', DOUBLE, round),
    onDouble('trunc', DOUBLE, (d) => new Double(Math.trunc(d))),
    onDouble('isInf', BOOL, (d) => d === Number.POSITIVE_INFINITY || d === Number.NEGATIVE_INFINITY),
    onDouble('isNaN', BOOL, Number.isNaN),
    onDouble('isFinite', BOOL, Number.isFinite),
    perType('abs', abs),
    perType('sign', sign),
    perType('sqrt', sqrt, DOUBLE),
    bitwise('bitAnd', (a, b) => a & b),
    bitwise('bitOr', (a, b) => a | b),
    bitwise('bitXor', (a, b) => a ^ b),
    fn(
      'math.bitNot',
      overload('math_bitNot_int_int', [INT], INT, bitNot),
      overload('math_bitNot_uint_uint', [UINT], UINT, bitNot),
    ),
    shift('bitShiftLeft', (bits, by) => bits << by),
    shift('bitShiftRight', (bits, by) => bits >> by),
  ],
};
