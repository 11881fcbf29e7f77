// Lengths of time, as opposed to instants. A Clock wakes at wall-clock instants, which move away when the clock is set
// back; a pause of two seconds must stay a pause of two seconds.

import { type Cancel, type Clock, realClock } from './clock.ts';
import { type Millis, plus } from './instant.ts';

// Node fires timers beyond this at once.
const MAX_TIMER = 2 ** 31 - 1;

/** Calls `fn` once, `length` from now, however the wall clock is set meanwhile. */
export function wakeAfter(clock: Clock, length: Millis, fn: () => void): Cancel {
  if (clock !== realClock || length > MAX_TIMER) return clock.wakeAt(plus(clock.now(), length), fn);
  const timer = setTimeout(fn, Math.max(0, length));
  return () => clearTimeout(timer);
}
