// Timers for durations, as opposed to instants. Clock.wakeAt uses the wall clock, so its timers are delayed when the
// clock is set back. A pause of two seconds must stay a pause of two seconds.

import { type Cancel, type Clock, realClock } from './clock.ts';
import { type Millis, plus } from './instant.ts';

// Node fires longer timers immediately.
const MAX_TIMER = 2 ** 31 - 1;

/** Calls `fn` once after `length`, independent of changes of the wall clock. */
export function wakeAfter(clock: Clock, length: Millis, fn: () => void): Cancel {
  if (clock !== realClock || length > MAX_TIMER) return clock.wakeAt(plus(clock.now(), length), fn);
  const timer = setTimeout(fn, Math.max(0, length));
  return () => clearTimeout(timer);
}

/** Smaller steps are ordinary corrections of a time daemon. */
const SET_BACK = 1000;
const CHECK_INTERVAL = 15_000;

/** Calls `fn` when the wall clock is set back by more than a second. Only the real clock can be set back. */
export function onSetBack(clock: Clock, fn: () => void): Cancel {
  if (clock !== realClock) return () => {};
  const offset = () => clock.now() - clock.elapsed();
  let before = offset();
  const timer = setInterval(() => {
    const now = offset();
    if (now < before - SET_BACK) fn();
    before = now;
  }, CHECK_INTERVAL);
  timer.unref();
  return () => clearInterval(timer);
}
