// A token bucket rate limiter: tokens are added at a steady rate, up to the burst size.

import { type Millis, millis } from './instant.ts';

export class TokenBucket {
  readonly #perMilli: number;
  readonly #burst: number;
  #tokens: number;
  #at: Millis;

  /** `now` is monotonic time (`clock.elapsed()`). The bucket starts full. */
  constructor(options: { perSecond: number; burst: number; now: Millis }) {
    this.#perMilli = options.perSecond / 1000;
    this.#burst = Math.max(1, options.burst);
    this.#tokens = this.#burst;
    this.#at = options.now;
  }

  /** Takes a token and returns 0, or returns the time until a token is available. */
  take(now: Millis): Millis {
    this.#tokens = Math.min(this.#burst, this.#tokens + (now - this.#at) * this.#perMilli);
    this.#at = now;
    // Sums of fractions can end up slightly below a whole number.
    if (this.#tokens >= 1 - 1e-9) {
      this.#tokens -= 1;
      return millis(0);
    }
    return millis((1 - this.#tokens) / this.#perMilli);
  }
}
