// Compiles function calls. Overloads check their own arguments, so checked and unchecked calls share the code; type
// checking only shortens the list of overloads. Costs are charged before the body runs.

import type { Call } from '../ast.ts';
import type { CallCost, FunctionDecl, Overload } from '../declarations.ts';
import { Frame } from '../frame.ts';
import { patternProblem } from '../patterns.ts';
import { canonicalKey } from '../select.ts';
import { typeOfValue } from '../typeOfValue.ts';
import { Double, Failure, Optional, Uint, type Value } from '../values.ts';
import { compileAttribute } from './attributes.ts';
import { type CompileContext, type Compiled, constant, isConstant, locate, type Run } from './node.ts';
import { type Apply1, type Apply2, shortcut1, shortcut2 } from './shortcuts.ts';

type Body1 = (a: Value, f: Frame) => Value | undefined;
type Body2 = (a: Value, b: Value, f: Frame) => Value | undefined;
type BodyN = (...args: (Value | Frame)[]) => Value | undefined;

const ATTRIBUTES = new Set(['_[_]', '_[?_]', '_?._', '_?_:_']);
const CONVERSIONS = new Set([
  'bool',
  'bytes',
  'double',
  'duration',
  'dyn',
  'int',
  'string',
  'timestamp',
  'type',
  'uint',
]);

// Work of any call, in units.
const CALL_WORK = 9;
// Formatting an error takes longer than most results.
const FAILURE_WORK = 60;

const PATTERN_FUNCTIONS = new Set(['matches', 'find', 'findAll']);

export function compileCall(ctx: CompileContext, e: Call): Compiled {
  const name = e.resolved ?? e.function;
  if (ATTRIBUTES.has(name)) return compileAttribute(ctx, e, 1);
  if (e.resolved === undefined && (name === 'or' || name === 'orValue'))
    return compileOr(ctx, e, name === 'orValue');
  const declared = ctx.env.functions.get(name);
  const args = e.resolved === undefined && e.target !== undefined ? [e.target, ...e.args] : e.args;
  const compiled = args.map((a) => ctx.compile(a));
  if (declared === undefined) return { run: () => new Failure(`unbound function: ${name}`, e.at) };
  const overloads = candidates(e, declared, args.length);
  const overload = overloads.length === 1 ? overloads[0]!.id : undefined;
  const cost = costOf(declared, overloads);
  const work = CALL_WORK + (declared.work ?? 0);
  const call: CallPlan = { name, overload, at: e.at, bodies: bodiesOf(overloads), cost, work };
  const test = overload === 'in_list' ? membership(compiled[0]!, compiled[1]!) : undefined;
  if (test !== undefined) return test;
  const run = runOf(call, compiled);
  if (PATTERN_FUNCTIONS.has(name)) checkPattern(ctx, compiled[1]?.constant, e.at);
  const foldable = compiled.length === 1 && isConstant(compiled[0]!) && CONVERSIONS.has(name);
  return foldable ? evaluated(ctx, run) : { run };
}

/** Calls the function at compile time. */
function evaluated(ctx: CompileContext, run: Run): Compiled {
  const value = run(Frame.unlimited());
  if (value instanceof Failure) ctx.constantFailures.push(value);
  return constant(value);
}

function checkPattern(ctx: CompileContext, pattern: Value | undefined, at: number): void {
  const problem = typeof pattern === 'string' ? patternProblem(pattern) : undefined;
  if (problem !== undefined) ctx.constantFailures.push(new Failure(problem, at));
}

interface CallPlan {
  readonly name: string;
  /** The overload, if only one is possible. */
  readonly overload: string | undefined;
  readonly at: number;
  readonly bodies: readonly BodyN[];
  readonly cost: CallCost | undefined;
  readonly work: number;
}

/** The overloads that the checker found, or all with this number of arguments. */
function candidates(e: Call, f: FunctionDecl, count: number): readonly Overload[] {
  const chosen = e.overloads;
  if (chosen !== undefined && chosen.length > 0) return f.overloads.filter((o) => chosen.includes(o.id));
  const isMember = e.resolved === undefined;
  return f.overloads.filter((o) => o.member === isMember && o.params.length === count);
}

const bodiesOf = (overloads: readonly Overload[]): readonly BodyN[] =>
  [...new Set(overloads.map((o) => o.call))] as unknown as readonly BodyN[];

/** The overload's own cost if it is the only possible one, otherwise the function's, otherwise 1. */
function costOf(f: FunctionDecl, overloads: readonly Overload[]): CallCost | undefined {
  const [only] = overloads;
  const own = overloads.length === 1 ? only!.cost : undefined;
  return own ?? f.cost;
}

function runOf(call: CallPlan, args: readonly Compiled[]): Run {
  const [first, second] = args;
  if (call.bodies.length === 1 && args.length === 1) return unary(call, first!);
  if (call.bodies.length === 1 && args.length === 2) return binary(call, first!, second!);
  return variadic(
    call,
    args.map((a) => a.run),
  );
}

const isFailure = (v: Value): v is Failure => typeof v === 'object' && v instanceof Failure;

function unary({ name, at, bodies, cost, work }: CallPlan, arg: Compiled): Run {
  const body = bodies[0] as Body1;
  const apply: Apply1 = (a, f) => {
    if (isFailure(a)) {
      f.cost += 1;
      return a;
    }
    if (cost === undefined) f.cost += 1;
    else f.charge(cost(a, null, null));
    f.work(work);
    const result = body(a, f);
    return result === undefined ? noOverload(name, [a], at, f) : settle(result, at, f);
  };
  const { run } = arg;
  return shortcut1(name, arg, apply) ?? ((f) => apply(run(f), f));
}

function binary(call: CallPlan, left: Compiled, right: Compiled): Run {
  const { name, at, bodies, cost, work } = call;
  const body = bodies[0] as Body2;
  const apply: Apply2 = (a, b, f) => {
    if (cost === undefined) f.cost += 1;
    else f.charge(cost(a, b, null));
    if (isFailure(a)) return a;
    if (isFailure(b)) return b;
    f.work(work);
    const result = body(a, b, f);
    if (typeof result === 'boolean') return result;
    return result === undefined ? noOverload(name, [a, b], at, f) : settle(result, at, f);
  };
  const short = shortcut2(call, left, right, apply);
  if (short !== undefined) return short;
  const first = left.run;
  const second = right.run;
  return (f) => {
    const a = first(f);
    return apply(a, second(f), f);
  };
}

function variadic({ name, at, bodies, cost, work }: CallPlan, args: readonly Run[]): Run {
  return (f) => {
    const values: Value[] = [];
    for (const arg of args) {
      const v = arg(f);
      if (v instanceof Failure) return v;
      values.push(v);
    }
    if (cost === undefined) f.cost += 1;
    else f.charge(cost(values[0] ?? null, values[1] ?? null, values[2] ?? null));
    f.work(work);
    for (const body of bodies) {
      const result = body(...values, f);
      if (result !== undefined) return settle(result, at, f);
    }
    return noOverload(name, values, at, f);
  };
}

// Which receivers an operator or size() supports. As in cel-go, the error message differs for unsupported ones. Strings
// and times are always included: they report the error themselves.
const RECEIVERS = ['string', 'timestamp', 'duration'];
const receivers = (...kinds: string[]): ReadonlySet<string> => new Set([...RECEIVERS, ...kinds]);
const NUMBERS = ['double', 'int', 'uint'];
const ORDERED = receivers(...NUMBERS, 'bool', 'bytes');
const SUPPORTED_RECEIVERS: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['_+_', receivers(...NUMBERS, 'bytes', 'list')],
  ['_-_', receivers(...NUMBERS)],
  ['_*_', receivers(...NUMBERS)],
  ['_/_', receivers(...NUMBERS)],
  ['_%_', receivers('int', 'uint')],
  ['-_', receivers('double', 'int', 'bool')],
  ['_<_', ORDERED],
  ['_<=_', ORDERED],
  ['_>_', ORDERED],
  ['_>=_', ORDERED],
  ['size', receivers()],
  ['sort', receivers('list')],
]);
const UNGUARDED = new Set(['contains', 'startsWith', 'endsWith', 'matches']);

function noOverload(name: string, args: readonly Value[], at: number, f: Frame): Failure {
  f.work(FAILURE_WORK);
  const supported = SUPPORTED_RECEIVERS.get(name);
  const [first] = args;
  if (supported !== undefined && first !== undefined && !supported.has(typeOfValue(first).kind)) {
    return new Failure(`no such overload: ${name}`, at);
  }
  if (supported !== undefined || UNGUARDED.has(name) || /[^\w.]/.test(name))
    return new Failure('no such overload', at);
  return new Failure(`no such overload: ${name}(${args.map((a) => typeOfValue(a).name).join(', ')})`, at);
}

/** Adds the position to an error result and charges for it. */
function settle(result: Value, at: number, f: Frame): Value {
  if (!isFailure(result)) return result;
  f.work(FAILURE_WORK);
  return locate(result, at);
}

/**
 * `optional.or(…)` and `optional.orValue(…)`: the right side is evaluated only if the left is none. Both cost nothing.
 */
function compileOr(ctx: CompileContext, e: Call, unwrap: boolean): Compiled {
  const left = ctx.compile(e.target!).run;
  const right = ctx.compile(e.args[0]!).run;
  return {
    run: (f) => {
      const l = left(f);
      // cel-go passes other values through.
      if (!(l instanceof Optional)) return l;
      if (l.heldValue === undefined) return right(f);
      return unwrap ? l.heldValue : l;
    },
  };
}

/** `x in [constants]`: a lookup that costs no more than x. Undefined if the list is not that simple. */
function membership(element: Compiled, list: Compiled): Compiled | undefined {
  const members = list.constant;
  if (!Array.isArray(members)) return undefined;
  if (members.length === 0) return constant(false);
  const keys = members.map(memberKey);
  if (keys.includes(undefined)) return undefined;
  const set = new Set(keys);
  const { run } = element;
  return {
    run: (f) => {
      const v = run(f);
      return v instanceof Failure ? v : set.has(memberKey(v));
    },
  };
}

/** Equal for equal scalars of any numeric type. Undefined for values that need a full comparison. */
function memberKey(v: Value): string | number | bigint | boolean | undefined {
  if (v instanceof Double && !Number.isInteger(v.float64))
    return Number.isNaN(v.float64) ? undefined : v.float64;
  const scalar = typeof v !== 'object' || v instanceof Uint || v instanceof Double;
  return scalar ? canonicalKey(v) : undefined;
}
