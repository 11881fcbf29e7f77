// The conditions of a Cleaner: what they evaluate to on given objects at a time, and when to evaluate again. Evaluation
// depends on its arguments only. It is asynchronous because it yields to other work.

import { type Instant, instant, type Millis, millis, minutes, plus, seconds } from '@lapse/base/instant';
import { nextTurn } from '@lapse/base/turn';
import {
  type Bindings,
  type Evaluation,
  messageWithoutData,
  type Program,
  TIME,
  timestampFromMillis,
  whenTrue,
} from '@lapse/cel/cel';
import type { ConditionOutcome } from '#api/cleaner';

export interface ConditionResult {
  readonly outcomes: readonly ConditionOutcome[];
  /** `true` only if every condition is true. */
  readonly result: 'true' | 'false' | 'error' | 'budget';
}

/** CEL cost limit of one condition, and of all conditions together. */
const COST_EACH = 1_000_000;
const COST_ALL = 10_000_000;
/** After this cost the evaluation yields to the event loop. A million units take less than 50 ms. */
const COST_BEFORE_TURN = 500_000;

/** Evaluates all conditions at the same time, each on its own: an error in one does not hide the others. */
export async function evaluate(
  conditions: readonly Program[],
  bindings: Bindings,
  now: Instant,
): Promise<ConditionResult> {
  const bound = { ...bindings, [TIME]: timestampFromMillis(now) };
  const outcomes: ConditionOutcome[] = [];
  let left = COST_ALL;
  let sinceTurn = 0;
  let exhausted = false;
  for (const [index, program] of conditions.entries()) {
    const evaluation = program.evaluate(bound, Math.min(COST_EACH, left));
    left -= evaluation.cost;
    sinceTurn += evaluation.cost;
    exhausted ||= evaluation.kind === 'exhausted';
    outcomes.push({ index, ...outcomeOf(evaluation, program) });
    if (sinceTurn < COST_BEFORE_TURN) continue;
    sinceTurn = 0;
    await nextTurn();
  }
  return { outcomes, result: exhausted ? 'budget' : resultOf(outcomes) };
}

function resultOf(outcomes: readonly ConditionOutcome[]): 'true' | 'false' | 'error' {
  if (outcomes.some(({ outcome }) => outcome === 'error')) return 'error';
  return outcomes.every(({ outcome }) => outcome === 'true') ? 'true' : 'false';
}

function outcomeOf(evaluation: Evaluation, program: Program): Omit<ConditionOutcome, 'index'> {
  switch (evaluation.kind) {
    case 'value':
      if (typeof evaluation.value === 'boolean') return { outcome: evaluation.value ? 'true' : 'false' };
      return { outcome: 'error', message: 'the result is not true or false' };
    case 'exhausted':
      return { outcome: 'error', message: 'the evaluation costs more than is allowed' };
    case 'error': {
      const { line, column } = evaluation.issue;
      const place = line > 0 ? ` (line ${line}, column ${column})` : '';
      return {
        outcome: 'error',
        message: `${messageWithoutData(evaluation.message, program.source.text)}${place}`,
      };
    }
  }
}

/** The message about an evaluation in which not all conditions are true. */
export function describeOutcomes(
  outcomes: readonly ConditionOutcome[],
  result: ConditionResult['result'],
): string {
  const untrue = outcomes.filter(({ outcome }) => outcome !== 'true').length;
  const first = outcomes.find(({ outcome }) => outcome === 'error');
  if (result !== 'false' && first !== undefined)
    return `condition ${first.index}: ${first.message ?? 'error'}`;
  return outcomes.length === 1
    ? 'its condition is not true'
    : `${untrue} of ${outcomes.length} conditions are not true`;
}

export interface NextEvaluationOptions {
  readonly period: Millis;
  /** The author declares that conditions stay true once they are, and the objects they read are watched. */
  readonly monotonic: boolean;
  /** Longest wait after a search. Undefined: no limit. */
  readonly maxSleep?: Millis;
}

export interface NextEvaluation {
  readonly at: Instant;
  /** For logs and tests. */
  readonly why: 'period' | 'found' | 'sleep limit' | 'not monotonic';
  readonly evaluations: number;
  /** When the conditions become true, as far as the search can determine. */
  readonly trueAt?: Instant;
}

const TEN_YEARS: Millis = millis(10 * 365.25 * 86_400_000);
/** The last timestamp that CEL supports. */
const LAST = instant(253_402_300_799_000);
const MOST_EVALUATIONS = 64;
/** The smallest first step of the galloping search. Steps from one second on would exceed the evaluation limit. */
const SHORTEST_STEP = minutes(1);

/**
 * When to evaluate conditions again that are not all true. The result is only a time: a deletion requires an
 * evaluation at the real time.
 */
export function computeNextLook(
  conditions: readonly Program[],
  bindings: Bindings,
  now: Instant,
  { period, monotonic, maxSleep }: NextEvaluationOptions,
): NextEvaluation {
  const byPeriod = plus(now, period);
  if (!monotonic) return { at: byPeriod, why: 'period', evaluations: 0 };
  const step = millis(Math.max(period, SHORTEST_STEP));
  const horizon = instant(Math.min(plus(now, TEN_YEARS), LAST));
  const found = whenTrue(
    conditions,
    bindings,
    { from: now, horizon },
    { step, maxEvaluations: MOST_EVALUATIONS },
  );
  const { evaluations } = found;
  if (found.kind === 'notMonotonic') return { at: byPeriod, why: 'not monotonic', evaluations };
  if (found.kind !== 'at') return { at: byPeriod, why: 'period', evaluations };
  const at = instant(Math.max(found.at, plus(now, seconds(1))));
  if (maxSleep === undefined || at <= plus(now, maxSleep))
    return { at, why: 'found', evaluations, trueAt: at };
  return { at: plus(now, maxSleep), why: 'sleep limit', evaluations, trueAt: at };
}

/** Limit of evaluations ahead of time. There may be years between two of them. */
const MAX_EVALUATIONS = 64;

export type Ahead =
  | { readonly kind: 'true'; readonly at: Instant }
  /** A condition cannot be evaluated at that time. */
  | { readonly kind: 'broken'; readonly conditionResult: ConditionResult }
  /** No time is known at which all conditions are true. */
  | { readonly kind: 'unknown'; readonly conditionResult: ConditionResult };

/**
 * The first evaluation that finds all conditions true, if only time passes. Simulates the evaluations from `from`
 * on. A condition that is true only from time to time may be found true earlier than the result.
 */
export async function computeFirstTrue(
  conditions: readonly Program[],
  bindings: Bindings,
  from: Instant,
  options: NextEvaluationOptions,
): Promise<Ahead> {
  let at = from;
  let conditionResult = await evaluate(conditions, bindings, at);
  for (let looks = 0; looks < MAX_EVALUATIONS; looks++) {
    if (conditionResult.result === 'true') return { kind: 'true', at };
    if (conditionResult.result !== 'false') return { kind: 'broken', conditionResult };
    const next = nextUseful(conditions, bindings, at, options);
    if (next === undefined) break;
    at = next;
    conditionResult = await evaluate(conditions, bindings, at);
  }
  return { kind: 'unknown', conditionResult };
}

/** The next evaluation whose result may differ. Undefined when no such time is known. */
function nextUseful(
  conditions: readonly Program[],
  bindings: Bindings,
  now: Instant,
  options: NextEvaluationOptions,
): Instant | undefined {
  const { period, monotonic } = options;
  const { at, why } = computeNextLook(conditions, bindings, now, { period, monotonic: true });
  if (why === 'not monotonic') return plus(now, period);
  if (why !== 'found') return undefined;
  return monotonic ? at : plus(now, millis(Math.ceil((at - now) / period) * period));
}
