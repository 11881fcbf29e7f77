import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Instant, millis, plus } from './instant.ts';
import { VIRTUAL_START, VirtualClock } from './virtualClock.ts';

const at = (after: number): Instant => plus(VIRTUAL_START, millis(after));

test('timers fire in order of their instants, and in order of registration within one instant', async () => {
  const clock = new VirtualClock();
  const seen: string[] = [];
  const record = (name: string) => () => void seen.push(`${clock.elapsed()} ${name}`);
  clock.wakeAt(at(20), record('c'));
  clock.wakeAt(at(10), record('a'));
  clock.wakeAt(at(10), record('b'));
  clock.wakeAt(at(31), record('never'));
  await clock.advance(millis(30));
  expect(seen).toEqual(['10 a', '10 b', '20 c']);
  expect(clock.elapsed()).toBe(30);
  expect(clock.next()).toBe(at(31));
});

test('timers set during an advance fire in the same advance; timers in the past fire immediately', async () => {
  const clock = new VirtualClock();
  const seen: number[] = [];
  clock.wakeAt(at(10), () => {
    clock.wakeAt(at(5), () => void seen.push(clock.elapsed()));
    clock.wakeAt(at(15), () => void seen.push(clock.elapsed()));
  });
  await clock.advance(millis(20));
  expect(seen).toEqual([10, 15]);
});

test('`settle` runs before the first step and after each', async () => {
  const clock = new VirtualClock();
  const seen: number[] = [];
  clock.wakeAt(at(1), () => {});
  clock.wakeAt(at(2), () => {});
  await clock.advance(millis(5), async () => void seen.push(clock.elapsed()));
  expect(seen).toEqual([0, 1, 2]);
});

test('cancelling a timer twice, or after it fired, has no effect', async () => {
  const clock = new VirtualClock();
  let woken = 0;
  const first = clock.wakeAt(at(1), () => woken++);
  const second = clock.wakeAt(at(2), () => woken++);
  second();
  second();
  await clock.advance(millis(5));
  first();
  first();
  clock.wakeAt(at(9), () => woken++);
  await clock.advance(millis(5));
  expect(woken).toBe(2);
  expect(clock.next()).toBeUndefined();
});

test('any mix of setting, cancelling and advancing behaves like a sorted list', async () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: fc.record({ ask: fc.integer({ min: 0, max: 50 }) }) },
    { weight: 4, arbitrary: fc.record({ cancel: fc.nat(300) }) },
    { weight: 1, arbitrary: fc.record({ advance: fc.integer({ min: 0, max: 20 }) }) },
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 300, size: 'max' }), async (steps) => {
      const clock = new VirtualClock();
      let model: { at: number; id: number }[] = [];
      const asked: (() => void)[] = [];
      const woken: number[] = [];
      const expected: number[] = [];
      for (const one of steps) {
        const now = clock.elapsed();
        if ('ask' in one) {
          const id = asked.length;
          model.push({ at: now + one.ask, id });
          asked.push(clock.wakeAt(at(now + one.ask), () => void woken.push(id)));
        } else if ('cancel' in one) {
          asked[one.cancel]?.();
          model = model.filter(({ id }) => id !== one.cancel);
        } else {
          const due = model.filter((wake) => wake.at <= now + one.advance);
          expected.push(...due.sort((a, b) => a.at - b.at || a.id - b.id).map(({ id }) => id));
          model = model.filter((wake) => !due.includes(wake));
          await clock.advance(millis(one.advance));
        }
      }
      expect(woken).toEqual(expected);
    }),
    { numRuns: 40 },
  );
});
