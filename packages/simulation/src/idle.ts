// Whether anything can still happen before time passes. It is counted, not guessed: requests in flight, keys a worker
// could take, passes under way, caches with items in hand, events not sent, watch events not delivered. Whatever is not
// counted is a chain of promises, and those end within one turn of the event loop.
//
// The one exception are passes (and Events) that wait for time themselves: a fault keeps their answer, or they were
// told to come back later: they are under way and cannot go on. They count as idle when nothing moved for some turns.

import { nextTurn } from '@lapse/base/turn';
import { type Activity, isIdle } from '@lapse/runtime/activity';

export interface Stillness {
  /** Of every manager. */
  activities(): readonly Activity[];
  /** Watch events that the server has not delivered. */
  undelivered(): number;
  /** Grows whenever something happens. */
  progress(): number;
}

const QUIET = 2;
const STUCK = 20;
const TOO_LONG = 200_000;

/** Gives up after so many turns: something is counted that never ends. */
export async function settle(still: Stillness, tooLong = TOO_LONG): Promise<void> {
  let quiet = 0;
  let stuck = 0;
  let seen = -1;
  for (let turns = 0; turns < tooLong; turns++) {
    await nextTurn();
    const activities = still.activities();
    const delivered = still.undelivered() === 0;
    quiet = delivered && activities.every(isIdle) ? quiet + 1 : 0;
    if (quiet >= QUIET) return;
    const progress = still.progress();
    stuck = delivered && progress === seen && activities.every(isWaiting) ? stuck + 1 : 0;
    seen = progress;
    if (stuck >= STUCK) return;
  }
  throw new Error(`never idle: ${JSON.stringify(still.activities())}, ${still.undelivered()} undelivered`);
}

/** Passes and Events are under way, and nobody works for them. Keys behind them have no worker. */
const isWaiting = (activity: Activity): boolean => isIdle({ ...activity, ready: 0, passes: 0, events: 0 });
