// Reconciles one object of any kind that finishes: observe, decide (decide.ts), apply.

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import type { Instant, Millis } from '@lapse/base/instant';
import type { Reading } from '@lapse/base/monotonicMoment';
import { keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Propagation } from '@lapse/kube/client/delete';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { type Decision, outcomeOf } from '#deletion/deletion';
import type { Deleted } from '#deletion/deletionCounter';
import type { Expirer } from '#deletion/expirer';
import { objectId } from '#deletion/ownDeletions';
import type { SkewGuard } from '#deletion/skewGuard';
import { type Basis, deadlineOf } from '#expiry/expiry';
import type { Finishable } from '#expiry/finishable';
import { computeNotice, decideExpiry, type ExpiryDecision } from './decide.ts';
import type { FinishableMetrics } from './metrics.ts';
import type { ObjectRecords } from './objectRecords.ts';

export interface FinishedObjectsOptions<T extends KubeObject> {
  readonly clock: Pick<Clock, 'elapsed'>;
  readonly finishable: Finishable<T>;
  readonly guard: SkewGuard;
  readonly expirer: Expirer<Basis>;
  readonly records: ObjectRecords;
  readonly metrics: FinishableMetrics;
  readonly propagation: Propagation;
}

type Expired = Extract<ExpiryDecision, { kind: 'expired' }>;

export class FinishedObjects<T extends KubeObject> {
  readonly #options: FinishedObjectsOptions<T>;

  constructor(options: FinishedObjectsOptions<T>) {
    this.#options = options;
  }

  async reconcile(ctx: ReconcileContext): Promise<Outcome> {
    const { records, finishable, clock } = this.#options;
    records.startActing();
    const object = ctx.cache.get(finishable.kind, ctx.key);
    const outcome = this.#observe(ctx, object);
    if (outcome !== undefined || object === undefined) return outcome ?? settled();
    // Read once, like `now`: both are the same moment, also for a second decision after a conflict.
    const elapsed = clock.elapsed();
    return this.#apply(ctx, object, this.#decide(ctx, object, { now: ctx.now, elapsed }), elapsed);
  }

  /**
   * Objects of the initial list wait in timers: overdue ones in the order of their deadlines, others until theirs. From
   * here on they count as waiting. Objects that need a report are reconciled at once.
   */
  firstDeadline(object: T): Instant | undefined {
    const { records, finishable, guard, clock, expirer } = this.#options;
    const key = keyOf(object);
    const { uid = '' } = object.metadata;
    if (finishable.needsFirstSight?.(object))
      records.recordListed(key, uid, { now: guard.now(), elapsed: clock.elapsed() });
    const decision = decideExpiry(finishable, object, { now: guard.now(), tolerance: guard.maxSkew });
    if (decision.kind === 'exempt' || decision.kind === 'held') return undefined;
    if (decision.kind === 'waiting' && decision.ahead > 0) return undefined;
    const deadline = deadlineOf(decision);
    // This process deleted the object before it lost the lease: it was counted, or is counted when its removal is seen.
    const isOwn = expirer.isOwn(objectId(finishable.kind, key), uid);
    if (deadline !== undefined && !isOwn) records.setDeadline(key, deadline);
    return deadline;
  }

  countDeleted(deleted: Deleted<Basis>): void {
    const { records, metrics, finishable } = this.#options;
    if (deleted.outcome !== 'wouldDelete') records.clearDeadline(keyOf(deleted.object));
    metrics.deleted(finishable.kind.kind, deleted);
  }

  pause(): void {
    this.#options.records.stopActing();
    this.#options.expirer.pause();
  }

  observeOnStandby(key: ObjectKey, object: KubeObject | undefined): void {
    const { records, expirer, finishable } = this.#options;
    expirer.observeOnStandby(objectId(finishable.kind, key), object);
    if (object === undefined) records.forget(key);
  }

  /** The outcome, if there is nothing to decide: the object is gone, terminating, or deleted by this process. */
  #observe(ctx: ReconcileContext, object: T | undefined): Outcome | undefined {
    const { records, expirer, finishable } = this.#options;
    const { kind } = finishable;
    const { key } = ctx;
    const deadline = records.deadline(key);
    const observed = expirer.observe(ctx, { id: objectId(kind, key), kind, object, deadline });
    switch (observed.kind) {
      case 'alive':
        return undefined;
      case 'deleting':
        return settled();
      case 'terminating':
        records.clearDeadline(key);
        return observed.outcome;
      case 'gone':
        records.forget(key);
        return settled();
      default:
        return assertNever(observed);
    }
  }

  #decide({ key }: ReconcileContext, object: T, reading: Reading): ExpiryDecision {
    const { records, finishable, guard } = this.#options;
    const sight = finishable.needsFirstSight?.(object)
      ? records.firstSight(key, object.metadata.uid ?? '', reading)
      : undefined;
    return decideExpiry(finishable, object, { now: reading.now, tolerance: guard.maxSkew, sight });
  }

  #apply(
    ctx: ReconcileContext,
    object: T,
    decision: ExpiryDecision,
    elapsed: Millis,
  ): Promise<Outcome> | Outcome {
    const { records } = this.#options;
    this.#reportKept(ctx, object, decision);
    switch (decision.kind) {
      case 'notApplicable':
        // After a conflict: another client deleted the object meanwhile.
        if (decision.because === 'being deleted') return this.#observe(ctx, object) ?? settled();
        records.clearDeadline(ctx.key);
        return settled();
      case 'exempt':
        records.clearDeadline(ctx.key);
        return settled();
      case 'waiting':
      case 'held':
        records.setDeadline(ctx.key, decision.until);
        return waitUntil(decision.until, decision.kind === 'waiting' ? 'ttl' : 'finish in the future');
      case 'expired':
        records.setDeadline(ctx.key, decision.since);
        return this.#delete(ctx, object, decision, elapsed);
      default:
        return assertNever(decision);
    }
  }

  async #delete(
    ctx: ReconcileContext,
    object: T,
    { since, because }: Expired,
    elapsed: Millis,
  ): Promise<Outcome> {
    const { expirer, metrics, finishable, propagation } = this.#options;
    const { kind } = finishable;
    const decide = (live: T, now: Instant): Decision<{ live: T; decision: ExpiryDecision }, Basis> => {
      const decision = this.#decide(ctx, live, { now, elapsed });
      return decision.kind === 'expired'
        ? { kind: 'delete', since: decision.since, because: decision.because }
        : { kind: 'keep', because: { live, decision } };
    };
    metrics.inUse.enter();
    try {
      const deletion = await expirer.expire(ctx, { kind, object, since, because, decide, propagation });
      if (deletion.kind !== 'kept') return outcomeOf(deletion, settled);
      return await this.#apply(ctx, deletion.because.live, deletion.because.decision, elapsed);
    } finally {
      metrics.inUse.leave();
    }
  }

  /** Reports why an object with a TTL is kept, if a user should know. */
  #reportKept(ctx: ReconcileContext, object: T, decision: ExpiryDecision): void {
    const { expirer, metrics, finishable } = this.#options;
    const notice = computeNotice(decision);
    if (notice !== undefined && expirer.reportOnce(ctx, finishable.kind, object, notice))
      metrics.skipped(finishable.kind.kind, notice.because);
  }
}
