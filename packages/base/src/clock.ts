// The Clock interface and the only code that reads the real clock. All other code receives a Clock.

import { type Instant, instant, type Millis, millis } from './instant.ts';

export type Cancel = () => void;

export interface Clock {
  /** The wall clock. */
  now(): Instant;
  /** Monotonic milliseconds since an arbitrary start. For leases, round trips and measurements. */
  elapsed(): Millis;
  /** Calls `fn` once, at or after `at` by the wall clock. */
  wakeAt(at: Instant, fn: () => void): Cancel;
}

// Timers are monotonic: a longer timer would miss a clock step or a suspend, and Node fires timers beyond 24.8 days
// immediately.
const MAX_TIMER = 30_000;

export const realClock: Clock = {
  now: () => instant(Date.now()),
  elapsed: () => millis(performance.now()),
  wakeAt(at, fn) {
    let timer: NodeJS.Timeout;
    const leg = () => {
      const left = at - Date.now();
      if (left <= 0) fn();
      else timer = setTimeout(leg, Math.min(left, MAX_TIMER));
    };
    timer = setTimeout(leg, Math.max(0, Math.min(at - Date.now(), MAX_TIMER)));
    return () => clearTimeout(timer);
  },
};
