// Every decision of this controller. Pure: an object, a moment → what is to be done about it and what people should know.

import { type Instant, isDue, type Millis, millis, plus, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { AHEAD_WORTH_TELLING, computeExpiry, type Expiry, type Ttl } from '#deletion/expiry';
import type { Exemption, Finishable, FirstSight } from '#deletion/finish/finishable';
import { readTtlAnnotation } from '#deletion/ttlAnnotation';

export type Verdict = Expiry | Exemption;

export interface Moment {
  readonly now: Instant;
  /** How far a finish may lie in the future and still be believed. */
  readonly tolerance: Millis;
  /** For objects whose status does not say when they finished. */
  readonly sight?: FirstSight | undefined;
}

export function computeVerdict<T extends KubeObject>(
  finishable: Finishable<T>,
  object: T,
  { now, tolerance, sight }: Moment,
): Verdict {
  const ttl = ttlOf(finishable, object);
  const finish =
    object.metadata.deletionTimestamp === undefined
      ? finishable.finish(object, sight)
      : ({ kind: 'beingDeleted' } as const);
  const expiry = computeExpiry(finish, ttl, now, tolerance);
  const isIdle = expiry.kind === 'notApplicable' && expiry.because !== 'finish time unknown';
  return isIdle ? expiry : (finishable.exempt?.(object) ?? expiry);
}

/** What the KEP counts as added to the queue. */
export const isFinishedWithTtl = <T extends KubeObject>(finishable: Finishable<T>, object: T): boolean =>
  finishable.ttl(object).kind === 'after' && finishable.finish(object).kind !== 'unfinished';

/** A length in the annotation is for policies; one that nobody can read may be an opt-out, and nothing ends by mistake. */
function ttlOf<T extends KubeObject>(finishable: Finishable<T>, object: T): Ttl {
  const own = readTtlAnnotation(object.metadata);
  if (own?.kind === 'never') return own;
  const ttl = finishable.ttl(object);
  return own?.kind === 'invalid' && ttl.kind === 'after' ? own : ttl;
}

/** What people are told about an object, once. */
export interface Notice {
  readonly reason: string;
  readonly note: string;
  /** As counted in `lapse_ttl_skipped_total`. */
  readonly because: string;
}

export function computeNotice(verdict: Verdict): Notice | undefined {
  if (verdict.kind === 'exempt') return verdict;
  if (verdict.kind === 'notApplicable') {
    const { because, note = because } = verdict;
    if (because === 'invalid TTL') return { reason: 'InvalidTTL', note, because };
    if (because === 'finish time unknown') return { reason: 'FinishTimeUnknown', note, because };
    return undefined;
  }
  if (verdict.kind === 'expired' || verdict.ahead <= AHEAD_WORTH_TELLING) return undefined;
  const held = verdict.kind === 'held' ? 'too far to be believed yet' : 'the TTL counts from there';
  const note = `finished ${(verdict.ahead / 1000).toFixed(0)} s in the future, ${held}; do the clocks agree?`;
  return { reason: 'FinishInFuture', note, because: 'finish in the future' };
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
