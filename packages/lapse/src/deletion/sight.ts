// A moment that was seen, remembered on the monotonic clock: so much time is over as has elapsed since, whatever the wall
// clock showed then or is set to later.

import { type Instant, type Millis, millis, minus, plus, seconds } from '@lapse/base/instant';

/** One moment on both clocks. */
export interface Reading {
  readonly now: Instant;
  /** Monotonic. */
  readonly elapsed: Millis;
}

/** Two clocks are never read at quite the same time: the instant stands while it is late by less than this. */
const SAME = seconds(1);

export class Sight {
  readonly #elapsed: Millis;
  /** As it was last answered. */
  #at: Instant;

  constructor({ now, elapsed }: Reading) {
    this.#elapsed = elapsed;
    this.#at = now;
  }

  /** The moment in the time of this reading. */
  at({ now, elapsed }: Reading): Instant {
    const at = plus(now, millis(-Math.floor(elapsed - this.#elapsed)));
    const late = minus(this.#at, at);
    if (late < 0 || late >= SAME) this.#at = at;
    return this.#at;
  }
}
