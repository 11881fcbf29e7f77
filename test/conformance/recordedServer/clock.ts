// A clock for replays that wait for no external event: when no promise can proceed, it jumps to the earliest timer.

import { type Clock, realClock } from '@lapse/base/clock';
import { type Instant, instant, millis } from '@lapse/base/instant';

export function jumpingClock(): Clock {
  let now = realClock.now();
  const timers = new Set<{ at: Instant; fn: () => void }>();
  let scheduled = false;
  const schedule = () => {
    if (scheduled || timers.size === 0) return;
    scheduled = true;
    setImmediate(jump);
  };
  const jump = () => {
    scheduled = false;
    const earliest = [...timers].reduce<{ at: Instant; fn: () => void } | undefined>(
      (best, t) => (best === undefined || t.at < best.at ? t : best),
      undefined,
    );
    if (earliest === undefined) return;
    timers.delete(earliest);
    now = instant(Math.max(now, earliest.at));
    earliest.fn();
    schedule();
  };
  return {
    now: () => now,
    elapsed: () => millis(now),
    wakeAt(at, fn) {
      const timer = { at, fn };
      timers.add(timer);
      schedule();
      return () => timers.delete(timer);
    },
  };
}
