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

const IDLE_TURNS = 2;
const NO_PROGRESS_TURNS = 20;
const MAX_TURNS = 200_000;

/** Waits until idle. Throws after `maxTurns` turns, because some counted work never ends. */
export async function settle(probe: ActivityProbe, maxTurns = MAX_TURNS): Promise<void> {
  let idleTurns = 0;
  let noProgressTurns = 0;
  let seen = -1;
  for (let turns = 0; turns < maxTurns; turns++) {
    await nextTurn();
    const activities = probe.activities();
    const delivered = probe.undelivered() === 0;
    idleTurns = delivered && activities.every(isIdle) ? idleTurns + 1 : 0;
    if (idleTurns >= IDLE_TURNS) return;
    const progress = probe.progress();
    noProgressTurns = delivered && progress === seen && activities.every(isWaiting) ? noProgressTurns + 1 : 0;
    seen = progress;
    if (noProgressTurns >= NO_PROGRESS_TURNS) return;
  }
  throw new Error(`never idle: ${JSON.stringify(probe.activities())}, ${probe.undelivered()} undelivered`);
}

/** Only reconciles and Events that wait for time are left. Ready keys behind them have no free worker. */
const isWaiting = (activity: Activity): boolean =>
  isIdle({ ...activity, ready: 0, reconciles: 0, events: 0 });
