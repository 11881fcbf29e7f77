// Recognizes a competing controller: another client deletes objects at the same deadlines.

import { type Instant, isDue, millis, plus, seconds } from '@lapse/base/instant';
import type { Counter } from '@lapse/runtime/metrics/registry';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';

/** Longer than an up-to-date competing controller needs from the deadline to the deletion. */
const COMPETITOR_LAG = seconds(5);
/** Clock difference: the clock of a competing controller may be ahead. */
const COMPETITOR_AHEAD = seconds(2);
/** A competing controller is logged after this many deletions at the deadline: a single one may be a user. */
const WARN_AFTER_DELETIONS = 3;

/**
 * Whether an object that another client deleted was deleted because of its deadline. An object that was due before this
 * replica started to act may have been deleted by the previous leader.
 */
export const isCompetingDeletion = (deadline: Instant, now: Instant, actingSince: Instant): boolean =>
  deadline > actingSince &&
  isDue(plus(deadline, millis(-COMPETITOR_AHEAD)), now) &&
  !isDue(plus(deadline, COMPETITOR_LAG), now);

export interface CompetingOptions {
  /** For the log. */
  readonly kind: string;
  readonly counter: Counter;
  /** The log message: which controller it may be, and what to do. */
  readonly warning: string;
}

/** Another client deleted an object. Counts it if that happened at its deadline, and logs the third one. */
export function countCompetingDeletion(
  { now, actingSince, log }: Pick<ReconcileContext, 'now' | 'actingSince' | 'log'>,
  { kind, counter, warning }: CompetingOptions,
  deadline: Instant,
): void {
  if (!isCompetingDeletion(deadline, now, actingSince)) return;
  counter.inc();
  if (counter.value === WARN_AFTER_DELETIONS) log.warn({ kind, deletions: counter.value }, warning);
}
