// Deletes one object that a controller decided to delete. The DELETE carries the uid and the resourceVersion that the
// decision was made on. If the object changed since, the API server answers 409: the object is read and the decision is
// made again. The number of rounds is bounded, so that one busy object does not block a worker.

import { assertNever } from '@lapse/base/assertNever';
import { BoundedSet } from '@lapse/base/boundedSet';
import type { Clock } from '@lapse/base/clock';
import { type Instant, isDue, type Millis, millis, minus } from '@lapse/base/instant';
import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { DeleteResult } from '@lapse/kube/client/delete';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Budget } from './budget.ts';
import type { Deletion } from './deletion.ts';
import { DeletionCounter, regarding } from './deletionCounter.ts';
import { DeletionHold } from './deletionHold.ts';
import type { DeletionMetrics } from './deletionMetrics.ts';
import { type DeletionTarget, dryKey, isDry, presenceOf, sendDelete, uidOf } from './deletionTarget.ts';
import { idOf, type SentDelete } from './ownDeletions.ts';
import type { SkewGuard } from './skewGuard.ts';
import { isCutOff, isUnanswered, mayHaveActed } from './unanswered.ts';

export type { Decision, DeletionTarget } from './deletionTarget.ts';

export interface GuardedDeletesOptions {
  readonly clock: Clock;
  readonly guard: SkewGuard;
  readonly metrics: DeletionMetrics;
  readonly budget?: Budget;
  /** Read the object and decide again before the first DELETE, too. */
  readonly rereadFirst?: boolean;
  /** Reads the current object; default: a GET. */
  readonly read?: <T extends KubeObject>(
    client: Client,
    kind: Kind<T>,
    key: ObjectKey,
  ) => Promise<T | undefined>;
  /** `leave`: do not read a changed object; the next reconcile decides on the cached object. Default: `reread`. */
  readonly onConflict?: 'reread' | 'leave';
}

const ROUNDS = 3;
/** After this many contended reconciles in a row, an Event is emitted. */
const CONTENDED_AFTER = 20;
const MOST_REMEMBERED = 100_000;

/** The input of the next round. */
interface Next<T extends KubeObject, Reason> {
  readonly kind: 'next';
  readonly object: T;
  readonly since: Instant;
  readonly because: Reason;
}

export class GuardedDeletes<Reason = unknown> {
  readonly #options: GuardedDeletesOptions;
  readonly #counter: DeletionCounter<Reason>;
  /** Objects whose dry-run Event was emitted. */
  readonly #dryRunReported = new BoundedSet(MOST_REMEMBERED);
  readonly #hold: DeletionHold;

  constructor(options: GuardedDeletesOptions, counter?: DeletionCounter<Reason>) {
    this.#options = options;
    this.#hold = new DeletionHold(options);
    this.#counter = counter ?? new DeletionCounter({ ...options, remembersAccepted: false });
  }

  async delete<T extends KubeObject, Verdict>(
    ctx: ReconcileContext,
    target: DeletionTarget<T, Verdict, Reason>,
  ): Promise<Deletion<Verdict>> {
    const { metrics, clock } = this.#options;
    const uid = uidOf(target.object);
    if (!isDry(ctx, target)) metrics.due(uid, clock.now());
    const deletion = (await this.#hold.check(ctx, target)) ?? (await this.#attempt(ctx, target));
    // The counter counts accepted deletions.
    if (deletion.kind === 'deleted' || deletion.kind === 'terminating') return deletion;
    metrics.outcome(deletion.kind);
    switch (deletion.kind) {
      case 'gone':
      case 'kept':
        metrics.done(uid);
        break;
      case 'contended':
        this.#reportContended(ctx, target);
        break;
      case 'held':
        if (!isDry(ctx, target)) metrics.due(uid, deletion.until);
        break;
      case 'wouldDelete':
      case 'refused':
        break;
      default:
        assertNever(deletion);
    }
    return deletion;
  }

  async #attempt<T extends KubeObject, V>(
    ctx: ReconcileContext,
    target: DeletionTarget<T, V, Reason>,
  ): Promise<Deletion<V>> {
    if (isDry(ctx, target) && this.#dryRunReported.has(dryKey(target)))
      return { kind: 'wouldDelete', lag: this.#lag(target.since) };
    const { object, since, because } = target;
    let at: Next<T, Reason> = { kind: 'next', object, since, because: because as Reason };
    if (this.#options.rereadFirst === true) {
      const read = await this.#reread(ctx, target, at);
      if (read.kind !== 'next') return read;
      at = read;
    }
    for (let round = 1; round <= ROUNDS; round++) {
      const result = await this.#round(ctx, target, at, round === ROUNDS);
      if (result.kind !== 'next') return result;
      at = result;
    }
    return { kind: 'contended' };
  }

  async #round<T extends KubeObject, V>(
    ctx: ReconcileContext,
    target: DeletionTarget<T, V, Reason>,
    at: Next<T, Reason>,
    last: boolean,
  ): Promise<Deletion<V> | Next<T, Reason>> {
    // Checks the deadline again: the estimate of the API server's clock may be newer than `ctx.now`.
    if (!isDue(at.since, this.#options.guard.now()))
      return { kind: 'held', until: at.since, because: 'clock ahead' };
    let answer: DeleteResult<T>;
    try {
      answer = await sendDelete(ctx, target, at.object);
    } catch (error) {
      if (mayHaveActed(error) && !isDry(ctx, target)) this.#counter.own.addUnanswered(sentOf(target, at));
      if (isCutOff(error)) return this.#afterCutOff(ctx, target, at, error);
      // Its preconditions make the same request safe to repeat. The answer shows whether the first one took effect.
      if (last || !isUnanswered(error)) throw error;
      return at;
    }
    switch (answer.kind) {
      case 'deleted':
      case 'terminating':
        return this.#accepted(ctx, target, at, answer.kind);
      case 'gone':
        return this.#vanished(ctx, target, at);
      case 'conflict':
        if (answer.by !== 'changed') return { kind: 'refused', error: answer.error };
        this.#options.metrics.conflicts.inc();
        if (this.#options.onConflict === 'leave') return { kind: 'contended' };
        return this.#afterConflict(await this.#reread(ctx, target, at), at, answer.error);
      default:
        return assertNever(answer);
    }
  }

  /** The lease was lost during the DELETE. No second DELETE is sent; a GET shows whether the first one took effect. */
  async #afterCutOff<T extends KubeObject, V>(
    ctx: ReconcileContext,
    target: DeletionTarget<T, V, Reason>,
    at: Next<T, Reason>,
    error: unknown,
  ): Promise<Deletion<V>> {
    const found = await this.#reread(ctx, target, at).catch(() => undefined);
    if (found === undefined || found.kind === 'next') throw error;
    return found;
  }

  /**
   * If the object did not change, no other client caused the conflict, and an immediate retry cannot succeed. (The API
   * server always answers 409 to a background deletion with a resourceVersion if the object only has finalizers of the
   * garbage collector.)
   */
  #afterConflict<T extends KubeObject, V>(
    found: Deletion<V> | Next<T, Reason>,
    { object }: Next<T, Reason>,
    error: ApiError,
  ): Deletion<V> | Next<T, Reason> {
    if (found.kind !== 'next') return found;
    const isSame = found.object.metadata.resourceVersion === object.metadata.resourceVersion;
    return isSame ? { kind: 'refused', error } : found;
  }

  /** Reads the current object and decides again. `at`: the last known state. */
  async #reread<T extends KubeObject, V>(
    ctx: ReconcileContext,
    target: DeletionTarget<T, V, Reason>,
    at: Next<T, Reason>,
  ): Promise<Deletion<V> | Next<T, Reason>> {
    const { kind, client = ctx.client } = target;
    const { read } = this.#options;
    const key = keyOf(at.object);
    const live = await (read === undefined ? client.get(kind, key) : read(client, kind, key));
    if (live === undefined || uidOf(live) !== uidOf(at.object)) return this.#vanished(ctx, target, at);
    const resolved = this.#resolve(ctx, target, at, live);
    if (resolved !== undefined) return resolved;
    const decision = target.decide(live, ctx.now);
    if (decision.kind === 'keep') return { kind: 'kept', verdict: decision.verdict };
    const { since, because = at.because } = decision;
    return { kind: 'next', object: live, since, because };
  }

  #accepted<T extends KubeObject, V>(
    ctx: ReconcileContext,
    target: DeletionTarget<T, V, Reason>,
    at: Next<T, Reason>,
    outcome: 'deleted' | 'terminating',
  ): Deletion<V> {
    const sent = sentOf(target, at);
    if (!isDry(ctx, target)) {
      const lag = this.#counter.accepted(ctx, { sent, outcome }, presenceOf(ctx, target));
      return { kind: outcome, lag };
    }
    this.#dryRunReported.add(dryKey(target));
    return { kind: 'wouldDelete', lag: this.#counter.wouldDelete(ctx, sent) };
  }

  /** The object no longer exists: an unanswered DELETE of this process took effect, or another client deleted it. */
  #vanished<T extends KubeObject, V>(
    ctx: ReconcileContext,
    target: DeletionTarget<T, V, Reason>,
    at: Next<T, Reason>,
  ): Deletion<V> {
    return this.#resolve(ctx, target, at, undefined) ?? { kind: 'gone' };
  }

  /** The result of an earlier DELETE without an answer, if it took effect. `at` is the state before `live`. */
  #resolve<T extends KubeObject, V>(
    ctx: ReconcileContext,
    target: DeletionTarget<T, V, Reason>,
    at: Next<T, Reason>,
    live: T | undefined,
  ): Deletion<V> | undefined {
    for (const seen of [at.object, live]) {
      const resolved = this.#counter.resolve(ctx, idOf(sentOf(target, at)), seen, presenceOf(ctx, target));
      // The DELETE of an earlier object with the same name does not concern this one.
      if (resolved !== undefined && uidOf(resolved.sent.object) === uidOf(at.object))
        return { kind: resolved.outcome, lag: resolved.lag };
    }
    return undefined;
  }

  #reportContended<T extends KubeObject, V>(
    ctx: ReconcileContext,
    { kind, object }: DeletionTarget<T, V, Reason>,
  ): void {
    if (ctx.losses + 1 !== CONTENDED_AFTER) return;
    this.#options.metrics.contended.inc();
    const note = `changed faster than it could be deleted, ${CONTENDED_AFTER} times in a row; still trying`;
    ctx.event(regarding(kind, object), {
      type: 'Warning',
      reason: 'DeletionContended',
      action: 'Delete',
      note,
    });
  }

  /** Time from the deadline until now, by the clock that decisions use. */
  #lag(since: Instant): Millis {
    return millis(Math.max(0, minus(this.#options.guard.now(), since)));
  }
}

const sentOf = <T extends KubeObject, V, R>(
  { kind }: DeletionTarget<T, V, R>,
  { object, since, because }: Next<T, R>,
): SentDelete<R> => ({ kind: kind as Kind, object, since, because });
