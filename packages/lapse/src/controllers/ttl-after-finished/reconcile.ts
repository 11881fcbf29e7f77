// Reconciles one object of any kind that finishes: read, compute, act. The decisions are in compute.ts.

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import type { Instant, Millis } from '@lapse/base/instant';
import type { Reading } from '@lapse/base/monotonicMoment';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { type Decision, outcomeOf } from '#deletion/deletion';
import type { Expirer } from '#deletion/expirer';
import { objectId } from '#deletion/ownDeletions';
import type { SkewGuard } from '#deletion/skewGuard';
import type { Basis } from '#expiry/expiry';
import type { Finishable } from '#expiry/finishable';
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
): (ctx: ReconcileContext) => Promise<Outcome> {
  const { clock, finishable, guard, expirer, objectRecords, metrics, propagation } = options;
  const { kind } = finishable;

  return async (ctx) => {
    objectRecords.startActing();
    const object = ctx.cache.get(kind, ctx.key);
    const outcome = observe(ctx, object);
    if (outcome !== undefined || object === undefined) return outcome ?? settled();
    // Read once, like `now`: both are the same moment, also for a second decision after a conflict.
    const elapsed = clock.elapsed();
    return act(ctx, object, evaluate(ctx, object, { now: ctx.now, elapsed }), elapsed);
  };

  /** The outcome, if there is nothing to decide: the object is gone, terminating, or deleted by this process. */
  function observe(ctx: ReconcileContext, object: T | undefined): Outcome | undefined {
    const { key } = ctx;
    const deadline = objectRecords.deadline(key);
    const observed = expirer.observe(ctx, { id: objectId(kind, key), kind, object, deadline });
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

  function evaluate(ctx: ReconcileContext, object: T, reading: Reading): Verdict {
    const sight = finishable.needsFirstSight?.(object)
      ? objectRecords.firstSight(ctx.key, object.metadata.uid ?? '', reading)
      : undefined;
    return computeVerdict(finishable, object, { now: reading.now, tolerance: guard.maxSkew, sight });
  }

  function act(
    ctx: ReconcileContext,
    object: T,
    verdict: Verdict,
    elapsed: Millis,
  ): Promise<Outcome> | Outcome {
    reportSkipped(ctx, object, verdict);
    switch (verdict.kind) {
      case 'notApplicable':
        // After a conflict: another client deleted the object meanwhile.
        if (verdict.because === 'being deleted') return observe(ctx, object) ?? settled();
        objectRecords.clearDeadline(ctx.key);
        return settled();
      case 'exempt':
        objectRecords.clearDeadline(ctx.key);
        return settled();
      case 'waiting':
        objectRecords.setDeadline(ctx.key, verdict.until);
        return waitUntil(verdict.until, 'ttl');
      case 'held':
        objectRecords.setDeadline(ctx.key, verdict.until);
        return waitUntil(verdict.until, 'finish in the future');
      case 'expired':
        objectRecords.setDeadline(ctx.key, verdict.since);
        return deleteExpired(ctx, object, verdict, elapsed);
      default:
        return assertNever(verdict);
    }
  }

  async function deleteExpired(
    ctx: ReconcileContext,
    object: T,
    { since, because }: Expired,
    elapsed: Millis,
  ): Promise<Outcome> {
    const decide = (live: T, now: Instant): Decision<Kept<T>, Basis> => {
      const verdict = evaluate(ctx, live, { now, elapsed });
      return verdict.kind === 'expired'
        ? { kind: 'delete', since: verdict.since, because: verdict.because }
        : { kind: 'keep', verdict: { live, verdict } };
    };
    metrics.inUse.enter();
    try {
      const deletion = await expirer.expire(ctx, { kind, object, since, because, decide, propagation });
      if (deletion.kind !== 'kept') return outcomeOf(deletion, settled);
      const { live, verdict } = deletion.verdict;
      return await act(ctx, live, verdict, elapsed);
    } finally {
      metrics.inUse.leave();
    }
  }

  function reportSkipped(ctx: ReconcileContext, object: T, verdict: Verdict): void {
    const notice = computeNotice(verdict);
    if (notice !== undefined && expirer.reportOnce(ctx, kind, object, notice))
      metrics.skipped(kind.kind, notice.because);
  }
}
