// A rate limit that allows bursts: tokens drip in at a steady rate, up to a full bucket.

import { type Millis, millis } from './instant.ts';

export class TokenBucket {
  readonly #perMilli: number;
  readonly #burst: number;
  #tokens: number;
  #at: Millis;

  /** `now` is monotonic time (`clock.elapsed()`); the bucket starts full. */
  constructor(options: { perSecond: number; burst: number; now: Millis }) {
    this.#perMilli = options.perSecond / 1000;
    this.#burst = Math.max(1, options.burst);
    this.#tokens = this.#burst;
    this.#at = options.now;
  }

  /** 0 and a token taken, or how long until there will be one. */
  take(now: Millis): Millis {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMilli);
    this.#at = now;
    // Sums of fractions come out a hair below the whole.
    if (this.#tokens >= 1 - 1e-9) {
      this.#tokens -= 1;
      return millis(0);
    }
    return millis((1 - this.#tokens) / this.#perMilli);
  }
}
