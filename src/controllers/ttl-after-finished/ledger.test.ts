import { expect, test } from 'vitest';
import { instant } from '#base/instant';
import { Ledger } from './ledger.ts';

const a = { namespace: 'x', name: 'a' };
const b = { namespace: 'y', name: 'a' };
const node = { name: 'a' };

test('first seen is remembered per object, not per name', () => {
  const ledger = new Ledger();
  expect(ledger.firstSeen(a, 'u-1', instant(5))).toBe(5);
  expect(ledger.firstSeen(a, 'u-1', instant(9))).toBe(5);
  expect(ledger.firstSeen(a, 'u-2', instant(9))).toBe(9);
  ledger.forget(a);
  expect(ledger.firstSeen(a, 'u-2', instant(12))).toBe(12);
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
