// What an environment offers a program: functions with their overloads, constants, types and macros, in libraries.

import type { Frame } from './frame.ts';
import type { Macro } from './macros.ts';
import type { CelType } from './types.ts';
import type { Value } from './values.ts';

/**
 * The body of an overload. It looks at its arguments itself and answers undefined when they are not of its types, so
 * a call with unchecked arguments just tries one overload after the other. Errors never reach it.
 * The frame comes last, for the few that charge for work; see frame.ts.
 */
export type Implementation =
  | ((f: Frame) => Value | undefined)
  | ((a: Value, f: Frame) => Value | undefined)
  | ((a: Value, b: Value, f: Frame) => Value | undefined)
  | ((a: Value, b: Value, c: Value, f: Frame) => Value | undefined)
  | ((a: Value, b: Value, c: Value, d: Value, f: Frame) => Value | undefined);

/** What one call costs at run time beyond its arguments. Charged before the call: size is bounded before work. */
export type CallCost = (a: Value, b: Value, c: Value) => number;

export interface Overload {
  readonly id: string;
  readonly member: boolean;
  readonly params: readonly CelType[];
  readonly result: CelType;
  readonly call: Implementation;
  /** Counts only when the checker found this overload alone; 1 when not given. */
  readonly cost?: CallCost | undefined;
}

export interface FunctionDecl {
  readonly name: string;
  readonly overloads: readonly Overload[];
  /** What every overload costs that has no cost of its own. */
  readonly cost?: CallCost | undefined;
  /** Work of one call beyond what its body charges; for bodies that take a microsecond rather than a moment. */
  readonly work?: number | undefined;
}

export interface Library {
  readonly name: string;
  readonly functions?: readonly FunctionDecl[];
  readonly macros?: readonly Macro[];
  /** Names with a fixed meaning: types, enum values. */
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

/** A function whose cost is the same for all its overloads. */
export const fnAt = (cost: CallCost, name: string, ...overloads: Overload[]): FunctionDecl => ({
  name,
  overloads,
  cost,
});
