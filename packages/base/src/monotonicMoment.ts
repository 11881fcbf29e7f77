// A moment that is remembered on the monotonic clock. The time since then is the elapsed monotonic time, regardless of
// changes of the wall clock.

import { type Instant, type Millis, millis, minus, plus, seconds } from './instant.ts';

/** One moment on the wall clock and on the monotonic clock. */
export interface Reading {
  readonly now: Instant;
  /** Monotonic time. */
  readonly elapsed: Millis;
}

/** The two clocks are not read at exactly the same time: a difference below this does not change the instant. */
const SAME = seconds(1);

export class MonotonicMoment {
  readonly #elapsed: Millis;
  /** The last returned instant. */
  #at: Instant;

  constructor({ now, elapsed }: Reading) {
    this.#elapsed = elapsed;
    this.#at = now;
  }

  /** The moment as wall-clock time of this reading. */
  at({ now, elapsed }: Reading): Instant {
    const at = plus(now, millis(-Math.floor(elapsed - this.#elapsed)));
    const late = minus(this.#at, at);
    if (late < 0 || late >= SAME) this.#at = at;
    return this.#at;
  }
}
