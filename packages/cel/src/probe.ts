// Evaluates a condition at one instant and computes until when its result cannot change.

import type { Call, Expr } from './ast.ts';
import { type CompiledProgram, compileProgram, type Instrument } from './compile/compile.ts';
import { type Bindings, type Program, run, type Variable, variablesOf } from './program.ts';
import { durationNanos } from './time.ts';
import { analyseTime } from './timeFlow.ts';
import { TIME } from './timeName.ts';
import { Duration, Timestamp, type Value } from './values.ts';

const NANOS = 1_000_000_000n;

export const toNanos = (t: Timestamp): bigint => BigInt(t.epochSeconds) * NANOS + BigInt(t.subNanos);

export function fromNanos(nanos: bigint): Timestamp {
  const seconds = nanos >= 0n ? nanos / NANOS : (nanos - NANOS + 1n) / NANOS;
  return new Timestamp(Number(seconds), Number(nanos - seconds * NANOS));
}

export interface ProbeResult {
  readonly truth: 'true' | 'false' | 'error' | 'exhausted';
  /** The first later instant, in nanoseconds, at which the result could differ. Undefined if it never changes. */
  readonly next: bigint | undefined;
  readonly cost: number;
}

// Where a comparison changes, for a left side that grows relative to the right: at the instant they are equal, or
// directly after it.
const CHANGES_AT_EQUALITY = new Set(['_<_', '_>=_']);
const CHANGES_AFTER_EQUALITY = new Set(['_<=_', '_>_']);

/** A condition prepared for many evaluations. */
export class Probe {
  /** Whether `next` is reliable. */
  readonly analysable: boolean;
  readonly #program: Program;
  readonly #compiled: CompiledProgram;
  readonly #variables: readonly Variable[];
  readonly #values = new Map<Expr, Value>();
  #now = 0n;
  #next: bigint | undefined;

  constructor(program: Program) {
    const { comparisons, analysable } = analyseTime(program.root);
    this.analysable = analysable;
    this.#program = program;
    this.#compiled = compileProgram(program.root, program.env, this.#instrument(comparisons));
    this.#variables = variablesOf(this.#compiled, program.env);
  }

  evaluate(bindings: Bindings, at: bigint, limit: number): ProbeResult {
    this.#now = at;
    this.#next = undefined;
    const { source, env } = this.#program;
    const runnable = { compiled: this.#compiled, variables: this.#variables, source, env };
    const outcome = run(runnable, { ...bindings, [TIME]: fromNanos(at) }, limit);
    const next = this.#next;
    if (outcome.kind !== 'value') return { truth: outcome.kind, next, cost: outcome.cost };
    return { truth: outcome.value === true ? 'true' : 'false', next, cost: outcome.cost };
  }

  /** Records the operands of time-dependent comparisons, and computes when each comparison changes next. */
  #instrument(comparisons: ReadonlyMap<Call, 1 | -1>): Instrument {
    const operands = new Set<Expr>([...comparisons.keys()].flatMap((c) => [...c.args]));
    return (e, body) => {
      const slope = e.kind === 'call' ? comparisons.get(e) : undefined;
      const watched = operands.has(e);
      if (slope === undefined && !watched) return body;
      return (f) => {
        const v = body(f);
        if (watched) this.#values.set(e, v);
        if (slope !== undefined) this.#note(e as Call, slope);
        return v;
      };
    };
  }

  #note(e: Call, slope: 1 | -1): void {
    const ahead = difference(this.#values.get(e.args[0]!), this.#values.get(e.args[1]!));
    if (ahead === undefined) return;
    const equalAt = this.#now - BigInt(slope) * ahead;
    const name = e.resolved ?? e.function;
    const behind = slope === 1 ? CHANGES_AFTER_EQUALITY : CHANGES_AT_EQUALITY;
    const exactly = slope === 1 ? CHANGES_AT_EQUALITY : CHANGES_AFTER_EQUALITY;
    if (!behind.has(name)) this.#offer(equalAt);
    if (!exactly.has(name)) this.#offer(equalAt + 1n);
  }

  #offer(at: bigint): void {
    if (at > this.#now && (this.#next === undefined || at < this.#next)) this.#next = at;
  }
}

/** Left minus right, in nanoseconds. */
function difference(a: Value | undefined, b: Value | undefined): bigint | undefined {
  if (a instanceof Timestamp && b instanceof Timestamp) return toNanos(a) - toNanos(b);
  return a instanceof Duration && b instanceof Duration ? durationNanos(a) - durationNanos(b) : undefined;
}
