// The deletion engine of a controller: what happens when the deadline of an object has passed. Start reading here.
//
//   expire          deletes an object at its deadline
//     guardedDelete.ts    holds, DELETE with uid and resourceVersion, after a 409 reads the object and decides again
//     deletionHold.ts     no deletion while the clocks differ (skewGuard.ts) or a rate limit is reached (budget.ts)
//     deletion.ts         the object to delete, the request and the possible results
//   expireRecorded  one DELETE of a decision that was recorded before
//   observe         compares what the cache shows with the deletions of this process (ownDeletions.ts): resolves DELETEs
//                   without an answer, reports stuck finalizers, recognizes a competing controller (competing.ts)
//
// deletionCounter.ts counts, logs and reports every accepted deletion once, in metrics.ts.

import { assertNever } from '@lapse/base/assertNever';
import { BoundedSet } from '@lapse/base/boundedSet';
import { type Instant, isDue, minutes, parseTime, plus, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import type { DeleteResult } from '@lapse/kube/client/delete';
import { type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { type CompetingOptions, countCompetingDeletion } from './competing.ts';
import { type Deletion, type DeletionTarget, type RecordedTarget, sendRecorded, uidOf } from './deletion.ts';
import { DeletionCounter, type DeletionCounterOptions, regarding } from './deletionCounter.ts';
import { GuardedDeletes, type GuardedDeletesOptions } from './guardedDelete.ts';
import { idOf, mayHaveActed, type OwnDeletions, type SentDelete } from './ownDeletions.ts';
import type { SkewGuard } from './skewGuard.ts';
import { refusesVersion, type SaveOptions, saveFirst } from './trash.ts';

export interface ExpirerOptions<Reason>
  extends GuardedDeletesOptions,
    DeletionCounterOptions<Reason>,
    Pick<SaveOptions<Reason>, 'origin'> {
  readonly guard: SkewGuard;
  /** Default: deletions by other clients are not counted. */
  readonly competing?: CompetingOptions;
}

/** The result of a DELETE of a recorded decision. */
export type RecordedDeletion =
  | { readonly kind: 'deleted' | 'terminating' | 'gone' }
  /** The object is in another version than the decision. */
  | { readonly kind: 'changed' }
  /** The object could not be saved, or it changed after it was saved. */
  | { readonly kind: 'held'; readonly until: Instant; readonly why?: string }
  /** An admission webhook or another rule of the cluster refused the deletion. */
  | { readonly kind: 'refused'; readonly error: ApiError };

/** An object as the cache shows it. */
export interface Seen {
  readonly kind: Kind;
  /** See `objectId`. */
  readonly id: string;
  /** Undefined only if the object is known not to exist. */
  readonly object: KubeObject | undefined;
  /** The last known deadline, to recognize a competing controller. */
  readonly deadline?: Instant | undefined;
}

/** What a reconcile has to do about an object. */
export type Observed =
  /** Decide. This process has not deleted the object, as far as known. */
  | { readonly kind: 'alive' }
  /** Nothing: a DELETE is in flight, or it was accepted and the cache is behind. A watch event will follow. */
  | { readonly kind: 'deleting' }
  /** Return the outcome. */
  | { readonly kind: 'terminating'; readonly outcome: Outcome }
  | { readonly kind: 'gone' };

/** A Warning Event about an object. */
export interface Report {
  /** Identifies the report: it is made once per object, cause and process. */
  readonly because: string;
  /** The reason of the Event. Without it, no Event is emitted. */
  readonly reason?: string;
  readonly note: string;
}

/** No other replica leads for this long after this one stopped: the lease duration minus the renew deadline. */
const NO_OTHER_LEADER = seconds(5);
/** When to save and delete an object again that changed in between. */
const CHANGED_RETRY = seconds(1);
const MOST_REPORTS = 100_000;

export class Expirer<Reason> {
  readonly #options: ExpirerOptions<Reason>;
  readonly #own: OwnDeletions<Reason>;
  readonly #counter: DeletionCounter<Reason>;
  readonly #deletes: GuardedDeletes<Reason>;
  /** Uids with a DELETE in flight: several queues may contain the same object. */
  readonly #inFlight = new Set<string>();
  readonly #reported = new BoundedSet(MOST_REPORTS);
  #pausedAt = Number.NEGATIVE_INFINITY;

  constructor(options: ExpirerOptions<Reason>) {
    this.#options = options;
    this.#counter = new DeletionCounter(options);
    this.#own = this.#counter.own;
    this.#deletes = new GuardedDeletes(options, this.#counter);
  }

  /** Deletes the object if it is still due. Throws if the API server does not answer. */
  async expire<T extends KubeObject, KeptBecause>(
    ctx: ReconcileContext,
    target: DeletionTarget<T, KeptBecause, Reason>,
  ): Promise<Deletion<KeptBecause>> {
    const uid = uidOf(target.object);
    this.#inFlight.add(uid);
    try {
      return await this.#deletes.delete(ctx, target);
    } finally {
      this.#inFlight.delete(uid);
    }
  }

  /**
   * Carries out a decision that was recorded first: one DELETE, which is remembered and counted like every other. The
   * caller holds it if necessary, and decides again if the object changed. Throws if the API server does not answer; it
   * is not repeated here, because the caller checks before every DELETE whether the decision still holds.
   */
  async expireRecorded(ctx: ReconcileContext, target: RecordedTarget<Reason>): Promise<RecordedDeletion> {
    const saved = await saveFirst(this.#options, ctx, target);
    switch (saved.kind) {
      case 'notSaved':
        return this.#sendRecorded(ctx, target);
      case 'saved':
        return this.#sendSaved(ctx, target, saved.object);
      case 'changed':
        return saved;
      case 'gone':
        return this.#recordedGone(ctx, target);
      case 'failed':
        return { kind: 'held', until: saved.until, why: saved.why };
      default:
        return assertNever(saved);
    }
  }

  /** Deletes exactly the saved version. A decision that holds for every version is repeated soon if it changed. */
  async #sendSaved(
    ctx: ReconcileContext,
    target: RecordedTarget<Reason>,
    { metadata }: KubeObject,
  ): Promise<RecordedDeletion> {
    const { object } = target;
    if (object.metadata.resourceVersion !== undefined || refusesVersion({ ...object, metadata }))
      return this.#sendRecorded(ctx, target);
    const { resourceVersion = '' } = metadata;
    const versioned = { ...object, metadata: { ...object.metadata, resourceVersion } };
    const deletion = await this.#sendRecorded(ctx, { ...target, object: versioned });
    return deletion.kind === 'changed' ? { kind: 'held', until: plus(ctx.now, CHANGED_RETRY) } : deletion;
  }

  async #sendRecorded(ctx: ReconcileContext, target: RecordedTarget<Reason>): Promise<RecordedDeletion> {
    let answer: DeleteResult<KubeObject>;
    try {
      answer = await sendRecorded(ctx, target);
    } catch (error) {
      if (mayHaveActed(error)) this.#own.addUnanswered(target);
      throw error;
    }
    switch (answer.kind) {
      case 'deleted':
      case 'terminating':
        this.#counter.accepted(ctx, { sent: target, outcome: answer.kind });
        return answer;
      case 'conflict':
        if (answer.by !== 'changed') return { kind: 'refused', error: answer.error };
        if (target.object.metadata.resourceVersion !== undefined) return { kind: 'changed' };
        break;
      case 'gone':
        break;
      default:
        return assertNever(answer);
    }
    return this.#recordedGone(ctx, target);
  }

  /** The object is gone, or another object has its name. */
  #recordedGone(ctx: ReconcileContext, target: RecordedTarget<Reason>): RecordedDeletion {
    return { kind: this.#counter.resolve(ctx, idOf(target), undefined)?.outcome ?? 'gone' };
  }

  /** Call it in every reconcile, before a decision. */
  observe(ctx: ReconcileContext, seen: Seen): Observed {
    const { id, object } = seen;
    this.#counter.resolve(ctx, id, object);
    if (object === undefined) {
      if (!this.#own.has(id)) this.#countCompeting(ctx, seen);
      this.#own.forget(id);
      return { kind: 'gone' };
    }
    const uid = uidOf(object);
    const isOwn = this.#own.has(id, uid);
    if (!isOwn) this.#own.forget(id);
    if (object.metadata.deletionTimestamp === undefined)
      return { kind: this.#inFlight.has(uid) || this.#own.isAccepted(id, uid) ? 'deleting' : 'alive' };
    if (isOwn) return { kind: 'terminating', outcome: this.#followTerminating(ctx, seen.kind, object) };
    this.#countCompeting(ctx, seen);
    return { kind: 'terminating', outcome: settled() };
  }

  /** The DELETE of this object without an answer, until its result is seen. */
  unanswered(id: string): SentDelete<Reason> | undefined {
    return this.#own.unanswered(id);
  }

  /** The state of the object cannot be read. */
  forget(id: string): void {
    this.#own.forget(id);
  }

  /** Whether this process deleted the object or may have deleted it. */
  isOwn(id: string, uid: string): boolean {
    return this.#own.has(id, uid);
  }

  /** Another replica may act from now on. */
  pause(): void {
    this.#pausedAt = this.#options.clock.elapsed();
  }

  /**
   * This replica acts. If another one may have led since `pause`, the result of a DELETE without an answer may be its
   * work, which it counted. Call it in every reconcile of a controller without `onStandbyChange`.
   */
  resume(): void {
    if (this.#options.clock.elapsed() - this.#pausedAt >= NO_OTHER_LEADER) this.#own.forgetUnanswered();
    this.#pausedAt = Number.POSITIVE_INFINITY;
  }

  /**
   * For `onStandbyChange`: counts the result of a DELETE that was in flight when the lease was lost. A removal that is
   * seen later may be the work of the next leader, which counts it.
   */
  observeOnStandby(id: string, object: KubeObject | undefined): void {
    const isBeforeNextLeader = this.#options.clock.elapsed() - this.#pausedAt < NO_OTHER_LEADER;
    if (isBeforeNextLeader) this.#counter.resolve(undefined, id, object);
    if (object === undefined) this.#own.forget(id);
  }

  /** Returns true if the report is made now, false if it was made before. */
  reportOnce(
    ctx: ReconcileContext,
    kind: Kind,
    object: KubeObject,
    { because, reason, note }: Report,
  ): boolean {
    const report = `${uidOf(object)} ${because}`;
    if (this.#reported.has(report)) return false;
    this.#reported.add(report);
    if (reason !== undefined)
      ctx.event(regarding(kind, object), { type: 'Warning', reason, action: 'Reconcile', note });
    return true;
  }

  #countCompeting(ctx: ReconcileContext, { deadline }: Seen): void {
    const { competing } = this.#options;
    if (competing !== undefined && deadline !== undefined) countCompetingDeletion(ctx, competing, deadline);
  }

  /** Checks for stuck finalizers. */
  #followTerminating(ctx: ReconcileContext, kind: Kind, object: KubeObject): Outcome {
    const state = computeTerminating(object, ctx.now);
    if (state.kind === 'wait') return waitUntil(state.until, 'terminating');
    const { note } = state;
    this.reportOnce(ctx, kind, object, { because: 'stuck terminating', reason: 'StuckTerminating', note });
    return settled();
  }
}

/** How long an object may terminate before it is reported. */
const STUCK_AFTER = minutes(10);

export type Terminating =
  | { readonly kind: 'wait'; readonly until: Instant }
  | { readonly kind: 'stuck'; readonly note: string };

/** Counts from the deletionTimestamp, which is the end of the grace period. */
export function computeTerminating({ metadata }: KubeObject, now: Instant): Terminating {
  const deletedAt = parseTime(metadata.deletionTimestamp ?? '');
  const until = plus(Number.isFinite(deletedAt) ? deletedAt : now, STUCK_AFTER);
  if (!isDue(until, now)) return { kind: 'wait', until };
  const { finalizers = [] } = metadata;
  const kept =
    finalizers.length === 0
      ? 'no finalizer in its metadata keeps it'
      : `kept by the finalizer ${finalizers.join(', ')}`;
  return {
    kind: 'stuck',
    note: `still terminating ${STUCK_AFTER / 60_000} minutes after it was deleted: ${kept}`,
  };
}
