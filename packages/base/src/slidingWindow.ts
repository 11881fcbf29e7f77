// A rate limit: at most some events in any window of a length.

import type { Millis } from './instant.ts';

/** Allows `most` events in any window of `length`. Times are monotonic, so clock changes have no effect. */
export class SlidingWindow {
  readonly #most: number;
  readonly #times: Float64Array;
  readonly #length: Millis;
  #next = 0;

  /** `capacity`: how many events are remembered. It exceeds `most` if the limit was higher before. */
  constructor(most: number, length: Millis, capacity = most) {
    this.#most = most;
    this.#times = new Float64Array(capacity).fill(Number.NEGATIVE_INFINITY);
    this.#length = length;
  }

  /** The earliest time of the next event. */
  earliest(): number {
    const { length } = this.#times;
    return this.#times[(this.#next + length - this.#most) % length]! + this.#length;
  }

  take(at: number): void {
    this.#times[this.#next] = at;
    this.#next = (this.#next + 1) % this.#times.length;
  }

  /** Copies the events of a window of the same size. */
  copy(other: SlidingWindow): void {
    this.#times.set(other.#times);
    this.#next = other.#next;
  }

  /** A window with another limit and the same recorded events. */
  resized(most: number): SlidingWindow {
    const other = new SlidingWindow(most, this.#length, Math.max(most, this.#times.length));
    for (let i = 0; i < this.#times.length; i++)
      other.take(this.#times[(this.#next + i) % this.#times.length]!);
    return other;
  }
}
