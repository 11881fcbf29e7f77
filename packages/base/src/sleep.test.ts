import { expect, test } from 'vitest';
import { realClock } from './clock.ts';
import { hours, millis, plus, seconds } from './instant.ts';
import { sleep, sleepUntil } from './sleep.ts';
import { yieldEvery } from './turn.ts';
import { VirtualClock } from './virtualClock.ts';

test('resolves at its instant, not before', async () => {
  const clock = new VirtualClock();
  let over = false;
  const sleeping = sleep(clock, seconds(5)).then(() => {
    over = true;
  });
  await clock.advance(millis(4999));
  expect(over).toBe(false);
  await clock.advance(millis(1));
  await sleeping;
  expect(over).toBe(true);
});

test('an abort resolves the sleep immediately and cancels the timer', async () => {
  const clock = new VirtualClock();
  const stop = new AbortController();
  const sleeping = sleepUntil(clock, plus(clock.now(), seconds(5)), stop.signal);
  stop.abort();
  await sleeping;
  expect(clock.next()).toBeUndefined();
  await sleep(clock, seconds(5), stop.signal);
});

test('a finished sleep leaves no abort listener behind', async () => {
  const clock = new VirtualClock();
  let listeners = 0;
  const signal = {
    aborted: false,
    addEventListener: () => listeners++,
    removeEventListener: () => listeners--,
  } as unknown as AbortSignal;
  const sleeping = sleep(clock, seconds(1), signal);
  await clock.advance(seconds(1));
  await sleeping;
  expect(listeners).toBe(0);
});

test('a sleep on the real clock is measured by the monotonic clock', async () => {
  const start = realClock.elapsed();
  await sleep(realClock, millis(15));
  expect(realClock.elapsed() - start).toBeGreaterThanOrEqual(14);
  const stop = new AbortController();
  const long = sleep(realClock, hours(24), stop.signal);
  stop.abort();
  await long;
});

test('yieldEvery yields to the event loop every n-th call', () => {
  const breathe = yieldEvery(3);
  expect([1, 2, 3, 4, 5, 6].map(() => breathe() instanceof Promise)).toEqual([
    false,
    false,
    true,
    false,
    false,
    true,
  ]);
});
