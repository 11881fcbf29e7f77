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

/** Steps smaller than this are the ordinary corrections of a time daemon. */
const SET_BACK = 1000;
const LOOK_EVERY = 15_000;

/** Calls `fn` when the wall clock was set back by more than a second. Clocks other than the real one are never set. */
export function onSetBack(clock: Clock, fn: () => void): Cancel {
  if (clock !== realClock) return () => {};
  const offset = () => clock.now() - clock.elapsed();
  let before = offset();
  const timer = setInterval(() => {
    const now = offset();
    if (now < before - SET_BACK) fn();
    before = now;
  }, LOOK_EVERY);
  timer.unref();
  return () => clearInterval(timer);
}
