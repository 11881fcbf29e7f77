// Deletes one object that a controller decided to delete. The DELETE carries the uid and the resourceVersion that the
// decision was made on. If the object changed since, the API server answers 409: the object is read and the decision is
// made again. The number of rounds is bounded, so that one busy object does not block a worker.

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import { type Instant, isDue, type Millis, millis, minus, plus, seconds } from '@lapse/base/instant';
import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { DeleteAnswer } from '@lapse/kube/client/delete';
import type { Pass } from '@lapse/runtime/pass';
import { BoundedSet } from './boundedSet.ts';
import { type Budget, claimAll } from './budget.ts';
import type { Deletion, HeldBecause } from './deletion.ts';
import type { DeletionMetrics } from './deletionMetrics.ts';
import { type DeletionTarget, dryKey, isDry, presenceOf, uidOf } from './deletionTarget.ts';
import { type ClockState, describeClock, type SkewGuard } from './skewGuard.ts';
import { isCutOff, isUnanswered, mayHaveActed, Unanswered } from './unanswered.ts';

export type { Decision, DeletionTarget } from './deletionTarget.ts';
export { mayHaveActed } from './unanswered.ts';

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
const HOLD: Millis = seconds(30);
const MOST_REMEMBERED = 100_000;

/** The input of the next round. */
type Next<T extends KubeObject> = { readonly kind: 'next'; readonly object: T; readonly since: Instant };

export class GuardedDeletes {
  readonly #options: GuardedDeletesOptions;
  readonly #unanswered = new Unanswered(MOST_REMEMBERED);
  /** Objects whose dry-run Event was emitted. */
  readonly #dryRunReported = new BoundedSet(MOST_REMEMBERED);
  /** The clock state that was reported last. */
  #holding: ClockState['kind'] = 'good';

  constructor(options: GuardedDeletesOptions) {
    this.#options = options;
  }

  async delete<T extends KubeObject, Verdict>(
    pass: Pass,
    target: DeletionTarget<T, Verdict>,
  ): Promise<Deletion<Verdict>> {
    const { metrics, clock } = this.#options;
    const uid = uidOf(target.object);
    if (!isDry(pass, target)) metrics.due(uid, clock.now());
    const deletion = (await this.#held(pass, target)) ?? (await this.#attempt(pass, target));
    metrics.outcome(deletion.kind);
    switch (deletion.kind) {
      case 'deleted':
        metrics.lag.observe(deletion.lag / 1000);
        metrics.done(uid);
        break;
      case 'terminating':
        metrics.lag.observe(deletion.lag / 1000);
        metrics.terminating(uid, presenceOf(pass, target));
        break;
      case 'gone':
      case 'kept':
        metrics.done(uid);
        break;
      case 'contended':
        this.#reportContended(pass, target.object);
        break;
      case 'held':
        if (!isDry(pass, target)) metrics.due(uid, deletion.until);
        break;
      case 'wouldDelete':
      case 'refused':
        break;
      default:
        assertNever(deletion);
    }
    return deletion;
  }

  /** Holds the deletion if the clocks are not trusted or a budget is exhausted; otherwise undefined. */
  async #held<T extends KubeObject, V>(
    pass: Pass,
    target: DeletionTarget<T, V>,
  ): Promise<Deletion<V> | undefined> {
    const clocks = await this.#options.guard.check();
    if (clocks.kind !== 'good') return this.#hold(pass, target.object, clocks);
    this.#holding = 'good';
    if (isDry(pass, target)) return undefined;
    const claim = claimAll([target.budget, this.#options.budget], uidOf(target.object), pass.now);
    return claim.kind === 'go' ? undefined : { kind: 'held', until: claim.until, because: 'budget' };
  }

  /** Reports once per hold and cause, on the first affected object. The metrics show how long the hold lasts. */
  #hold(pass: Pass, object: KubeObject, clocks: Exclude<ClockState, { kind: 'good' }>): Deletion<never> {
    const because: HeldBecause = clocks.kind === 'unknown' ? 'clock unknown' : 'clock skew';
    if (this.#holding !== clocks.kind) {
      this.#holding = clocks.kind;
      const note = describeClock(clocks, this.#options.guard.maxSkew)!;
      pass.event(object, { type: 'Warning', reason: 'DeletionHeld', action: 'Delete', note });
      pass.log.warn({ because: note }, 'deletions are held');
    }
    return { kind: 'held', until: plus(pass.now, HOLD), because };
  }

  async #attempt<T extends KubeObject, V>(pass: Pass, target: DeletionTarget<T, V>): Promise<Deletion<V>> {
    if (isDry(pass, target) && this.#dryRunReported.has(dryKey(target)))
      return { kind: 'wouldDelete', lag: this.#lag(target.since) };
    let { object, since } = target;
    if (this.#options.rereadFirst === true) {
      const read = await this.#reread(pass, target, object);
      if (read.kind !== 'next') return read;
      ({ object, since } = read);
    }
    for (let round = 1; round <= ROUNDS; round++) {
      const result = await this.#round(pass, target, { kind: 'next', object, since }, round === ROUNDS);
      if (result.kind !== 'next') return result;
      ({ object, since } = result);
    }
    return { kind: 'contended' };
  }

  async #round<T extends KubeObject, V>(
    pass: Pass,
    target: DeletionTarget<T, V>,
    at: Next<T>,
    last: boolean,
  ): Promise<Deletion<V> | Next<T>> {
    // Checks the deadline again: the estimate of the API server's clock may be newer than `pass.now`.
    if (!isDue(at.since, this.#options.guard.now()))
      return { kind: 'held', until: at.since, because: 'clock ahead' };
    let answer: DeleteAnswer<T>;
    try {
      answer = await this.#send(pass, target, at.object);
    } catch (error) {
      if (mayHaveActed(error) && !isDry(pass, target)) this.#unanswered.add(at.object);
      if (isCutOff(error)) return this.#afterCutOff(pass, target, at, error);
      // Its preconditions make the same request safe to repeat. The answer shows whether the first one took effect.
      if (last || !isUnanswered(error)) throw error;
      return at;
    }
    switch (answer.kind) {
      case 'deleted':
      case 'terminating':
        this.#unanswered.take(at.object);
        return this.#accepted(pass, target, at, answer.kind);
      case 'gone':
        return this.#vanished(at.object, at.since);
      case 'conflict':
        if (answer.by !== 'changed') return { kind: 'refused', error: answer.error };
        this.#options.metrics.conflicts.inc();
        if (this.#options.onConflict === 'leave') return { kind: 'contended' };
        return this.#afterConflict(await this.#reread(pass, target, at.object), at, answer.error);
      default:
        return assertNever(answer);
    }
  }

  /** The lease was lost during the DELETE. No second DELETE is sent; a GET shows whether the first one took effect. */
  async #afterCutOff<T extends KubeObject, V>(
    pass: Pass,
    target: DeletionTarget<T, V>,
    { object }: Next<T>,
    error: unknown,
  ): Promise<Deletion<V>> {
    const found = await this.#reread(pass, target, object).catch(() => undefined);
    if (found === undefined || found.kind === 'next') throw error;
    return found;
  }

  /**
   * If the object did not change, no other client caused the conflict, and an immediate retry cannot succeed. (The API
   * server always answers 409 to a background deletion with a resourceVersion if the object only has finalizers of the
   * garbage collector.)
   */
  #afterConflict<T extends KubeObject, V>(
    found: Deletion<V> | Next<T>,
    { object }: Next<T>,
    error: ApiError,
  ): Deletion<V> | Next<T> {
    if (found.kind !== 'next') return found;
    const isSame = found.object.metadata.resourceVersion === object.metadata.resourceVersion;
    return isSame ? { kind: 'refused', error } : found;
  }

  #send<T extends KubeObject, V>(
    pass: Pass,
    target: DeletionTarget<T, V>,
    object: T,
  ): Promise<DeleteAnswer<T>> {
    const { kind, propagation, gracePeriodSeconds, client = pass.client } = target;
    const { uid, resourceVersion } = object.metadata;
    if (!uid || !resourceVersion)
      throw new Error('an object without uid and resourceVersion cannot be deleted safely');
    return client.delete(kind, keyOf(object), {
      ifUid: uid,
      ifVersion: resourceVersion,
      ...(propagation === undefined ? {} : { propagation }),
      ...(gracePeriodSeconds === undefined ? {} : { gracePeriodSeconds }),
      ...(isDry(pass, target) ? { dryRun: true } : {}),
    });
  }

  /** Reads the current object and decides again. `seen`: the last known state. */
  async #reread<T extends KubeObject, V>(
    pass: Pass,
    target: DeletionTarget<T, V>,
    seen: T,
  ): Promise<Deletion<V> | Next<T>> {
    const { kind, client = pass.client } = target;
    const { read } = this.#options;
    const live = await (read === undefined ? client.get(kind, keyOf(seen)) : read(client, kind, keyOf(seen)));
    if (live === undefined || uidOf(live) !== uidOf(seen)) return this.#vanished(seen, target.since);
    if (live.metadata.deletionTimestamp !== undefined && this.#unanswered.take(seen))
      return { kind: 'terminating', lag: this.#lag(target.since) };
    const decision = target.decide(live, pass.now);
    return decision.kind === 'delete'
      ? { kind: 'next', object: live, since: decision.since }
      : { kind: 'kept', verdict: decision.verdict };
  }

  #accepted<T extends KubeObject, V>(
    pass: Pass,
    target: DeletionTarget<T, V>,
    { object, since }: Next<T>,
    kind: 'deleted' | 'terminating',
  ): Deletion<V> {
    const lag = this.#lag(since);
    if (!isDry(pass, target)) return { kind, lag };
    this.#dryRunReported.add(dryKey(target));
    const note = `would have been deleted, ${(lag / 1000).toFixed(1)} s after its deadline (dry run)`;
    pass.event(object, { type: 'Normal', reason: 'WouldDelete', action: 'Delete', note });
    return { kind: 'wouldDelete', lag };
  }

  /** The object no longer exists: an unanswered DELETE of this process took effect, or another client deleted it. */
  #vanished(seen: KubeObject, since: Instant): Deletion<never> {
    return this.#unanswered.take(seen) ? { kind: 'deleted', lag: this.#lag(since) } : { kind: 'gone' };
  }

  #reportContended(pass: Pass, object: KubeObject): void {
    if (pass.losses + 1 !== CONTENDED_AFTER) return;
    this.#options.metrics.contended.inc();
    const note = `changed faster than it could be deleted, ${CONTENDED_AFTER} times in a row; still trying`;
    pass.event(object, { type: 'Warning', reason: 'DeletionContended', action: 'Delete', note });
  }

  /** Time from the deadline until now, by the clock that decisions use. */
  #lag(since: Instant): Millis {
    return millis(Math.max(0, minus(this.#options.guard.now(), since)));
  }
}
