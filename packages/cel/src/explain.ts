// Why did a program answer what it answered: the parts of it that decided, with the values they had.
// A false `&&` is explained by the term that was false, a true `exists` by the element that was found; what had no say
// in the matter is left out. Values and numbers of parts are bounded.

import type { Expr } from './ast.ts';
import { compileProgram, type Instrument } from './compile/compile.ts';
import { describe } from './describe.ts';
import { type Bindings, type Evaluation, PER_CALL_LIMIT, type Program, run, variablesOf } from './program.ts';
import { Failure, type Value } from './values.ts';

/** A part of the program that had a say. */
export interface Reason {
  /** The part as it is written. */
  readonly text: string;
  readonly line: number;
  readonly column: number;
  /** Its value, in CEL's own notation, cut to a readable length; `error: …` when it failed. */
  readonly value: string;
}

export interface Explanation {
  readonly outcome: Evaluation;
  readonly because: readonly Reason[];
}

export interface ExplainOptions {
  readonly limit?: number;
  readonly maxReasons?: number;
  /** Characters of a value. */
  readonly maxValue?: number;
}

const MAX_REASONS = 20;
const MAX_VALUE = 120;
// What a loop remembers of its turns: enough for a reason, never all of a long list.
const MAX_TURNS = 16;

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

/** Builds the tree of what was evaluated, while it is. */
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

/** Keeps the first part of a loop, which is its range, and the latest turns. */
function remember(outer: Trace, trace: Trace): void {
  outer.parts.push(trace);
  if (outer.parts.length > MAX_TURNS && outer.e.kind === 'fold') outer.parts.splice(1, 1);
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

/** The parts that settled a combination, or undefined when the trace is its own reason. */
function decidingParts(t: Trace): readonly Trace[] | undefined {
  switch (t.e.kind) {
    case 'logical':
      return decidingTerms(t, t.e.op === '||');
    case 'call':
      return combinedBy(t.e.resolved ?? t.e.function) ? t.parts : undefined;
    case 'fold':
      return t.e.fold === 'all' || t.e.fold === 'exists'
        ? decidingTurns(t, t.e.fold === 'exists')
        : undefined;
    case 'bind':
    case 'block':
      return t.parts.slice(-1);
    default:
      return undefined;
  }
}

const combinedBy = (name: string): boolean => name === '!_' || name === '_?_:_';

/** The term that decided, all terms when all had to agree, the failing ones when it failed. */
function decidingTerms(t: Trace, decider: boolean): readonly Trace[] {
  const failed = t.parts.filter((p) => p.value instanceof Failure);
  if (t.value instanceof Failure) return failed;
  return t.value === decider ? t.parts.filter((p) => p.value === decider).slice(-1) : t.parts;
}

/** The turn that decided; undefined when none did, and the loop as a whole is the reason. */
function decidingTurns(t: Trace, decider: boolean): readonly Trace[] | undefined {
  const [range, ...turns] = t.parts;
  if (range !== undefined && range.value instanceof Failure) return [range];
  if (t.value instanceof Failure) return turns.filter((p) => p.value instanceof Failure).slice(0, 1);
  return t.value === decider ? turns.slice(-1) : undefined;
}

/** What a comparison or call was about: its operands, as far as they are not literals. */
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
