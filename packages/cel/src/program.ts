// A compiled program and its evaluation.

import { depthOf, type Expr } from './ast.ts';
import { check } from './checker.ts';
import { type CompiledProgram, compileProgram } from './compile/compile.ts';
import { type Reader, readerFor } from './convert.ts';
import type { Environment } from './environment.ts';
import { BudgetExceeded, Frame } from './frame.ts';
import { parse } from './parser.ts';
import { validatePatternSizes } from './patterns.ts';
import { resolveUnchecked } from './resolve.ts';
import { countCodePoints, type Issue, Source } from './source.ts';
import { type CelType, DYN } from './types.ts';
import { validateHomogeneous, validateLiterals } from './validate.ts';
import { adapt, Failure, type Value } from './values.ts';

/** Kubernetes' limit for one evaluation. */
export const PER_CALL_LIMIT = 1_000_000;
/** Kubernetes' limit for all evaluations on one object. */
export const PER_OBJECT_BUDGET = 10_000_000;

/** Values by name: plain JSON, or the engine's own values. Objects are never modified. */
export type Bindings = Readonly<Record<string, unknown>>;

export type Evaluation =
  | { readonly kind: 'value'; readonly value: Value; readonly cost: number }
  | { readonly kind: 'error'; readonly message: string; readonly issue: Issue; readonly cost: number }
  /** The budget was exhausted. The result of the program is unknown. */
  | { readonly kind: 'exhausted'; readonly message: string; readonly cost: number };

export type Compilation =
  | { readonly kind: 'program'; readonly program: Program }
  | {
      readonly kind: 'invalid';
      /** `program`: it type-checks, but a constant part always fails. Kubernetes reports that with another message. */
      readonly stage: 'check' | 'program';
      readonly issues: readonly Issue[];
      /** All issues with their positions, as cel-go prints them. */
      readonly message: string;
    };

export interface Variable {
  readonly name: string;
  readonly slot: number;
  readonly reader: Reader | undefined;
}

export class Program {
  readonly source: Source;
  readonly root: Expr;
  readonly env: Environment;
  /** The type of the result. */
  readonly type: CelType;
  readonly #compiled: CompiledProgram;
  readonly #variables: readonly Variable[];

  constructor(source: Source, root: Expr, env: Environment) {
    this.source = source;
    this.root = root;
    this.env = env;
    this.type = root.type ?? DYN;
    this.#compiled = compileProgram(root, env);
    this.#variables = variablesOf(this.#compiled, env);
  }

  /** Errors of constant parts that always fail. */
  get constantFailures(): readonly Failure[] {
    return this.#compiled.constantFailures;
  }

  /** Names of the variables the program reads. */
  get variables(): readonly string[] {
    return this.#variables.map((v) => v.name);
  }

  /** Evaluates with these values, for at most `limit` units of cost. */
  evaluate(bindings: Bindings, limit: number = PER_CALL_LIMIT): Evaluation {
    return run(
      { compiled: this.#compiled, variables: this.#variables, source: this.source, env: this.env },
      bindings,
      limit,
    );
  }
}

export const variablesOf = ({ slots }: CompiledProgram, env: Environment): Variable[] =>
  [...slots.variables].map(([name, slot]) => {
    const type = env.variables.get(name);
    return { name, slot, reader: type === undefined ? undefined : readerFor(type) };
  });

export interface Runnable {
  readonly compiled: CompiledProgram;
  readonly variables: readonly Variable[];
  readonly source: Source;
  readonly env: Environment;
}

export function run(
  { compiled, variables, source, env }: Runnable,
  bindings: Bindings,
  limit: number,
): Evaluation {
  const { run: body, slots } = compiled;
  const frame = new Frame(new Array<Value>(slots.size).fill(null), limit, env.options);
  for (const { name, slot, reader } of variables) frame.slots[slot] = bound(bindings, name, reader);
  try {
    const value = body(frame);
    frame.charge(0);
    if (!(value instanceof Failure)) return { kind: 'value', value, cost: frame.cost };
    const issue = source.issue(value.errorOffset, value.errorMessage);
    return { kind: 'error', message: value.errorMessage, issue, cost: frame.cost };
  } catch (e) {
    if (e instanceof BudgetExceeded) return { kind: 'exhausted', message: e.message, cost: frame.cost };
    // Data nested deeper than the stack, or a string beyond the maximum length: limits of the runtime, not of the cost.
    if (e instanceof RangeError) return { kind: 'exhausted', message: e.message, cost: frame.cost };
    throw e;
  }
}

function bound(bindings: Bindings, name: string, reader: Reader | undefined): Value {
  const given = Object.hasOwn(bindings, name) ? bindings[name] : undefined;
  if (given === undefined) return new Failure(`no such attribute(s): ${name}`);
  const value = adapt(given as Value);
  return reader === undefined ? value : reader(value);
}

/** Parses, checks and compiles a text. Reports all errors, not just the first. */
export function compileSource(text: string, env: Environment): Compilation {
  const source = new Source(text);
  const { maxCodePoints, maxDepth } = env.options;
  const size = text.length <= maxCodePoints ? 0 : countCodePoints(text);
  if (size > maxCodePoints) {
    const message = `expression code point size exceeds limit: size: ${size}, limit ${maxCodePoints}`;
    return invalid(source, [source.issue(maxCodePoints, message)]);
  }
  const { root, issues } = parse(source, { ...env.options, macros: env.macros });
  if (issues.length > 0) return invalid(source, issues);
  const depth = depthOf(root);
  if (depth > maxDepth)
    return invalid(source, [
      source.issue(root.at, `expression nests too deeply: ${depth}, limit ${maxDepth}`),
    ]);
  const problems = env.options.check ? checkAll(root, source, env) : resolveAll(root, source, env);
  if (problems.length > 0) return invalid(source, problems);
  const program = new Program(source, root, env);
  const [failure] = env.options.validateLiterals ? program.constantFailures : [];
  if (failure === undefined) return { kind: 'program', program };
  const issue = source.issue(failure.errorOffset, failure.errorMessage);
  return { kind: 'invalid', stage: 'program', issues: [issue], message: failure.errorMessage };
}

function checkAll(root: Expr, source: Source, env: Environment): readonly Issue[] {
  const { issues } = check(root, source, env);
  if (issues.length > 0) return issues;
  const tooLarge = validatePatternSizes(root, source, env.options.maxPatternSize);
  if (tooLarge.length > 0) return tooLarge;
  return [
    ...(env.options.validateLiterals ? validateLiterals(root, source) : []),
    ...(env.options.homogeneousLiterals ? validateHomogeneous(root, source) : []),
  ];
}

function resolveAll(root: Expr, source: Source, env: Environment): readonly Issue[] {
  const issues = resolveUnchecked(root, env);
  return issues.length > 0 ? issues : validatePatternSizes(root, source, env.options.maxPatternSize);
}

const invalid = (source: Source, issues: readonly Issue[]): Compilation => ({
  kind: 'invalid',
  stage: 'check',
  issues,
  message: source.renderAll(issues),
});
