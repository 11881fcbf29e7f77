// Admits requests in FIFO order: limits how many are in flight, their rate, and pauses all of them on request of the
// server. The concurrency limit adapts: plus one after each full round of successes, half after an overload.

import type { Cancel, Clock } from '@lapse/base/clock';
import { type Instant, type Millis, plus } from '@lapse/base/instant';
import { TokenBucket } from '@lapse/base/tokenBucket';
import { abortError } from './transport.ts';

export interface GateOptions {
  readonly clock: Clock;
  readonly maxInFlight: number;
  /** Requests per second. Default: no rate limit. */
  readonly qps?: number;
  readonly burst?: number;
}

export interface GateState {
  readonly inFlight: number;
  readonly waiting: number;
  /** The current limit, between 1 and the configured one. */
  readonly limit: number;
  /** No request is admitted before this instant. */
  readonly heldUntil?: Instant;
}

/** The slot of an admitted request. The caller must release it with the outcome of the request. */
export interface RequestSlot {
  /** `good` lets the limit grow, `overload` shrinks it, `neutral` does not change it. */
  release(outcome: 'good' | 'overload' | 'neutral'): void;
}

interface Waiter {
  readonly admit: (slot: RequestSlot) => void;
  aborted: boolean;
}

const MIN_LIMIT = 1;

export class Gate {
  readonly #clock: Clock;
  readonly #max: number;
  readonly #bucket: TokenBucket | undefined;
  #limit: number;
  #inFlight = 0;
  #queue: Waiter[] = [];
  #head = 0;
  #waiting = 0;
  #heldUntil: Instant | undefined;
  #wake: Cancel | undefined;
  // Requests sent before the last decrease say nothing about the new limit.
  #epoch = 0;

  constructor(options: GateOptions) {
    const { clock, maxInFlight, qps, burst } = options;
    this.#clock = clock;
    this.#max = Math.max(MIN_LIMIT, maxInFlight);
    this.#limit = this.#max;
    if (qps !== undefined && qps > 0)
      this.#bucket = new TokenBucket({ perSecond: qps, burst: burst ?? qps, now: clock.elapsed() });
  }

  get state(): GateState {
    const held = this.#heldUntil;
    return {
      inFlight: this.#inFlight,
      waiting: this.#waiting,
      limit: Math.floor(this.#limit),
      ...(held === undefined || held <= this.#clock.now() ? {} : { heldUntil: held }),
    };
  }

  /** Waits for a slot. Rejects if `signal` is aborted first. */
  acquire(signal?: AbortSignal): Promise<RequestSlot> {
    if (signal?.aborted) return Promise.reject(abortError(signal, false));
    return new Promise((resolve, reject) => {
      const onAbort = () => {
        waiter.aborted = true;
        this.#waiting--;
        reject(abortError(signal, false));
      };
      const waiter: Waiter = {
        aborted: false,
        admit: (slot) => {
          signal?.removeEventListener('abort', onAbort);
          resolve(slot);
        },
      };
      signal?.addEventListener('abort', onAbort, { once: true });
      this.#queue.push(waiter);
      this.#waiting++;
      this.#pump();
    });
  }

  /** Pauses all requests. A shorter pause does not shorten a longer one. */
  hold(pause: Millis): void {
    const until = plus(this.#clock.now(), pause);
    if (this.#heldUntil === undefined || until > this.#heldUntil) this.#heldUntil = until;
  }

  #pump(): void {
    while (this.#waiting > 0 && this.#inFlight < Math.floor(this.#limit)) {
      const delay = this.#delay();
      if (delay > 0) {
        this.#wakeIn(delay);
        return;
      }
      this.#admit(this.#next());
    }
  }

  #delay(): number {
    const held = this.#heldUntil === undefined ? 0 : this.#heldUntil - this.#clock.now();
    if (held > 0) return held;
    this.#heldUntil = undefined;
    return this.#bucket?.take(this.#clock.elapsed()) ?? 0;
  }

  #wakeIn(delay: number): void {
    if (this.#wake !== undefined) return;
    this.#wake = this.#clock.wakeAt(plus(this.#clock.now(), delay as Millis), () => {
      this.#wake = undefined;
      this.#pump();
    });
  }

  /** The first waiter that was not aborted. Only called if one exists. */
  #next(): Waiter {
    let waiter = this.#queue[this.#head++]!;
    while (waiter.aborted) waiter = this.#queue[this.#head++]!;
    // Served entries are dropped in large batches, so that a long queue costs constant time per request.
    if (this.#head > 1024 && this.#head * 2 > this.#queue.length) {
      this.#queue = this.#queue.slice(this.#head);
      this.#head = 0;
    }
    return waiter;
  }

  #admit(waiter: Waiter): void {
    this.#waiting--;
    this.#inFlight++;
    const epoch = this.#epoch;
    let released = false;
    waiter.admit({
      release: (outcome) => {
        if (released) return;
        released = true;
        this.#inFlight--;
        if (outcome === 'good') this.#limit = Math.min(this.#max, this.#limit + 1 / this.#limit);
        if (outcome === 'overload' && epoch === this.#epoch) this.#shrink();
        this.#pump();
      },
    });
  }

  #shrink(): void {
    this.#limit = Math.max(MIN_LIMIT, this.#limit / 2);
    this.#epoch++;
  }
}
