// Detects when nothing can happen before time advances. It counts requests in flight, ready keys, running reconciles,
// caches with unapplied items, unsent Events and undelivered watch events. Other work is a chain of promises, which ends
// within one turn of the event loop.
//
// The exception are running reconciles and Events that wait for time: a fault delays their response, or they wait for a
// retry. They count as idle if there was no progress for some turns.

import { nextTurn } from '@lapse/base/turn';
import { type Activity, isIdle } from '@lapse/runtime/activity';

export interface ActivityProbe {
  /** The activities of all managers. */
  activities(): readonly Activity[];
  /** Number of watch events that the server has not delivered. */
  undelivered(): number;
  /** A counter that grows with any activity. */
  progress(): number;
}

const QUIET = 2;
const STUCK = 20;
const TOO_LONG = 200_000;

/** Waits until idle. Throws after `tooLong` turns, because some counted work never ends. */
export async function settle(probe: ActivityProbe, tooLong = TOO_LONG): Promise<void> {
  let quiet = 0;
  let stuck = 0;
  let seen = -1;
  for (let turns = 0; turns < tooLong; turns++) {
    await nextTurn();
    const activities = probe.activities();
    const delivered = probe.undelivered() === 0;
    quiet = delivered && activities.every(isIdle) ? quiet + 1 : 0;
    if (quiet >= QUIET) return;
    const progress = probe.progress();
    stuck = delivered && progress === seen && activities.every(isWaiting) ? stuck + 1 : 0;
    seen = progress;
    if (stuck >= STUCK) return;
  }
  throw new Error(`never idle: ${JSON.stringify(probe.activities())}, ${probe.undelivered()} undelivered`);
}

/** Only reconciles and Events that wait for time are left. Ready keys behind them have no free worker. */
const isWaiting = (activity: Activity): boolean => isIdle({ ...activity, ready: 0, passes: 0, events: 0 });
