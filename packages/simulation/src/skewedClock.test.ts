import { millis, plus } from '@lapse/base/instant';
import { VirtualClock } from '@lapse/base/virtualClock';
import { expect, test } from 'vitest';
import { SkewedClock } from './skewedClock.ts';

const make = (offset = 0) => {
  const base = new VirtualClock();
  const clock = new SkewedClock(base, millis(offset));
  const woken: number[] = [];
  const start = base.now();
  const wake = (after: number) =>
    clock.wakeAt(plus(start, millis(after)), () => woken.push(base.now() - start));
  return { base, clock, woken, wake };
};

test('timers of a clock that is ahead fire early by the offset', async () => {
  const { base, woken, wake } = make(3000);
  wake(10_000);
  await base.advance(millis(20_000));
  expect(woken).toEqual([7000]);
});

test('due timers fire at once when the clock is set forward and later when it is set back', async () => {
  const { base, clock, woken, wake } = make();
  wake(10_000);
  wake(30_000);
  await base.advance(millis(1000));
  clock.set(millis(15_000));
  await base.advance(millis(0));
  expect(woken).toEqual([1000]);
  clock.set(millis(-5000));
  await base.advance(millis(60_000));
  expect(woken).toEqual([1000, 35_000]);
});

test('setting the wall clock does not change the monotonic clock', () => {
  const { base, clock } = make();
  clock.set(millis(-9000));
  expect(clock.elapsed()).toBe(base.elapsed());
  expect(clock.offset).toBe(-9000);
});

test('a cancelled timer does not fire after the clock was set', async () => {
  const { base, clock, woken, wake } = make();
  const cancel = wake(1000);
  cancel();
  clock.set(millis(5000));
  await base.advance(millis(5000));
  expect(woken).toEqual([]);
});

test('no timer fires after the clock is switched off', async () => {
  const { base, clock, woken, wake } = make();
  wake(1000);
  clock.switchOff();
  wake(2000);
  await base.advance(millis(5000));
  expect(woken).toEqual([]);
  expect(base.next()).toBeUndefined();
});
