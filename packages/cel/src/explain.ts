// Explains the result of a program: the parts that decided it, with their values.
// A false `&&` is explained by its false term, a true `exists` by the matching element. Parts without influence are
// omitted. The number of parts and the length of values are bounded.

import type { Expr } from './ast.ts';
import { compileProgram, type Instrument } from './compile/compile.ts';
import { describe } from './describe.ts';
import { type Bindings, type Evaluation, PER_CALL_LIMIT, type Program, run, variablesOf } from './program.ts';
import { Failure, type Value } from './values.ts';

/** A part of the program that influenced the result. */
export interface Reason {
  /** The source text of the part. */
  readonly text: string;
  readonly line: number;
  readonly column: number;
  /** Its value in CEL notation, truncated; `error: …` if it failed. */
  readonly value: string;
}

export interface Explanation {
  readonly outcome: Evaluation;
  readonly because: readonly Reason[];
}

export interface ExplainOptions {
  readonly limit?: number;
  readonly maxReasons?: number;
  /** Maximum characters of a value. */
  readonly maxValue?: number;
}

const MAX_REASONS = 20;
const MAX_VALUE = 120;
// Maximum recorded iterations per loop: enough for an explanation, bounded for long lists.
const MAX_ITERATIONS = 16;

/** One evaluation of one part. */
interface Trace {
  readonly e: Expr;
  value: Value;
  readonly parts: Trace[];
}

export function explain(program: Program, bindings: Bindings, options: ExplainOptions = {}): Explanation {
  const recorder = new Recorder();
  const { root, env, source } = program;
  const compiled = compileProgram(root, env, recorder.instrument);
  const runnable = { compiled, variables: variablesOf(compiled, env), source, env };
  const outcome = run(runnable, bindings, options.limit ?? PER_CALL_LIMIT);
  const maxValue = options.maxValue ?? MAX_VALUE;
  const reasons = new Map<string, Reason>();
  for (const { e, value } of recorder.top === undefined ? [] : deciding(recorder.top)) {
    const { line, column } = source.issue(e.start, '');
    const text = source.text.slice(e.start, e.end);
    reasons.set(`${e.start}:${e.end}`, { text, line, column, value: describe(value, maxValue) });
    if (reasons.size >= (options.maxReasons ?? MAX_REASONS)) break;
  }
  return { outcome, because: [...reasons.values()] };
}

/** Builds the tree of evaluated parts during the evaluation. */
class Recorder {
  top: Trace | undefined;
  #open: Trace | undefined;

  readonly instrument: Instrument = (e, body) => (f) => {
    const outer = this.#open;
    const trace: Trace = { e, value: null, parts: [] };
    this.#open = trace;
    trace.value = body(f);
    this.#open = outer;
    if (outer === undefined) this.top = trace;
    else remember(outer, trace);
    return trace.value;
  };
}

/** Keeps the first part of a loop, which is its range, and the latest iterations. */
function remember(outer: Trace, trace: Trace): void {
  outer.parts.push(trace);
  if (outer.parts.length > MAX_ITERATIONS && outer.e.kind === 'fold') outer.parts.splice(1, 1);
}

/** The traces that decided the value of a trace, outermost first. */
function* deciding(t: Trace): Generator<Trace> {
  const inner = decidingParts(t);
  if (inner === undefined) {
    yield t;
    yield* operandsOf(t);
    return;
  }
  for (const part of inner) yield* deciding(part);
}

/** The parts that decided a combination. Undefined if the trace itself is the reason. */
function decidingParts(t: Trace): readonly Trace[] | undefined {
  switch (t.e.kind) {
    case 'logical':
      return decidingTerms(t, t.e.op === '||');
    case 'call':
      return combinedBy(t.e.resolved ?? t.e.function) ? t.parts : undefined;
    case 'fold':
      return t.e.fold === 'all' || t.e.fold === 'exists'
        ? decidingIterations(t, t.e.fold === 'exists')
        : undefined;
    case 'bind':
    case 'block':
      return t.parts.slice(-1);
    default:
      return undefined;
  }
}

const combinedBy = (name: string): boolean => name === '!_' || name === '_?_:_';

/** The deciding term; all terms if all were needed; the failing ones if it failed. */
function decidingTerms(t: Trace, decider: boolean): readonly Trace[] {
  const failed = t.parts.filter((p) => p.value instanceof Failure);
  if (t.value instanceof Failure) return failed;
  return t.value === decider ? t.parts.filter((p) => p.value === decider).slice(-1) : t.parts;
}

/** The deciding iteration. Undefined if the loop as a whole is the reason. */
function decidingIterations(t: Trace, decider: boolean): readonly Trace[] | undefined {
  const [range, ...iterations] = t.parts;
  if (range !== undefined && range.value instanceof Failure) return [range];
  if (t.value instanceof Failure) return iterations.filter((p) => p.value instanceof Failure).slice(0, 1);
  return t.value === decider ? iterations.slice(-1) : undefined;
}

/** The non-literal operands of a comparison or call. */
function* operandsOf(t: Trace): Generator<Trace> {
  if (t.e.kind === 'fold') {
    yield* t.parts.slice(0, 1);
    return;
  }
  if (t.e.kind !== 'call') return;
  for (const part of t.parts) {
    if (part.e.kind === 'literal') continue;
    yield part;
    if (part.e.kind === 'call') yield* operandsOf(part);
  }
}
