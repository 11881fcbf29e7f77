import { type Instant, millis, minutes, plus, seconds } from '@lapse/base/instant';
import { VirtualClock } from '@lapse/base/virtualClock';
import { expect, test } from 'vitest';
import type { KeyId } from './interner.ts';
import { Timers } from './timers.ts';

const id = (n: number) => n as KeyId;

function setup() {
  const clock = new VirtualClock();
  let armed = 0;
  const counting = {
    now: () => clock.now(),
    elapsed: () => clock.elapsed(),
    wakeAt: (at: Instant, fn: () => void) => {
      armed++;
      const cancel = clock.wakeAt(at, () => {
        armed--;
        fn();
      });
      return () => {
        armed--;
        cancel();
      };
    },
  };
  const start = clock.now();
  const at = (length: number) => plus(start, millis(length));
  const due: string[] = [];
  const timers = new Timers(counting);
  const lane = (name: string) => timers.lane((key) => due.push(`${clock.now() - start} ${name}${key}`));
  return { clock, timers, due, at, lane, armed: () => armed };
}

test('delivers each key once, at its deadline, in deadline order across lanes', async () => {
  const { clock, due, at, lane } = setup();
  const a = lane('a');
  const b = lane('b');
  a.setEarlier(id(1), at(300));
  b.setEarlier(id(1), at(100));
  a.setEarlier(id(2), at(200));
  await clock.advance(minutes(1));
  expect(due).toEqual(['100 b1', '200 a2', '300 a1']);
  expect(clock.next()).toBeUndefined();
});

test('uses the earliest of several deadlines of a key', async () => {
  const { clock, due, at, lane } = setup();
  const a = lane('a');
  a.setEarlier(id(1), at(300));
  a.setEarlier(id(1), at(100));
  a.setEarlier(id(1), at(200));
  expect(a.get(id(1))).toBe(at(100));
  await clock.advance(minutes(1));
  expect(due).toEqual(['100 a1']);
});

test('arms a single timer for any number of deadlines', async () => {
  const { timers, at, lane, armed } = setup();
  const lanes = [lane('a'), lane('b'), lane('c')];
  for (let i = 0; i < 1000; i++) lanes[i % 3]!.setEarlier(id(i), at(10_000 - i));
  expect(armed()).toBe(1);
  expect(timers.pending).toBe(1000);
});

test('does not deliver a deleted deadline', async () => {
  const { clock, due, at, lane } = setup();
  const a = lane('a');
  a.setEarlier(id(1), at(100));
  a.setEarlier(id(2), at(200));
  expect([a.delete(id(1)), a.delete(id(1))]).toEqual([true, false]);
  await clock.advance(minutes(1));
  expect(due).toEqual(['200 a2']);
});

test('keeps the deadlines of a paused lane and delivers them in order after resume', async () => {
  const { clock, due, at, lane } = setup();
  const a = lane('a');
  const b = lane('b');
  a.pause();
  a.setEarlier(id(1), at(200));
  a.setEarlier(id(2), at(100));
  b.setEarlier(id(3), at(150));
  await clock.advance(seconds(1));
  expect(due).toEqual(['150 b3']);
  a.resume();
  await clock.advance(seconds(1));
  expect(due).toEqual(['150 b3', '1000 a2', '1000 a1']);
});

test('delivers nothing to a closed lane', async () => {
  const { clock, due, at, lane } = setup();
  const a = lane('a');
  a.setEarlier(id(1), at(100));
  a.close();
  await clock.advance(seconds(1));
  expect(due).toEqual([]);
});

test('delivers deadlines that are set during a delivery, even for the same instant', async () => {
  const { clock, at } = setup();
  const timers = new Timers(clock);
  const due: number[] = [];
  const lane = timers.lane((key) => {
    due.push(key);
    if (key < 5) lane.setEarlier(id(key + 1), at(100));
  });
  lane.setEarlier(id(1), at(100));
  await clock.advance(seconds(1));
  expect(due).toEqual([1, 2, 3, 4, 5]);
});

test('delivers many equal deadlines in batches and yields between them', async () => {
  const { clock, at } = setup();
  const timers = new Timers(clock);
  let count = 0;
  const batches: number[] = [];
  const lane = timers.lane(() => count++);
  for (let i = 0; i < 10_000; i++) lane.setEarlier(id(i), at(100));
  await clock.advance(seconds(1), async () => {
    batches.push(count);
  });
  expect(count).toBe(10_000);
  expect(batches).toEqual([0, 4096, 8192, 10_000]);
});

test('delivers nothing early when the timer fires before the clock reaches the deadline', async () => {
  const { clock } = setup();
  let early = () => {};
  const wakeAt = (_at: Instant, fn: () => void) => {
    early = fn;
    return () => {};
  };
  const timers = new Timers({ ...bind(clock), wakeAt });
  const due: number[] = [];
  timers.lane((key) => due.push(key)).setEarlier(id(1), plus(clock.now(), seconds(5)));
  early();
  expect(due).toEqual([]);
});

test('deliverAll delivers every key once and keeps deadlines that are set meanwhile', async () => {
  const { clock, at } = setup();
  const timers = new Timers(clock);
  const due: number[] = [];
  const lane = timers.lane((key) => {
    due.push(key);
    lane.setEarlier(key, at(9000));
  });
  const paused = timers.lane((key) => due.push(key));
  paused.pause();
  paused.setEarlier(id(7), at(1));
  lane.setEarlier(id(1), at(3_600_000));
  lane.setEarlier(id(2), at(100));
  timers.deliverAll();
  expect([due, lane.size, paused.size]).toEqual([[2, 1], 2, 1]);
});

const bind = (clock: VirtualClock) => ({ now: () => clock.now(), elapsed: () => clock.elapsed() });

test('arms and delivers nothing after close', async () => {
  const { clock, timers, due, at, lane, armed } = setup();
  lane('a').setEarlier(id(1), at(100));
  expect(armed()).toBe(1);
  timers.close();
  expect([armed(), timers.pending]).toEqual([0, 0]);
  await clock.advance(minutes(1));
  expect(due).toEqual([]);
});
