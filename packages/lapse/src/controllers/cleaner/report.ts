// Reports the result of an evaluation in status and remembers until when it is valid. A Cleaner that is triggered
// without a relevant change is neither evaluated nor written again.

import { type Instant, type Millis, minutes, parseTime, plus } from '@lapse/base/instant';
import { again, type Outcome, waitUntil } from '@lapse/runtime/outcome';
import type { NextEvaluation } from './conditions.ts';
import type { Scope } from './context.ts';
import type { Meaning } from './spec.ts';
import { keptOf, type Reason, type Report, readyOf, writeStatus } from './status.ts';
import { isAhead } from './waits.ts';

/** Evaluation interval of a blocked Cleaner without a period. */
const DEFAULT_PERIOD: Millis = minutes(5);

export const periodOf = ({ period }: Meaning): Millis => period ?? DEFAULT_PERIOD;

export async function report({ ctx, cleaner }: Scope, what: Report, then: Outcome): Promise<Outcome> {
  const written = await writeStatus(ctx, cleaner, what);
  return written.kind === 'lost' ? again('changed while deciding') : then;
}

/** Evaluates again after one period, or earlier when `basis` changes. */
export const reportForPeriod = (
  scope: Scope,
  meaning: Meaning,
  basis: string,
  what: Omit<Report, 'next'>,
): Promise<Outcome> =>
  reportUntil(scope, { basis, until: plus(scope.ctx.now, periodOf(meaning)), why: what.reason }, what);

export interface Validity {
  readonly basis: string;
  readonly until: Instant;
  readonly why: Reason | NextEvaluation['why'];
}

/** Evaluates again at a time, or earlier when the basis changes. */
export async function reportUntil(
  scope: Scope,
  validity: Validity,
  what: Omit<Report, 'next'>,
): Promise<Outcome> {
  const { ctx, context, cleaner } = scope;
  const { basis, until, why } = validity;
  const unchanged = context.memos.find(cleaner, basis, ctx.now);
  if (unchanged !== undefined) return unchanged;
  const outcome = await report(scope, { ...what, next: until }, waitUntil(until, why));
  return outcome.kind === 'waitUntil' ? context.memos.set(cleaner, validity, ctx.now) : outcome;
}

/** Reports that the API server does not answer or answers unusably, keeps the rest of the status, and retries. */
export function reportUnavailable(
  scope: Scope,
  reason: 'Unavailable' | 'ClockUnknown',
  message: string,
  wait: Millis,
): Promise<Outcome> {
  const { deletion } = scope.cleaner.status ?? {};
  const next = sameTime(scope, reason, message, wait) ?? plus(scope.ctx.now, wait);
  const kept = { ...keptOf(scope.cleaner), ...(deletion === undefined ? {} : { deletion }) };
  return report(scope, { ...kept, reason, message, next }, waitUntil(next, reason));
}

/**
 * The time that status already shows for the same problem, so that the problem is reported once and not at every
 * reconcile.
 */
function sameTime(
  { ctx, cleaner }: Scope,
  reason: Reason,
  message: string,
  wait: Millis,
): Instant | undefined {
  const before = readyOf(cleaner);
  if (before?.reason !== reason || before.message !== message) return undefined;
  const next = parseTime(cleaner.status?.nextScheduledEvaluation ?? '');
  return Number.isFinite(next) && isAhead(next, wait, ctx.now) ? next : undefined;
}
