// Deletes one object that a controller decided to delete. The DELETE carries the uid and the resourceVersion that the
// decision was made on. If the object changed since, the API server answers 409: the object is read and the decision is
// made again. The number of rounds is bounded, so that one busy object does not block a worker.

import { assertNever } from '@lapse/base/assertNever';
import { BoundedSet } from '@lapse/base/boundedSet';
import type { Clock } from '@lapse/base/clock';
import { type Instant, isDue } from '@lapse/base/instant';
import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { DeleteResult } from '@lapse/kube/client/delete';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { Budget } from './budget.ts';
import {
  type Deletion,
  type DeletionTarget,
  dryKey,
  isDry,
  presenceOf,
  sendDelete,
  uidOf,
} from './deletion.ts';
import { DeletionCounter, emitEvent } from './deletionCounter.ts';
import { DeletionHold } from './deletionHold.ts';
import type { DeletionMetrics } from './metrics.ts';
import { idOf, isCutOff, isUnanswered, mayHaveActed, type SentDelete } from './ownDeletions.ts';
import type { SkewGuard } from './skewGuard.ts';
import { type SaveOptions, saveFirst, type Trash } from './trash.ts';

export type { Decision, DeletionTarget } from './deletion.ts';

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
  /** Saves objects before they are deleted, if the controller says where a deletion comes from. */
  readonly trash?: Trash | undefined;
}

const ROUNDS = 3;
/** After this many contended reconciles in a row, an Event is emitted. */
const CONTENDED_AFTER = 20;
const MOST_REMEMBERED = 100_000;

/** The state of one attempt: the object as last read, and the decision about it. */
interface Round<T extends KubeObject, V, Reason> {
  readonly kind: 'next';
  readonly ctx: ReconcileContext;
  readonly target: DeletionTarget<T, V, Reason>;
  readonly object: T;
  readonly since: Instant;
  readonly because: Reason;
  /** This version of the object is in the trash. */
  readonly isSaved?: boolean;
}
/** The result, or the next round. */
type Step<T extends KubeObject, V, Reason> = Deletion<V> | Round<T, V, Reason>;

export class GuardedDeletes<Reason = unknown> {
  readonly #options: GuardedDeletesOptions & Pick<SaveOptions<Reason>, 'origin'>;
  readonly #counter: DeletionCounter<Reason>;
  /** Objects whose dry-run Event was emitted. */
  readonly #dryRunReported = new BoundedSet(MOST_REMEMBERED);
  readonly #hold: DeletionHold;

  constructor(
    options: GuardedDeletesOptions & Pick<SaveOptions<Reason>, 'origin'>,
    counter?: DeletionCounter<Reason>,
  ) {
    this.#options = options;
    this.#hold = new DeletionHold(options);
    this.#counter = counter ?? new DeletionCounter({ ...options, remembersAccepted: false });
  }

  async delete<T extends KubeObject, V>(
    ctx: ReconcileContext,
    target: DeletionTarget<T, V, Reason>,
  ): Promise<Deletion<V>> {
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
      return { kind: 'wouldDelete', lag: this.#counter.lag(target) };
    const { object, since, because } = target;
    const first: Round<T, V, Reason> = {
      kind: 'next',
      ctx,
      target,
      object,
      since,
      because: because as Reason,
    };
    let step: Step<T, V, Reason> = this.#options.rereadFirst === true ? await this.#reread(first) : first;
    for (let round = 1; round <= ROUNDS && step.kind === 'next'; round++)
      step = await this.#round(step, round === ROUNDS);
    return step.kind === 'next' ? { kind: 'contended' } : step;
  }

  async #round<T extends KubeObject, V>(
    at: Round<T, V, Reason>,
    isLast: boolean,
  ): Promise<Step<T, V, Reason>> {
    const { ctx, target } = at;
    // Checks the deadline again: the estimate of the API server's clock may be newer than `ctx.now`.
    if (!isDue(at.since, this.#options.guard.now()))
      return { kind: 'held', until: at.since, because: 'clock ahead' };
    const unsaved = at.isSaved === true || isDry(ctx, target) ? undefined : await this.#save(at);
    return unsaved ?? this.#send(at, isLast);
  }

  async #send<T extends KubeObject, V>(
    at: Round<T, V, Reason>,
    isLast: boolean,
  ): Promise<Step<T, V, Reason>> {
    const { ctx, target } = at;
    let answer: DeleteResult<T>;
    try {
      answer = await sendDelete(ctx, target, at.object);
    } catch (error) {
      if (mayHaveActed(error) && !isDry(ctx, target)) this.#counter.own.addUnanswered(sentIn(at));
      if (isCutOff(error)) return this.#afterCutOff(at, error);
      // Its preconditions make the same request safe to repeat. The answer shows whether the first one took effect.
      if (isLast || !isUnanswered(error)) throw error;
      return { ...at, isSaved: true };
    }
    switch (answer.kind) {
      case 'deleted':
      case 'terminating':
        return this.#accepted(at, answer.kind);
      case 'gone':
        return this.#vanished(at);
      case 'conflict':
        if (answer.by !== 'changed') return { kind: 'refused', error: answer.error };
        this.#options.metrics.conflicts.inc();
        return this.#options.onConflict === 'leave'
          ? { kind: 'contended' }
          : this.#afterConflict(at, answer.error);
      default:
        return assertNever(answer);
    }
  }

  /** Saves the object before the DELETE. Returns undefined if the DELETE may be sent. */
  async #save<T extends KubeObject, V>(at: Round<T, V, Reason>): Promise<Step<T, V, Reason> | undefined> {
    const { ctx, target } = at;
    const { client = ctx.client, propagation, together } = target;
    const saved = await saveFirst(this.#options, ctx, {
      ...sentIn(at),
      client,
      ...(propagation === undefined ? {} : { propagation }),
      ...(together === undefined ? {} : { together }),
    });
    switch (saved.kind) {
      case 'saved':
      case 'notSaved':
        return undefined;
      case 'changed':
        return this.#reread(at);
      case 'gone':
        return this.#vanished(at);
      case 'failed':
        return { kind: 'held', until: saved.until, because: 'trash', why: saved.why };
      default:
        return assertNever(saved);
    }
  }

  /** The lease was lost during the DELETE. No second DELETE is sent; a GET shows whether the first one took effect. */
  async #afterCutOff<T extends KubeObject, V>(at: Round<T, V, Reason>, error: unknown): Promise<Deletion<V>> {
    const found = await this.#reread(at).catch(() => undefined);
    if (found === undefined || found.kind === 'next') throw error;
    return found;
  }

  /**
   * If the object did not change, no other client caused the conflict, and an immediate retry cannot succeed. (The API
   * server always answers 409 to a background deletion with a resourceVersion if the object only has finalizers of the
   * garbage collector.)
   */
  async #afterConflict<T extends KubeObject, V>(
    at: Round<T, V, Reason>,
    error: ApiError,
  ): Promise<Step<T, V, Reason>> {
    const found = await this.#reread(at);
    if (found.kind !== 'next') return found;
    const isSame = found.object.metadata.resourceVersion === at.object.metadata.resourceVersion;
    return isSame ? { kind: 'refused', error } : found;
  }

  /** Reads the current object and decides again. */
  async #reread<T extends KubeObject, V>(at: Round<T, V, Reason>): Promise<Step<T, V, Reason>> {
    const { ctx, target } = at;
    const { kind, client = ctx.client } = target;
    const { read } = this.#options;
    const key = keyOf(at.object);
    const live = await (read === undefined ? client.get(kind, key) : read(client, kind, key));
    if (live === undefined || uidOf(live) !== uidOf(at.object)) return this.#vanished(at);
    const resolved = this.#resolve(at, live);
    if (resolved !== undefined) return resolved;
    const decision = target.decide(live, ctx.now);
    if (decision.kind === 'keep') return { kind: 'kept', because: decision.because };
    const { since, because = at.because } = decision;
    return { ...at, object: live, since, because, isSaved: false };
  }

  #accepted<T extends KubeObject, V>(
    at: Round<T, V, Reason>,
    outcome: 'deleted' | 'terminating',
  ): Deletion<V> {
    const { ctx, target } = at;
    const sent = sentIn(at);
    if (!isDry(ctx, target))
      return { kind: outcome, lag: this.#counter.accepted(ctx, { sent, outcome }, presenceOf(ctx, target)) };
    this.#dryRunReported.add(dryKey(target));
    return { kind: 'wouldDelete', lag: this.#counter.wouldDelete(ctx, sent) };
  }

  /** The object no longer exists: an unanswered DELETE of this process took effect, or another client deleted it. */
  #vanished<T extends KubeObject, V>(at: Round<T, V, Reason>): Deletion<V> {
    return this.#resolve(at, undefined) ?? { kind: 'gone' };
  }

  /** The result of an earlier DELETE without an answer, if it took effect. `at` is the state before `live`. */
  #resolve<T extends KubeObject, V>(at: Round<T, V, Reason>, live: T | undefined): Deletion<V> | undefined {
    const { ctx, target } = at;
    for (const seen of [at.object, live]) {
      const resolved = this.#counter.resolve(ctx, idOf(sentIn(at)), seen, presenceOf(ctx, target));
      // The DELETE of an earlier object with the same name does not concern this one.
      if (resolved !== undefined && uidOf(resolved.sent.object) === uidOf(at.object))
        return { kind: resolved.outcome, lag: resolved.lag };
    }
    return undefined;
  }

  #reportContended(
    ctx: ReconcileContext,
    target: { readonly kind: Kind; readonly object: KubeObject },
  ): void {
    if (ctx.losses + 1 !== CONTENDED_AFTER) return;
    this.#options.metrics.contended.inc();
    const note = `changed faster than it could be deleted, ${CONTENDED_AFTER} times in a row; still trying`;
    emitEvent(ctx, target, 'Warning', 'DeletionContended', note);
  }
}

const sentIn = <T extends KubeObject, V, R>({
  target,
  object,
  since,
  because,
}: Round<T, V, R>): SentDelete<R> => ({
  kind: target.kind as Kind,
  object,
  since,
  because,
});
