import { type Instant, instant, millis } from '@lapse/base/instant';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Ledger } from './ledger.ts';

const a = { namespace: 'x', name: 'a' };
const b = { namespace: 'y', name: 'a' };
const node = { name: 'a' };

const read = (now: number, elapsed = now) => ({ now: instant(now), elapsed: millis(elapsed) });

test('first seen is remembered per object, not per name', () => {
  const ledger = new Ledger();
  expect(ledger.firstSight(a, 'u-1', read(5)).at).toBe(5);
  expect(ledger.firstSight(a, 'u-1', read(9)).at).toBe(5);
  expect(ledger.firstSight(a, 'u-2', read(9)).at).toBe(9);
  ledger.forget(a);
  expect(ledger.firstSight(a, 'u-2', read(12)).at).toBe(12);
});

test('an object of the initial list was not seen turning finished, one made again under its name was', () => {
  const ledger = new Ledger();
  ledger.lists(a, 'u-1', read(5));
  expect(ledger.firstSight(a, 'u-1', read(9))).toMatchObject({ at: 5, isTransition: false });
  expect(ledger.firstSight(a, 'u-2', read(9))).toMatchObject({ at: 9, isTransition: true });
  // Listed again after the lease was lost: the transition was seen.
  ledger.lists(a, 'u-2', read(20));
  expect(ledger.firstSight(a, 'u-2', read(21))).toMatchObject({ at: 9, isTransition: true });
});

describe('first seen at 100 000 and looked at later: what has elapsed counts, not what the clock shows', () => {
  const FIRST = read(100_000, 7_000.5);
  test.each<[string, now: number, elapsed: number, expected: number]>([
    ['nobody touched the clock', 105_000, 12_000.5, 100_000],
    ['it was an hour behind and was put right', 3_705_000, 12_000.5, 3_700_000],
    ['it was ahead by 50 s and was put right', 55_000, 12_000.5, 50_000],
    ['a fraction of a millisecond is not over yet', 105_000, 12_000.4, 100_001],
    ['read a little apart: what was told stands', 105_000, 12_003.5, 100_000],
    ['a second apart is not a little', 105_000, 13_000.5, 99_000],
  ])('%s', (_name, now, elapsed, expected) => {
    const ledger = new Ledger();
    ledger.firstSight(a, 'u-1', FIRST);
    expect(ledger.firstSight(a, 'u-1', read(now, elapsed)).at).toBe(expected);
  });

  test('never early, however often the clock is set', () => {
    const TTL = 10_000;
    const jump = fc.record({
      by: fc.integer({ min: -50_000, max: 50_000 }),
      after: fc.double({ min: 0, max: 3000, noNaN: true }),
    });
    fc.assert(
      fc.property(fc.array(jump, { minLength: 1, maxLength: 20 }), (jumps) => {
        const ledger = new Ledger();
        let { now, elapsed }: { now: number; elapsed: number } = FIRST;
        ledger.firstSight(a, 'u-1', FIRST);
        for (const { by, after } of jumps) {
          elapsed += after;
          now += Math.floor(after) + by;
          const seen: Instant = ledger.firstSight(a, 'u-1', read(now, elapsed)).at;
          const left = TTL - (elapsed - FIRST.elapsed);
          if (left > 0) expect(now).toBeLessThan(seen + TTL);
          else expect(seen + TTL - now).toBeLessThan(left + 1001);
        }
      }),
    );
  });
});

test('deadlines are counted by what time it is, each key once', () => {
  const ledger = new Ledger();
  ledger.acts();
  ledger.expects(a, instant(10));
  ledger.expects(a, instant(20));
  ledger.expects(b, instant(30));
  ledger.expects(node, instant(40));
  expect([19, 20, 30, 40].map((now) => ledger.count(instant(now)))).toEqual([
    { waiting: 3, due: 0 },
    { waiting: 2, due: 1 },
    { waiting: 1, due: 2 },
    { waiting: 0, due: 3 },
  ]);
  ledger.expectsNothing(b);
  ledger.forget(node);
  ledger.forget(node);
  expect([ledger.count(instant(0)), ledger.deadline(a), ledger.deadline(b)]).toEqual([
    { waiting: 1, due: 0 },
    20,
    undefined,
  ]);
});

test('what is ours is ours by uid', () => {
  const ledger = new Ledger();
  ledger.claims(a, 'u-1');
  expect([ledger.isOurs(a), ledger.isOurs(a, 'u-1'), ledger.isOurs(a, 'u-2'), ledger.isOurs(b)]).toEqual([
    true,
    true,
    false,
    false,
  ]);
  ledger.disclaims(a);
  expect(ledger.isOurs(a)).toBe(false);
});
