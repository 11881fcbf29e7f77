// Reconciles one object of any kind that finishes: read, compute, act. The decisions are in compute.ts.

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import type { Instant, Millis } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { Pass } from '@lapse/runtime/pass';
import { outcomeOf } from '#deletion/deletion';
import type { Decision } from '#deletion/deletionTarget';
import type { Expirer } from '#deletion/expirer';
import type { Basis } from '#deletion/expiry';
import type { Finishable } from '#deletion/finish/finishable';
import type { Reading } from '#deletion/monotonicMoment';
import { objectId } from '#deletion/ownDeletions';
import type { SkewGuard } from '#deletion/skewGuard';
import { computeNotice, computeVerdict, type Verdict } from './compute.ts';
import type { FinishableMetrics } from './metrics.ts';
import type { ObjectRecords } from './objectRecords.ts';

export interface ReconcileOptions<T extends KubeObject> {
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly finishable: Finishable<T>;
  readonly guard: SkewGuard;
  readonly expirer: Expirer<Basis>;
  readonly objectRecords: ObjectRecords;
  readonly metrics: FinishableMetrics;
  readonly propagation: Propagation;
}

interface Kept<T> {
  readonly live: T;
  readonly verdict: Verdict;
}
type Expired = Extract<Verdict, { kind: 'expired' }>;

export function createReconcile<T extends KubeObject>(
  options: ReconcileOptions<T>,
): (pass: Pass) => Promise<Outcome> {
  const { clock, finishable, guard, expirer, objectRecords, metrics, propagation } = options;
  const { kind } = finishable;

  return async (pass) => {
    objectRecords.startActing();
    const object = pass.cache.get(kind, pass.key);
    const outcome = observe(pass, object);
    if (outcome !== undefined || object === undefined) return outcome ?? settled();
    // Read once, like `now`: both are the same moment, also for a second decision after a conflict.
    const elapsed = clock.elapsed();
    return act(pass, object, evaluate(pass, object, { now: pass.now, elapsed }), elapsed);
  };

  /** The outcome, if there is nothing to decide: the object is gone, terminating, or deleted by this process. */
  function observe(pass: Pass, object: T | undefined): Outcome | undefined {
    const { key } = pass;
    const deadline = objectRecords.deadline(key);
    const observed = expirer.observe(pass, { id: objectId(kind, key), kind, object, deadline });
    switch (observed.kind) {
      case 'alive':
        return undefined;
      case 'deleting':
        return settled();
      case 'terminating':
        objectRecords.clearDeadline(key);
        return observed.outcome;
      case 'gone':
        objectRecords.forget(key);
        return settled();
      default:
        return assertNever(observed);
    }
  }

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
        // After a conflict: another client deleted the object meanwhile.
        if (verdict.because === 'being deleted') return observe(pass, object) ?? settled();
        objectRecords.clearDeadline(pass.key);
        return settled();
      case 'exempt':
        objectRecords.clearDeadline(pass.key);
        return settled();
      case 'waiting':
        objectRecords.setDeadline(pass.key, verdict.until);
        return waitUntil(verdict.until, 'ttl');
      case 'held':
        objectRecords.setDeadline(pass.key, verdict.until);
        return waitUntil(verdict.until, 'finish in the future');
      case 'expired':
        objectRecords.setDeadline(pass.key, verdict.since);
        return deleteExpired(pass, object, verdict, elapsed);
      default:
        return assertNever(verdict);
    }
  }

  async function deleteExpired(
    pass: Pass,
    object: T,
    { since, because }: Expired,
    elapsed: Millis,
  ): Promise<Outcome> {
    const decide = (live: T, now: Instant): Decision<Kept<T>, Basis> => {
      const verdict = evaluate(pass, live, { now, elapsed });
      return verdict.kind === 'expired'
        ? { kind: 'delete', since: verdict.since, because: verdict.because }
        : { kind: 'keep', verdict: { live, verdict } };
    };
    metrics.inUse.enter();
    try {
      const deletion = await expirer.expire(pass, { kind, object, since, because, decide, propagation });
      if (deletion.kind !== 'kept') return outcomeOf(deletion, settled);
      const { live, verdict } = deletion.verdict;
      return await act(pass, live, verdict, elapsed);
    } finally {
      metrics.inUse.leave();
    }
  }

  function reportSkipped(pass: Pass, object: T, verdict: Verdict): void {
    const notice = computeNotice(verdict);
    if (notice !== undefined && expirer.reportOnce(pass, kind, object, notice))
      metrics.skipped(kind.kind, notice.because);
  }
}
