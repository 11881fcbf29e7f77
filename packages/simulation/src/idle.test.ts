import { nextTurn } from '@lapse/base/turn';
import type { Activity } from '@lapse/runtime/activity';
import { expect, test } from 'vitest';
import { type ActivityProbe, settle } from './idle.ts';

const IDLE: Activity = { reconciles: 0, ready: 0, caches: 0, requests: 0, events: 0 };

/** A process that is busy for a number of turns, as reported by one of its counters, with progress in each turn. */
function working(
  turns: number,
  busy: Partial<Activity>,
  undelivered = 0,
): ActivityProbe & { left: () => number } {
  let left = turns;
  void (async () => {
    for (; left > 0; left--) await nextTurn();
  })();
  return {
    left: () => left,
    activities: () => [left > 0 ? { ...IDLE, ...busy } : IDLE],
    undelivered: () => (left > 0 ? undelivered : 0),
    progress: () => -left,
  };
}

test.each<[string, Partial<Activity>, number]>([
  ['a running reconcile', { reconciles: 1 }, 0],
  ['a ready key', { ready: 1 }, 0],
  ['a cache with unapplied items', { caches: 1 }, 0],
  ['a request', { requests: 1 }, 0],
  ['an Event', { events: 1 }, 0],
  ['an undelivered watch event', {}, 1],
])('waits any number of turns for %s', async (_what, busy, undelivered) => {
  const work = working(100, busy, undelivered);
  await settle(work);
  expect(work.left()).toBe(0);
});

test.each<[string, Partial<Activity>]>([
  ['a reconcile that waits for time', { reconciles: 2, ready: 7 }],
  ['an Event that waits for its retry', { events: 1 }],
])('does not wait for %s without progress', async (_what, busy) => {
  await settle({ activities: () => [IDLE, { ...IDLE, ...busy }], undelivered: () => 0, progress: () => 5 });
});

test.each<[string, Partial<Activity>, number]>([
  ['a request', { requests: 1, reconciles: 1 }, 0],
  ['a cache', { caches: 1 }, 0],
  ['an undelivered event', {}, 1],
])('throws if %s never ends', async (_what, busy, undelivered) => {
  const forEver = {
    activities: () => [{ ...IDLE, ...busy }],
    undelivered: () => undelivered,
    progress: () => 5,
  };
  await expect(settle(forEver, 500)).rejects.toThrow('never idle');
});
