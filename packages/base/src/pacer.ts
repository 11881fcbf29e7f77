// A rate limit that hands out appointments: each caller is told how long to wait, and its place is taken. Unlike a
// token bucket that only says "not yet", a thousand callers get a thousand different times.

import { type Millis, millis } from './instant.ts';

export class Pacer {
  readonly #interval: number;
  readonly #slack: number;
  /** When the next appointment would be if nobody had been quiet. */
  #next = Number.NEGATIVE_INFINITY;

  /** `burst` callers may come at once after a quiet time. */
  constructor(options: { perSecond: number; burst: number }) {
    this.#interval = 1000 / options.perSecond;
    this.#slack = this.#interval * (Math.max(1, options.burst) - 1);
  }

  /** How long to wait from `now`, which is monotonic time (`clock.elapsed()`). */
  reserve(now: Millis): Millis {
    const at = Math.max(this.#next, now - this.#slack);
    this.#next = at + this.#interval;
    return millis(Math.max(0, at - now));
  }
}
