// Every decision of this controller. Pure: an object, a moment → what is to be done about it and what people should know.

import type { KubeObject } from '#api/object';
import { type Instant, isDue, type Millis, millis, minutes, plus, seconds } from '#base/instant';
import { computeExpiry, type Expiry, isOptedOut, type Ttl } from '#lifecycle/expiry';
import { type Exemption, type Finishable, timeOf } from './finishable.ts';

export type Verdict = Expiry | Exemption;

export interface Moment {
  readonly now: Instant;
  /** How far a finish may lie in the future and still be believed. */
  readonly tolerance: Millis;
  /** When this process first saw the object finished; for kinds that do not say themselves. */
  readonly firstSeen?: Instant;
}

const NEVER: Ttl = { kind: 'never' };

export function computeVerdict<T extends KubeObject>(
  finishable: Finishable<T>,
  object: T,
  { now, tolerance, firstSeen }: Moment,
): Verdict {
  const ttl = isOptedOut(object.metadata) ? NEVER : finishable.ttl(object);
  const finish =
    object.metadata.deletionTimestamp === undefined
      ? finishable.finish(object, firstSeen)
      : ({ kind: 'beingDeleted' } as const);
  const expiry = computeExpiry(finish, ttl, now, tolerance);
  const isIdle = expiry.kind === 'notApplicable' && expiry.because !== 'finish time unknown';
  return isIdle ? expiry : (finishable.exempt?.(object) ?? expiry);
}

/** What people are told about an object, once. */
export interface Notice {
  readonly reason: string;
  readonly note: string;
  /** As counted in `lapse_ttl_skipped_total`. */
  readonly because: string;
}

/** Times of objects have whole seconds, and good clocks differ by less than one. */
const WORTH_TELLING = seconds(1);

export function computeNotice(verdict: Verdict): Notice | undefined {
  if (verdict.kind === 'exempt') return verdict;
  if (verdict.kind === 'notApplicable') {
    const { because, note = because } = verdict;
    if (because === 'invalid TTL') return { reason: 'InvalidTTL', note, because };
    if (because === 'finish time unknown') return { reason: 'FinishTimeUnknown', note, because };
    return undefined;
  }
  if (verdict.kind === 'expired' || verdict.ahead <= WORTH_TELLING) return undefined;
  const held = verdict.kind === 'held' ? 'too far to be believed yet' : 'the TTL counts from there';
  const note = `finished ${(verdict.ahead / 1000).toFixed(0)} s in the future, ${held}; do the clocks agree?`;
  return { reason: 'FinishInFuture', note, because: 'finish in the future' };
}

/** After this long, an object that we deleted and that is still there is reported. */
export const STUCK_AFTER = minutes(10);

export type Lingering =
  | { readonly kind: 'wait'; readonly until: Instant }
  | { readonly kind: 'stuck'; readonly note: string };

/** An object we deleted which is still there. The grace period it was given is over at its deletionTimestamp. */
export function computeLingering({ metadata }: KubeObject, now: Instant): Lingering {
  const until = plus(timeOf(metadata.deletionTimestamp) ?? now, STUCK_AFTER);
  if (!isDue(until, now)) return { kind: 'wait', until };
  const { finalizers = [] } = metadata;
  const kept =
    finalizers.length === 0 ? 'no finalizer keeps it' : `kept by the finalizer ${finalizers.join(', ')}`;
  return { kind: 'stuck', note: `still there ${STUCK_AFTER / 60_000} minutes after it was deleted: ${kept}` };
}

/** Longer than a rival who is up to date needs from the deadline to a deletion. */
const BY_THE_SAME_RULE = seconds(5);
/** Clocks differ; a rival's may be ahead of ours. */
const RIVAL_AHEAD = seconds(2);

/**
 * Whether something that vanished at `now` without our doing was deleted because of its deadline. What was due before we
 * began to act may have been deleted by the replica that led before us.
 */
export const isRivalDeletion = (deadline: Instant, now: Instant, actingSince: Instant): boolean =>
  deadline > actingSince &&
  isDue(plus(deadline, millis(-RIVAL_AHEAD)), now) &&
  !isDue(plus(deadline, BY_THE_SAME_RULE), now);
