import { nextTurn } from '@lapse/base/turn';
import type { Activity } from '@lapse/runtime/activity';
import { expect, test } from 'vitest';
import { type Stillness, settle } from './idle.ts';

const IDLE: Activity = { passes: 0, ready: 0, caches: 0, requests: 0, events: 0 };

/** A process that works for so many turns, and says so by one of its counters; everything moves meanwhile. */
function working(
  turns: number,
  busy: Partial<Activity>,
  undelivered = 0,
): Stillness & { left: () => number } {
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
  ['a pass', { passes: 1 }, 0],
  ['a key that could be taken', { ready: 1 }, 0],
  ['a cache with items in hand', { caches: 1 }, 0],
  ['a request', { requests: 1 }, 0],
  ['an Event', { events: 1 }, 0],
  ['a watch event that was not delivered', {}, 1],
])('%s is waited for, however many turns it takes', async (_what, busy, undelivered) => {
  const work = working(100, busy, undelivered);
  await settle(work);
  expect(work.left()).toBe(0);
});

test.each<[string, Partial<Activity>]>([
  ['a pass that waits for time', { passes: 2, ready: 7 }],
  ['an Event that waits for its retry', { events: 1 }],
])('%s keeps nobody, once nothing moves', async (_what, busy) => {
  await settle({ activities: () => [IDLE, { ...IDLE, ...busy }], undelivered: () => 0, progress: () => 5 });
});

test.each<[string, Partial<Activity>, number]>([
  ['a request', { requests: 1, passes: 1 }, 0],
  ['a cache', { caches: 1 }, 0],
  ['an undelivered event', {}, 1],
])('%s that never ends is an error, not idleness', async (_what, busy, undelivered) => {
  const forEver = {
    activities: () => [{ ...IDLE, ...busy }],
    undelivered: () => undelivered,
    progress: () => 5,
  };
  await expect(settle(forEver, 500)).rejects.toThrow('never idle');
});
