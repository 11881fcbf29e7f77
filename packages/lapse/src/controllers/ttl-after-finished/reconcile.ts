// Reconciles one object of any kind that finishes: read, compute, act. The decisions are in compute.ts.

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import type { Instant, Millis } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { Pass } from '@lapse/runtime/pass';
import { BoundedSet } from '#deletion/boundedSet';
import { type Deletion, outcomeOf } from '#deletion/deletion';
import { type Basis, describeBasis } from '#deletion/expiry';
import type { Finishable } from '#deletion/finish/finishable';
import { type Decision, type GuardedDeletes, mayHaveActed } from '#deletion/guardedDelete';
import type { Reading } from '#deletion/monotonicMoment';
import type { SkewGuard } from '#deletion/skewGuard';
import { computeTerminating } from '#deletion/terminating';
import { computeNotice, computeVerdict, isCompetingDeletion, type Verdict } from './compute.ts';
import type { FinishableMetrics } from './metrics.ts';
import type { ObjectRecords } from './objectRecords.ts';
import { countUnanswered } from './unansweredDelete.ts';

export interface ReconcileOptions<T extends KubeObject> {
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly finishable: Finishable<T>;
  readonly guard: SkewGuard;
  readonly deletes: GuardedDeletes;
  readonly objectRecords: ObjectRecords;
  readonly metrics: FinishableMetrics;
  readonly propagation: Propagation;
  /** Emit an Event on every deleted object with the reason. */
  readonly deletionEvents: boolean;
}

interface Kept<T> {
  readonly live: T;
  readonly verdict: Verdict;
}
type Expired = Extract<Verdict, { kind: 'expired' }>;

/** A competing controller is logged after this many deletions at the deadline: a single one may be a user. */
const WARN_AFTER_DELETIONS = 3;
/** How many reports are remembered, to emit each of them once per object and process. */
const MOST_REPORTS = 100_000;

export function createReconcile<T extends KubeObject>(
  options: ReconcileOptions<T>,
): (pass: Pass) => Promise<Outcome> {
  const { clock, finishable, guard, deletes, objectRecords, metrics, propagation } = options;
  const { kind } = finishable;
  const reported = new BoundedSet(MOST_REPORTS);

  return async (pass) => {
    objectRecords.startActing();
    const object = pass.cache.get(kind, pass.key);
    if (object === undefined) return vanished(pass);
    // Lapse deleted the object, and it was recreated under the same name before the removal was seen.
    if (objectRecords.isOwnDeletion(pass.key) && !objectRecords.isOwnDeletion(pass.key, object.metadata.uid))
      vanished(pass);
    if (isBehindOurDelete(pass, object)) return settled();
    // Read once, like `now`: both are the same moment, also for a second decision after a conflict.
    const elapsed = clock.elapsed();
    return act(pass, object, evaluate(pass, object, { now: pass.now, elapsed }), elapsed);
  };

  function evaluate(pass: Pass, object: T, reading: Reading): Verdict {
    const sight = finishable.needsFirstSight?.(object)
      ? objectRecords.firstSight(pass.key, object.metadata.uid ?? '', reading)
      : undefined;
    return computeVerdict(finishable, object, { now: reading.now, tolerance: guard.maxSkew, sight });
  }

  function act(pass: Pass, object: T, verdict: Verdict, elapsed: Millis): Promise<Outcome> | Outcome {
    reportSkipped(pass, object, verdict);
    switch (verdict.kind) {
      case 'notApplicable':
        if (verdict.because === 'being deleted') return reconcileTerminating(pass, object);
        keep(pass);
        return settled();
      case 'exempt':
        keep(pass);
        return settled();
      case 'waiting':
        keep(pass, verdict.until);
        return waitUntil(verdict.until, 'ttl');
      case 'held':
        keep(pass, verdict.until);
        return waitUntil(verdict.until, 'finish in the future');
      case 'expired':
        objectRecords.setDeadline(pass.key, verdict.since);
        return deleteExpired(pass, object, verdict, elapsed);
      default:
        return assertNever(verdict);
    }
  }

  /** The DELETE was accepted and counted, but the cache is behind. A watch event will follow: do nothing. */
  function isBehindOurDelete({ key }: Pass, { metadata }: T): boolean {
    if (metadata.deletionTimestamp !== undefined) return false;
    return objectRecords.isOwnDeletion(key, metadata.uid) && objectRecords.deadline(key) === undefined;
  }

  /** The object exists and is not due: an earlier DELETE did not take effect and can no longer take effect. */
  function keep(pass: Pass, until?: Instant): void {
    objectRecords.discardDeletion(pass.key);
    if (until === undefined) objectRecords.clearDeadline(pass.key);
    else objectRecords.setDeadline(pass.key, until);
  }

  async function deleteExpired(pass: Pass, object: T, expired: Expired, elapsed: Millis): Promise<Outcome> {
    const uid = object.metadata.uid ?? '';
    const decide = (live: T, now: Instant): Decision<Kept<T>> => {
      const verdict = evaluate(pass, live, { now, elapsed });
      if (verdict.kind !== 'expired') return { kind: 'keep', verdict: { live, verdict } };
      basis = verdict.because;
      return { kind: 'delete', since: verdict.since };
    };
    let basis: Basis = expired.because;
    const wasOwnDeletion = objectRecords.isOwnDeletion(pass.key, uid);
    objectRecords.recordDeletion(pass.key, uid);
    metrics.inUse.enter();
    let deletion: Deletion<Kept<T>> | undefined;
    try {
      deletion = await deletes.delete(pass, { kind, object, since: expired.since, decide, propagation });
    } catch (error) {
      // The DELETE may have taken effect: if the object is gone later, Lapse deleted it and not a competing controller.
      if ((pass.dryRun || !mayHaveActed(error)) && !wasOwnDeletion) objectRecords.discardDeletion(pass.key);
      throw error;
    } finally {
      metrics.inUse.leave();
    }
    if (deletion.kind === 'deleted' || deletion.kind === 'terminating')
      accepted(pass, object, deletion, basis);
    else if (!wasOwnDeletion) objectRecords.discardDeletion(pass.key);
    if (deletion.kind === 'wouldDelete' && isFirst(`${uid} would ${expired.since}`))
      metrics.deleted(pass.key.namespace ?? '', 'wouldDelete');
    if (deletion.kind === 'kept') return act(pass, deletion.verdict.live, deletion.verdict.verdict, elapsed);
    return outcomeOf(deletion, settled);
  }

  function accepted(
    pass: Pass,
    object: T,
    { kind: outcome, lag }: Extract<Deletion, { kind: 'deleted' | 'terminating' }>,
    basis: Basis,
  ): void {
    objectRecords.clearDeadline(pass.key);
    metrics.deleted(pass.key.namespace ?? '', outcome);
    pass.log.debug({ lagMs: lag, outcome }, 'deleted');
    if (!options.deletionEvents) return;
    const note = `${describeBasis(basis)}; deleted ${(lag / 1000).toFixed(1)} s after its deadline`;
    pass.event(object, { type: 'Normal', reason: 'Deleted', action: 'Delete', note });
  }

  /** The object is terminating. If Lapse deleted it, checks for stuck finalizers; otherwise a competitor may have. */
  function reconcileTerminating(pass: Pass, object: T): Outcome {
    if (!objectRecords.isOwnDeletion(pass.key, object.metadata.uid)) {
      countCompetingDeletion(pass);
      objectRecords.clearDeadline(pass.key);
      return settled();
    }
    countOwnDeletion(pass, 'terminating');
    const state = computeTerminating(object, pass.now);
    if (state.kind === 'wait') return waitUntil(state.until, 'terminating');
    reportOnce(pass, object, 'StuckTerminating', state.note);
    return settled();
  }

  function vanished(pass: Pass): Outcome {
    countOwnDeletion(pass, 'deleted');
    countCompetingDeletion(pass);
    objectRecords.forget(pass.key);
    return settled();
  }

  /** A DELETE without a clear answer took effect: counts it once, at the time when the result was seen. */
  function countOwnDeletion(pass: Pass, outcome: 'deleted' | 'terminating'): void {
    if (countUnanswered({ objectRecords, metrics }, pass.key, outcome, pass.now))
      pass.log.debug({ outcome }, 'deleted');
  }

  function countCompetingDeletion(pass: Pass): void {
    const deadline = objectRecords.deadline(pass.key);
    if (deadline === undefined || objectRecords.isOwnDeletion(pass.key)) return;
    if (!isCompetingDeletion(deadline, pass.now, pass.actingSince)) return;
    metrics.competing.inc();
    if (metrics.competing.value !== WARN_AFTER_DELETIONS) return;
    pass.log.warn(
      { kind: kind.kind, deletions: metrics.competing.value },
      'another controller deletes by the same TTLs, probably kube-controller-manager; disable its ttl-after-finished-controller. Dry run and extensions only apply to deletions by Lapse',
    );
  }

  function reportSkipped(pass: Pass, object: T, verdict: Verdict): void {
    const notice = computeNotice(verdict);
    if (notice === undefined) return;
    if (reportOnce(pass, object, notice.reason, notice.note)) metrics.skipped(notice.because);
  }

  /** Returns true if the Event is emitted now, false if it was emitted before. */
  function reportOnce(pass: Pass, object: T, reason: string, note: string): boolean {
    if (!isFirst(`${object.metadata.uid} ${reason}`)) return false;
    pass.event(object, { type: 'Warning', reason, action: 'Reconcile', note });
    return true;
  }

  function isFirst(what: string): boolean {
    if (reported.has(what)) return false;
    reported.add(what);
    return true;
  }
}
