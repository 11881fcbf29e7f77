// How many deletions there may be per second and per minute. In no window of that length are there more; whoever comes
// when the window is full is given a time of its own, so that ten thousand waiting keys do not all knock at once.

import type { Clock } from '#base/clock';
import { type Instant, type Millis, millis, minutes, plus, seconds } from '#base/instant';

export interface BudgetOptions {
  readonly clock: Clock;
  readonly perSecond?: number;
  readonly perMinute?: number;
}

export type Claim = { readonly kind: 'go' } | { readonly kind: 'wait'; readonly until: Instant };

export interface Budget {
  /** Asks for one deletion of the object `uid`. Told to wait, it asks again at that time; its place is kept. */
  claim(uid: string, now: Instant): Claim;
}

/** At most `most` in any window of `length`. Times are monotonic: setting the clock changes nothing. */
class Window {
  readonly #times: Float64Array;
  readonly #length: Millis;
  #next = 0;

  constructor(most: number, length: Millis) {
    this.#times = new Float64Array(most).fill(Number.NEGATIVE_INFINITY);
    this.#length = length;
  }

  /** The earliest time for one more. */
  earliest(): number {
    return this.#times[this.#next]! + this.#length;
  }

  take(at: number): void {
    this.#times[this.#next] = at;
    this.#next = (this.#next + 1) % this.#times.length;
  }
}

/** A place that nobody claimed for this long is given up. */
const FORGOTTEN = minutes(10);

function windowOf(name: string, most: number | undefined, length: Millis): Window[] {
  if (most === undefined) return [];
  if (!Number.isInteger(most) || most <= 0) throw new Error(`${name} must be a whole number above zero`);
  return [new Window(most, length)];
}

/** Without limits, a budget that always says go. */
export function createBudget({ clock, perSecond, perMinute }: BudgetOptions): Budget {
  const windows = [
    ...windowOf('perSecond', perSecond, seconds(1)),
    ...windowOf('perMinute', perMinute, minutes(1)),
  ];
  const places = new Map<string, number>();
  let last = Number.NEGATIVE_INFINITY;

  /** The next free place; places only move forward. */
  function reserve(elapsed: Millis): number {
    last = Math.max(elapsed, last, ...windows.map((window) => window.earliest()));
    for (const window of windows) window.take(last);
    return last;
  }

  function forget(elapsed: Millis): void {
    for (const [uid, at] of places) {
      if (elapsed - at < FORGOTTEN) return;
      places.delete(uid);
    }
  }

  return {
    claim(uid, now) {
      if (windows.length === 0) return { kind: 'go' };
      const elapsed = clock.elapsed();
      forget(elapsed);
      const at = places.get(uid) ?? reserve(elapsed);
      if (elapsed >= at) {
        places.delete(uid);
        return { kind: 'go' };
      }
      places.set(uid, at);
      return { kind: 'wait', until: plus(now, millis(at - elapsed)) };
    },
  };
}
