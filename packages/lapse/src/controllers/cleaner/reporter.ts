// Writes the result of an evaluation to status and remembers until when it is valid. A Cleaner that is triggered
// without a relevant change is neither evaluated nor written again.

import { type Instant, isDue, type Millis, minus, minutes, parseTime, plus } from '@lapse/base/instant';
import { again, type Outcome, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Cleaner } from '#api/cleaner';
import type { NextEvaluation } from './compute.ts';
import type { Context } from './context.ts';
import type { Meaning } from './spec.ts';
import { type Reason, type Report, readyOf, writeStatus } from './status.ts';

/** Evaluation interval of a blocked Cleaner without a period. */
const DEFAULT_PERIOD: Millis = minutes(5);

export const periodOf = ({ period }: Meaning): Millis => period ?? DEFAULT_PERIOD;

export const memoKey = ({ namespace = '', name }: ReconcileContext['key']): string => `${namespace}/${name}`;

/**
 * Whether a time is in the future, and not further than when it was set. Otherwise the clock was ahead and has been
 * set back.
 */
const isAhead = (at: Instant, wait: Millis, now: Instant): boolean =>
  !isDue(at, now) && minus(at, now) <= wait;

export class Reporter {
  readonly ctx: ReconcileContext;
  readonly context: Context;
  readonly cleaner: Cleaner;

  constructor(ctx: ReconcileContext, context: Context, cleaner: Cleaner) {
    this.ctx = ctx;
    this.context = context;
    this.cleaner = cleaner;
  }

  get generation(): number {
    return this.cleaner.metadata.generation ?? 1;
  }

  /** The problem was reported. It is not retried before its time or a change of the spec. */
  held(): Outcome | undefined {
    const hold = this.context.holds.get(memoKey(this.ctx.key));
    const holds =
      hold !== undefined &&
      hold.uid === this.cleaner.metadata.uid &&
      hold.generation === this.generation &&
      isAhead(hold.until, hold.wait, this.ctx.now);
    return holds ? waitUntil(hold.until, hold.why) : undefined;
  }

  /** The memoized outcome, if it is still valid: nothing that was read changed, and its time has not come. */
  unchanged(key: string): Outcome | undefined {
    const memo = this.context.memos.get(memoKey(this.ctx.key));
    const holds =
      memo !== undefined &&
      memo.uid === this.cleaner.metadata.uid &&
      memo.key === key &&
      isAhead(memo.next, memo.wait, this.ctx.now);
    return holds ? waitUntil(memo.next, memo.why) : undefined;
  }

  /** Evaluates again after one period, or earlier when something changes. */
  later(meaning: Meaning, key: string, report: Omit<Report, 'next'>): Promise<Outcome> {
    return this.until(plus(this.ctx.now, periodOf(meaning)), report.reason, key, report);
  }

  async until(
    at: Instant,
    why: Reason | NextEvaluation['why'],
    key: string,
    report: Omit<Report, 'next'>,
  ): Promise<Outcome> {
    const unchanged = this.unchanged(key);
    if (unchanged !== undefined) return unchanged;
    const outcome = await this.report({ ...report, next: at }, waitUntil(at, why));
    const uid = this.cleaner.metadata.uid ?? '';
    if (outcome.kind === 'waitUntil')
      this.context.memos.set(memoKey(this.ctx.key), {
        uid,
        key,
        next: at,
        wait: minus(at, this.ctx.now),
        why,
      });
    return outcome;
  }

  /** Reports that the API server does not answer or answers unusably, keeps the rest of the status, and retries. */
  async unavailable(reason: 'Unavailable' | 'ClockUnknown', message: string, wait: Millis): Promise<Outcome> {
    const { resolvedTargets, resolvedTargetCount, evaluations, deletion } = this.cleaner.status ?? {};
    const next = this.#sameTime(reason, message, wait) ?? plus(this.ctx.now, wait);
    const shown = resolvedTargets && {
      resolvedTargets,
      resolvedTargetCount: resolvedTargetCount ?? resolvedTargets.length,
    };
    const kept = {
      ...(shown === undefined ? {} : { shown }),
      ...(evaluations === undefined ? {} : { evaluations }),
      ...(deletion === undefined ? {} : { deletion }),
    };
    return this.report({ ...kept, reason, message, next }, waitUntil(next, reason));
  }

  /**
   * The time that status already shows for the same problem, so that the problem is reported once and not at every
   * reconcile.
   */
  #sameTime(reason: Reason, message: string, wait: Millis): Instant | undefined {
    const { ctx, cleaner } = this;
    const before = readyOf(cleaner);
    if (before?.reason !== reason || before.message !== message) return undefined;
    const next = parseTime(cleaner.status?.nextScheduledEvaluation ?? '');
    return Number.isFinite(next) && isAhead(next, wait, ctx.now) ? next : undefined;
  }

  async report(report: Report, then: Outcome): Promise<Outcome> {
    const written = await writeStatus(this.ctx, this.cleaner, report);
    return written.kind === 'lost' ? again('changed while deciding') : then;
  }
}
