// The work queue of a controller. A key is in up to three states:
//   dirty       it needs a reconcile, which starts as soon as no worker processes the key
//   processing  a worker reconciles it; a key is never processed twice at the same time
//   waiting     it is reconciled at a later time; the earliest requested time wins
// Adding a dirty key has no effect, so any number of events leads to one reconcile. Taking a key drops its waiting time,
// because the reconcile decides again when the next one is due.

import type { Clock } from '@lapse/base/clock';
import { growToIndex } from '@lapse/base/growToIndex';
import { type Instant, isDue, type Millis, millis, plus } from '@lapse/base/instant';
import { Pacer } from '@lapse/base/pacer';
import type { Random } from '@lapse/base/random';
import type { Interner, KeyId } from './interner.ts';
import { type Priority, ReadyKeys } from './readyKeys.ts';
import { Reasons } from './reasons.ts';
import { computeContendedDelay, computeFailureDelay, RETRY_DEFAULTS, type RetryOptions } from './retry.ts';
import type { Lane, Timers } from './timers.ts';

export interface QueueObserver {
  added?(): void;
  retried?(): void;
  /** A worker took a key that waited this long in the queue. */
  taken?(waited: Millis): void;
  /** A worker finished a key after this long. */
  finished?(worked: Millis): void;
}

export interface QueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly timers: Timers;
  readonly interner: Interner;
  readonly retry?: RetryOptions;
  readonly observer?: QueueObserver;
  /** Called when another key becomes ready. */
  readonly onReady?: () => void;
}

export interface Taken {
  readonly id: KeyId;
  /** Why the key was added: for traces and explanations, never for decisions. */
  readonly reason: string;
  /** Consecutive failures and conflicts before this reconcile. */
  readonly failures: number;
  readonly losses: number;
}

const DIRTY = 1;
const PROCESSING = 2;
/** Dirty, with low priority. */
const LOW = 4;
/** Waiting after a conflict. Events do not shorten the wait, because they report the conflicting writes. */
const PENALTY = 8;
/** The queue holds the id in the interner: the key is dirty, processing or waiting. */
const HELD = 16;

const bytes = (length: number) => new Uint8Array(length);
const doubles = (length: number) => new Float64Array(length);

export class Queue {
  readonly #options: QueueOptions;
  readonly #clock: Clock;
  readonly #lane: Lane;
  readonly #pacer: Pacer;
  readonly #reasons = new Reasons();
  readonly #readyKeys: ReadyKeys;
  readonly #failures = new Map<KeyId, number>();
  readonly #losses = new Map<KeyId, number>();
  readonly #startedAt = new Map<KeyId, Millis>();
  // By id: state flags, reason code, and when it became dirty (monotonic).
  #state = bytes(1024);
  #why = bytes(1024);
  #addedAt = doubles(1024);
  #ready = 0;
  #open = true;

  constructor(options: QueueOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#lane = options.timers.lane((id) => this.#wake(id));
    const { perSecond = RETRY_DEFAULTS.perSecond, burst = RETRY_DEFAULTS.burst } = options.retry ?? {};
    this.#pacer = new Pacer({ perSecond, burst });
    this.#readyKeys = new ReadyKeys((id, priority) => this.#isReady(id, priority));
  }

  /** Keys that could be taken now. */
  get ready(): number {
    return this.#ready;
  }
  get processing(): number {
    return this.#startedAt.size;
  }
  get waiting(): number {
    return this.#lane.size;
  }
  /** When a waiting key becomes ready. */
  wakesAt(id: KeyId): Instant | undefined {
    return this.#lane.get(id);
  }
  /** How long each running reconcile has lasted. */
  *running(): Generator<Millis> {
    for (const startedAt of this.#startedAt.values()) yield millis(this.#clock.elapsed() - startedAt);
  }

  /** False in a replica that is not the leader. */
  get isOpen(): boolean {
    return this.#open;
  }

  /** While closed, the queue collects keys but none becomes due. The initial list is then taken in deadline order. */
  close(): void {
    this.#open = false;
    this.#lane.pause();
  }
  open(): void {
    this.#open = true;
    this.#lane.resume();
    if (this.#ready > 0) this.#options.onReady?.();
  }

  add(id: KeyId, reason: string, priority: Priority = 'normal'): void {
    const state = this.#stateOf(id);
    if ((state & DIRTY) !== 0) {
      if ((state & LOW) !== 0 && priority === 'normal') this.#raise(id, state);
      return;
    }
    if ((state & PENALTY) !== 0) return;
    this.#hold(id);
    this.#options.observer?.added?.();
    this.#state[id]! |= DIRTY | (priority === 'low' ? LOW : 0);
    this.#why[id] = this.#reasons.code(reason);
    this.#addedAt[id] = this.#clock.elapsed();
    if ((state & PROCESSING) === 0) this.#push(id, priority);
  }

  /** Schedules the key for `at`, unless an earlier time is scheduled. */
  addAt(id: KeyId, at: Instant, reason: string): void {
    if ((this.#stateOf(id) & PENALTY) !== 0) return;
    if (this.#open && isDue(at, this.#clock.now())) this.add(id, reason);
    else this.#wait(id, at, reason);
  }

  /** Schedules a retry after a failure, with exponential backoff per key and the overall rate limit. */
  addFailed(id: KeyId, cause: unknown, reason: string): void {
    const failures = (this.#failures.get(id) ?? 0) + 1;
    this.#failures.set(id, failures);
    this.#options.observer?.retried?.();
    const { retry = {}, random } = this.#options;
    const { delay, max } = computeFailureDelay(failures, cause, retry, random);
    const rateDelay = Math.min(this.#pacer.reserve(this.#clock.elapsed()), max);
    this.#wait(id, plus(this.#clock.now(), millis(Math.max(delay, rateDelay))), reason);
  }

  /** Schedules a retry after a conflict, outside the failure count and the rate limit. Events do not shorten the wait. */
  addContended(id: KeyId, reason: string): void {
    const losses = (this.#losses.get(id) ?? 0) + 1;
    this.#losses.set(id, losses);
    const { retry = {}, random } = this.#options;
    this.#wait(id, plus(this.#clock.now(), computeContendedDelay(losses, retry, random)), reason);
    this.#state[id]! |= PENALTY;
  }

  /** Resets the failure and conflict counts of the key. */
  forget(id: KeyId): void {
    this.#failures.delete(id);
    this.#losses.delete(id);
  }

  /** Removes the key and its failure count. Returns false, without a change, if a worker processes the key. */
  drop(id: KeyId): boolean {
    const state = this.#stateOf(id);
    if ((state & PROCESSING) !== 0) return false;
    if ((state & HELD) === 0) return true;
    this.#lane.delete(id);
    this.#release(id);
    if ((state & DIRTY) !== 0) this.#ready--;
    this.#readyKeys.tidy(this.#ready);
    return true;
  }

  /** Removes every key that no worker processes. */
  clear(): void {
    for (let id = 0; id < this.#state.length; id++) if (this.#state[id] !== 0) this.drop(id as KeyId);
  }

  take(): Taken | undefined {
    const id = this.#readyKeys.shift();
    if (id === undefined) return undefined;
    this.#ready--;
    const now = this.#clock.elapsed();
    this.#state[id] = PROCESSING | HELD;
    this.#lane.delete(id);
    this.#startedAt.set(id, now);
    this.#options.observer?.taken?.(millis(now - this.#addedAt[id]!));
    const reason = this.#reasons.text(this.#why[id]!);
    return { id, reason, failures: this.#failures.get(id) ?? 0, losses: this.#losses.get(id) ?? 0 };
  }

  /** Ends the processing of a key. The worker has scheduled its next reconcile, if any, before this call. */
  done(id: KeyId): void {
    let state = this.#stateOf(id);
    if ((state & PROCESSING) === 0)
      throw new Error('done() was called for a key that is not being processed');
    this.#options.observer?.finished?.(millis(this.#clock.elapsed() - this.#startedAt.get(id)!));
    this.#startedAt.delete(id);
    state &= ~PROCESSING;
    if ((state & PENALTY) !== 0) state &= ~(DIRTY | LOW);
    this.#state[id] = state;
    if ((state & DIRTY) !== 0) this.#push(id, (state & LOW) !== 0 ? 'low' : 'normal');
    else if (this.#lane.get(id) === undefined) this.#release(id);
  }

  #wait(id: KeyId, at: Instant, reason: string): void {
    this.#hold(id);
    const before = this.#lane.get(id);
    const dirty = (this.#stateOf(id) & DIRTY) !== 0;
    if (!dirty && (before === undefined || at < before)) this.#why[id] = this.#reasons.code(reason);
    this.#lane.setEarlier(id, at);
  }

  #wake(id: KeyId): void {
    this.#state[id]! &= ~PENALTY;
    this.add(id, this.#reasons.text(this.#why[id]!));
  }

  #raise(id: KeyId, state: number): void {
    this.#state[id] = state & ~LOW;
    // The stale entry among the low-priority keys is skipped when it is shifted.
    if ((state & PROCESSING) === 0) this.#readyKeys.push(id, 'normal');
  }

  #push(id: KeyId, priority: Priority): void {
    this.#ready++;
    this.#readyKeys.push(id, priority);
    this.#options.onReady?.();
  }

  #isReady(id: KeyId, priority: Priority): boolean {
    const state = this.#stateOf(id);
    return (state & (DIRTY | PROCESSING)) === DIRTY && ((state & LOW) !== 0) === (priority === 'low');
  }

  #stateOf(id: KeyId): number {
    return this.#state[id] ?? 0;
  }

  #hold(id: KeyId): void {
    if ((this.#stateOf(id) & HELD) !== 0) return;
    this.#state = growToIndex(this.#state, id, bytes);
    this.#why = growToIndex(this.#why, id, bytes);
    this.#addedAt = growToIndex(this.#addedAt, id, doubles);
    this.#state[id]! |= HELD;
    this.#options.interner.hold(id);
  }

  #release(id: KeyId): void {
    this.#state[id] = 0;
    this.forget(id);
    this.#options.interner.release(id);
  }
}
