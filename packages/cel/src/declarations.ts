// Declarations of a library: functions with their overloads, constants, types and macros.

import type { Frame } from './frame.ts';
import type { Macro } from './macros.ts';
import type { CelType } from './types.ts';
import type { Value } from './values.ts';

/**
 * The body of an overload. It returns undefined if its arguments are not of its types, so a call with unchecked
 * arguments tries one overload after the other. Arguments are never errors.
 * The frame is the last argument, for bodies that charge for work; see frame.ts.
 */
export type Implementation =
  | ((f: Frame) => Value | undefined)
  | ((a: Value, f: Frame) => Value | undefined)
  | ((a: Value, b: Value, f: Frame) => Value | undefined)
  | ((a: Value, b: Value, c: Value, f: Frame) => Value | undefined)
  | ((a: Value, b: Value, c: Value, d: Value, f: Frame) => Value | undefined);

/**
 * Run-time cost of one call without its arguments. Charged before the call, so that sizes are bounded before the work
 * is done.
 */
export type CallCost = (a: Value, b: Value, c: Value) => number;

export interface Overload {
  readonly id: string;
  readonly member: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly call: Implementation;
  /** Applies only if the checker found this overload alone. Default: 1. */
  readonly cost?: CallCost | undefined;
}

export interface FunctionDecl {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** The cost of all overloads without a cost of their own. */
  readonly cost?: CallCost | undefined;
  /** Work of one call beyond what its body charges. For bodies that take about a microsecond. */
  readonly work?: number | undefined;
}

export interface Library {
  readonly name: string;
  readonly functions?: readonly FunctionDecl[];
  readonly macros?: readonly Macro[];
  /** Names with a fixed value: types, enum values. */
  readonly constants?: readonly { readonly name: string; readonly type: CelType; readonly value: Value }[];
  /** Allows `?.`, `[?]` and `?` entries. */
  readonly optionalSyntax?: boolean;
}

type Options = { readonly cost?: CallCost | undefined };

export const overload = (
  id: string,
  params: readonly CelType[],
  result: CelType,
  call: Implementation,
  options: Options = {},
): Overload => ({ id, member: false, params, result, call, cost: options.cost });

export const member = (
  id: string,
  params: readonly CelType[],
  result: CelType,
  call: Implementation,
  options: Options = {},
): Overload => ({ id, member: true, params, result, call, cost: options.cost });

export const fn = (name: string, ...overloads: Overload[]): FunctionDecl => ({ name, overloads });

/** Functions whose calls take about `units` of ten nanoseconds. */
export const working = (units: number, ...functions: readonly FunctionDecl[]): FunctionDecl[] =>
  functions.map((f) => ({ ...f, work: units }));

/** A function with the same cost for all its overloads. */
export const fnAt = (cost: CallCost, name: string, ...overloads: Overload[]): FunctionDecl => ({
  name,
  overloads,
  cost,
});
