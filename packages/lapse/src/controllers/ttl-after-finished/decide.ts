// The decisions of this controller. Pure: from an object and a moment to the decision and its report.

import type { Instant, Millis } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { computeExpiry, type Expiry, MAX_UNREPORTED_AHEAD, type Ttl } from '#expiry/expiry';
import type { Exemption, Finishable, FirstSight } from '#expiry/finishable';
import { readTtlAnnotation } from '#expiry/ttlAnnotation';

export type ExpiryDecision = Expiry | Exemption;

export interface Moment {
  readonly now: Instant;
  /** How far a finish time may lie in the future and still be trusted. */
  readonly tolerance: Millis;
  /** For objects whose status does not contain their finish time. */
  readonly sight?: FirstSight | undefined;
}

export function decideExpiry<T extends KubeObject>(
  finishable: Finishable<T>,
  object: T,
  { now, tolerance, sight }: Moment,
): ExpiryDecision {
  const ttl = ttlOf(finishable, object);
  const finish =
    object.metadata.deletionTimestamp === undefined
      ? finishable.finish(object, sight)
      : ({ kind: 'beingDeleted' } as const);
  const expiry = computeExpiry(finish, ttl, now, tolerance);
  const isIdle = expiry.kind === 'notApplicable' && expiry.because !== 'finish time unknown';
  return isIdle ? expiry : (finishable.exempt?.(object) ?? expiry);
}

/** Whether the object counts as added to the queue, as defined by the KEP. */
export const isFinishedWithTtl = <T extends KubeObject>(finishable: Finishable<T>, object: T): boolean =>
  finishable.ttl(object).kind === 'after' && finishable.finish(object).kind !== 'unfinished';

/** A duration in the annotation is for policies and ignored here. An unreadable value may be an opt-out: keep. */
function ttlOf<T extends KubeObject>(finishable: Finishable<T>, object: T): Ttl {
  const own = readTtlAnnotation(object.metadata);
  if (own?.kind === 'never') return own;
  const ttl = finishable.ttl(object);
  return own?.kind === 'invalid' && ttl.kind === 'after' ? own : ttl;
}

/** A warning Event for this object. Emitted at most once per object and process. */
export interface Notice {
  readonly reason: string;
  readonly note: string;
  /** The label of `lapse_ttl_skipped_total`. */
  readonly because: string;
}

export function computeNotice(decision: ExpiryDecision): Notice | undefined {
  if (decision.kind === 'exempt') return decision;
  if (decision.kind === 'notApplicable') {
    const { because, note = because } = decision;
    if (because === 'invalid TTL') return { reason: 'InvalidTTL', note, because };
    if (because === 'finish time unknown') return { reason: 'FinishTimeUnknown', note, because };
    return undefined;
  }
  if (decision.kind === 'expired' || decision.ahead <= MAX_UNREPORTED_AHEAD) return undefined;
  const held = decision.kind === 'held' ? 'too far ahead, not trusted yet' : 'the TTL counts from there';
  const note = `finished ${(decision.ahead / 1000).toFixed(0)} s in the future, ${held}; do the clocks agree?`;
  return { reason: 'FinishInFuture', note, because: 'finish in the future' };
}
