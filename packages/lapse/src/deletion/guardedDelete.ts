// Deleting one object that was decided to be deleted: one DELETE that carries the uid and the version the decision was
// made on. The API server is the judge: if anything changed since, it says so, and only then is the object read and the
// same decision asked again. Bounded rounds, so that one busy object does not keep a worker.

import { assertNever } from '@lapse/base/assertNever';
import type { Clock } from '@lapse/base/clock';
import { type Instant, isDue, type Millis, millis, minus, plus, seconds } from '@lapse/base/instant';
import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { DeleteAnswer } from '@lapse/kube/client/delete';
import type { Pass } from '@lapse/runtime/pass';
import { type Budget, claimAll } from './budget.ts';
import type { Deletion, HeldBecause } from './deletion.ts';
import type { DeletionMetrics } from './deletionMetrics.ts';
import { type DeletionTarget, dryKey, isDry, presenceOf, uidOf } from './deletionTarget.ts';
import { Remembered } from './remembered.ts';
import { type ClockVerdict, describeClock, type SkewGuard } from './skewGuard.ts';
import { isCutOff, isUnanswered, mayHaveActed, Unanswered } from './unanswered.ts';

export type { Decision, DeletionTarget } from './deletionTarget.ts';
export { mayHaveActed } from './unanswered.ts';

export interface GuardedDeletesOptions {
  readonly clock: Clock;
  readonly guard: SkewGuard;
  readonly metrics: DeletionMetrics;
  readonly budget?: Budget;
  /** Read and decide again before the first DELETE too. */
  readonly rereadFirst?: boolean;
  /** The object as it is now; by a GET unless told. */
  readonly read?: <T extends KubeObject>(
    client: Client,
    kind: Kind<T>,
    key: ObjectKey,
  ) => Promise<T | undefined>;
  /** `leave`: an object that changed is left to its next pass, on what the cache has by then. Never reads. */
  readonly onConflict?: 'reread' | 'leave';
}

const ROUNDS = 3;
/** Lost passes after which people are told. */
const CONTENDED_AFTER = 20;
const HOLD: Millis = seconds(30);
const MOST_REMEMBERED = 100_000;

/** What a round found out, when it is not the end. */
type Next<T extends KubeObject> = { readonly kind: 'next'; readonly object: T; readonly since: Instant };

export class GuardedDeletes {
  readonly #options: GuardedDeletesOptions;
  readonly #unanswered = new Unanswered(MOST_REMEMBERED);
  /** What a dry run has told already. */
  readonly #told = new Remembered(MOST_REMEMBERED);
  /** Why the clocks hold deletions, as last reported. */
  #holding: ClockVerdict['kind'] = 'good';

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

  /** Whether the clocks or a budget say: not now. */
  async #held<T extends KubeObject, V>(
    pass: Pass,
    target: DeletionTarget<T, V>,
  ): Promise<Deletion<V> | undefined> {
    const verdict = await this.#options.guard.check();
    if (verdict.kind !== 'good') return this.#hold(pass, target.object, verdict);
    this.#holding = 'good';
    if (isDry(pass, target)) return undefined;
    const claim = claimAll([target.budget, this.#options.budget], uidOf(target.object), pass.now);
    return claim.kind === 'go' ? undefined : { kind: 'held', until: claim.until, because: 'budget' };
  }

  /** Reported once per hold and cause, on the first object that meets it; the metrics show how long it lasts. */
  #hold(pass: Pass, object: KubeObject, verdict: Exclude<ClockVerdict, { kind: 'good' }>): Deletion<never> {
    const because: HeldBecause = verdict.kind === 'unknown' ? 'clock unknown' : 'clock skew';
    if (this.#holding !== verdict.kind) {
      this.#holding = verdict.kind;
      const note = describeClock(verdict, this.#options.guard.maxSkew)!;
      pass.event(object, { type: 'Warning', reason: 'DeletionHeld', action: 'Delete', note });
      pass.log.warn({ because: note }, 'deletions are held');
    }
    return { kind: 'held', until: plus(pass.now, HOLD), because };
  }

  async #attempt<T extends KubeObject, V>(pass: Pass, target: DeletionTarget<T, V>): Promise<Deletion<V>> {
    if (isDry(pass, target) && this.#told.has(dryKey(target)))
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
    // The last look at the clock: what is known about the server's may be newer than the pass.
    if (!isDue(at.since, this.#options.guard.now()))
      return { kind: 'held', until: at.since, because: 'clock ahead' };
    let answer: DeleteAnswer<T>;
    try {
      answer = await this.#send(pass, target, at.object);
    } catch (error) {
      if (mayHaveActed(error) && !isDry(pass, target)) this.#unanswered.add(at.object);
      if (isCutOff(error)) return this.#afterCutOff(pass, target, at, error);
      // The same request once more tells what became of it: its premise is its own guard.
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

  /** The lease was lost while the DELETE was under way: no second one is sent, and a read says what became of it. */
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
   * Nothing changed, so nobody was faster: the API server means something else, and asking again at once is no use. (It
   * never deletes in the background, by its version, what has no finalizers but those of the garbage collector.)
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

  /** The object as it is now, and the decision about it; `seen` is how it was known. */
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
    this.#told.add(dryKey(target));
    const note = `would have been deleted, ${(lag / 1000).toFixed(1)} s after its deadline (dry run)`;
    pass.event(object, { type: 'Normal', reason: 'WouldDelete', action: 'Delete', note });
    return { kind: 'wouldDelete', lag };
  }

  /** Not there any more: by our own unanswered request, or by somebody else. */
  #vanished(seen: KubeObject, since: Instant): Deletion<never> {
    return this.#unanswered.take(seen) ? { kind: 'deleted', lag: this.#lag(since) } : { kind: 'gone' };
  }

  #reportContended(pass: Pass, object: KubeObject): void {
    if (pass.losses + 1 !== CONTENDED_AFTER) return;
    this.#options.metrics.contended.inc();
    const note = `changed faster than it could be deleted, ${CONTENDED_AFTER} times in a row; still trying`;
    pass.event(object, { type: 'Warning', reason: 'DeletionContended', action: 'Delete', note });
  }

  /** A measurement, not a decision: taken when the deletion was accepted, in the time of decisions. */
  #lag(since: Instant): Millis {
    return millis(Math.max(0, minus(this.#options.guard.now(), since)));
  }
}
