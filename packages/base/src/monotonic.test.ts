import { afterEach, expect, test, vi } from 'vitest';
import { realClock } from './clock.ts';
import { millis } from './instant.ts';
import { onSetBack, wakeAfter } from './monotonic.ts';
import { VirtualClock } from './virtualClock.ts';

afterEach(() => {
  vi.useRealTimers();
});

test('a timer keeps its length when the wall clock is set back', () => {
  vi.useFakeTimers({ now: 1_000_000, toFake: ['setTimeout', 'clearTimeout', 'Date'] });
  let woken = 0;
  wakeAfter(realClock, millis(2000), () => woken++);
  wakeAfter(realClock, millis(2000), () => woken++)();
  vi.setSystemTime(0);
  vi.advanceTimersByTime(1999);
  expect(woken).toBe(0);
  vi.advanceTimersByTime(1);
  expect(woken).toBe(1);
});

test.each([
  ['an hour back', -3_600_000, 1],
  ['an hour forward', 3_600_000, 0],
  ['a small correction', -500, 0],
])('%s (%d ms): onSetBack fires %d times', (_how, by, expected) => {
  vi.useFakeTimers({ now: 10_000_000, toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] });
  let times = 0;
  const stop = onSetBack(realClock, () => times++);
  vi.advanceTimersByTime(30_000);
  vi.setSystemTime(Date.now() + by);
  vi.advanceTimersByTime(60_000);
  expect(times).toBe(expected);
  stop();
  vi.setSystemTime(0);
  vi.advanceTimersByTime(60_000);
  expect(times).toBe(expected);
});

test('onSetBack never fires for a virtual clock', () => {
  expect(() => onSetBack(new VirtualClock(), () => {})()).not.toThrow();
});
