import { type Instant, instant, millis } from '@lapse/base/instant';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ObjectRecords } from './objectRecords.ts';

const a = { namespace: 'x', name: 'a' };
const b = { namespace: 'y', name: 'a' };
const node = { name: 'a' };

const read = (now: number, elapsed = now) => ({ now: instant(now), elapsed: millis(elapsed) });

test('the first sight is remembered by uid, not by name', () => {
  const objectRecords = new ObjectRecords();
  expect(objectRecords.firstSight(a, 'u-1', read(5)).at).toBe(5);
  expect(objectRecords.firstSight(a, 'u-1', read(9)).at).toBe(5);
  expect(objectRecords.firstSight(a, 'u-2', read(9)).at).toBe(9);
  objectRecords.forget(a);
  expect(objectRecords.firstSight(a, 'u-2', read(12)).at).toBe(12);
});

test('an object of the initial list is not a transition, but one that is recreated under its name is', () => {
  const objectRecords = new ObjectRecords();
  objectRecords.recordListed(a, 'u-1', read(5));
  expect(objectRecords.firstSight(a, 'u-1', read(9))).toMatchObject({ at: 5, isTransition: false });
  expect(objectRecords.firstSight(a, 'u-2', read(9))).toMatchObject({ at: 9, isTransition: true });
  // Listed again after the lease was lost: the transition is remembered.
  objectRecords.recordListed(a, 'u-2', read(20));
  expect(objectRecords.firstSight(a, 'u-2', read(21))).toMatchObject({ at: 9, isTransition: true });
});

describe('an object that was first seen at 100 000 counts the monotonic time', () => {
  const FIRST = read(100_000, 7_000.5);
  test.each<[string, now: number, elapsed: number, expected: number]>([
    ['the wall clock was not changed', 105_000, 12_000.5, 100_000],
    ['the wall clock was an hour behind and was corrected', 3_705_000, 12_000.5, 3_700_000],
    ['the wall clock was 50 s ahead and was corrected', 55_000, 12_000.5, 50_000],
    ['a fraction of a millisecond is rounded up', 105_000, 12_000.4, 100_001],
    ['a small difference of the clocks does not change the result', 105_000, 12_003.5, 100_000],
    ['a difference of one second changes the result', 105_000, 13_000.5, 99_000],
  ])('%s', (_name, now, elapsed, expected) => {
    const objectRecords = new ObjectRecords();
    objectRecords.firstSight(a, 'u-1', FIRST);
    expect(objectRecords.firstSight(a, 'u-1', read(now, elapsed)).at).toBe(expected);
  });

  test('is never early, regardless of changes of the wall clock', () => {
    const TTL = 10_000;
    const jump = fc.record({
      by: fc.integer({ min: -50_000, max: 50_000 }),
      after: fc.double({ min: 0, max: 3000, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(jump, { minLength: 1, maxLength: 20 }), (jumps) => {
        const objectRecords = new ObjectRecords();
        let { now, elapsed }: { now: number; elapsed: number } = FIRST;
        objectRecords.firstSight(a, 'u-1', FIRST);
        for (const { by, after } of jumps) {
          elapsed += after;
          now += Math.floor(after) + by;
          const seen: Instant = objectRecords.firstSight(a, 'u-1', read(now, elapsed)).at;
          const left = TTL - (elapsed - FIRST.elapsed);
          if (left > 0) expect(now).toBeLessThan(seen + TTL);
          else expect(seen + TTL - now).toBeLessThan(left + 1001);
        }
      }),
    );
  });
});

test('each deadline is counted once, as waiting or due', () => {
  const objectRecords = new ObjectRecords();
  objectRecords.startActing();
  objectRecords.setDeadline(a, instant(10));
  objectRecords.setDeadline(a, instant(20));
  objectRecords.setDeadline(b, instant(30));
  objectRecords.setDeadline(node, instant(40));
  expect([19, 20, 30, 40].map((now) => objectRecords.count(instant(now)))).toEqual([
    { waiting: 3, due: 0 },
    { waiting: 2, due: 1 },
    { waiting: 1, due: 2 },
    { waiting: 0, due: 3 },
  ]);
  objectRecords.clearDeadline(b);
  objectRecords.forget(node);
  objectRecords.forget(node);
  expect([objectRecords.count(instant(0)), objectRecords.deadline(a), objectRecords.deadline(b)]).toEqual([
    { waiting: 1, due: 0 },
    20,
    undefined,
  ]);
});
