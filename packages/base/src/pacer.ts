// A rate limiter with reservations: each caller gets its own time slot and the delay until then. With a token bucket, a
// thousand waiting callers would all retry at the same time.

import { type Millis, millis } from './instant.ts';

export class Pacer {
  readonly #interval: number;
  readonly #slack: number;
  /** Time of the next slot, without credit for idle time. */
  #next = Number.NEGATIVE_INFINITY;

  /** Up to `burst` callers pass immediately after an idle period. */
  constructor(options: { perSecond: number; burst: number }) {
    this.#interval = 1000 / options.perSecond;
    this.#slack = this.#interval * (Math.max(1, options.burst) - 1);
  }

  /** Reserves a slot and returns the delay from `now`, which is monotonic time (`clock.elapsed()`). */
  reserve(now: Millis): Millis {
    const at = Math.max(this.#next, now - this.#slack);
    this.#next = at + this.#interval;
    return millis(Math.max(0, at - now));
  }
}
