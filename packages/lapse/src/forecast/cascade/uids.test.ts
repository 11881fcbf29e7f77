import { seededRandom, uuid } from '@lapse/base/random';
import { expect, test } from 'vitest';
import { UidSet } from './uids.ts';

/** UIDs as tests and generators write them: equal except for the end. */
const alike = (i: number) => `00000001-0000-4000-8000-${i.toString(16).padStart(12, '0')}`;

test.each<[string, (i: number) => string]>([
  [
    'random',
    (
      (random) => () =>
        uuid(random)
    )(seededRandom(1)),
  ],
  ['alike', alike],
  ['short', String],
])('every uid is contained, and no other (%s)', (_, uidOf) => {
  const all = Array.from({ length: 20_000 }, (__, i) => uidOf(i));
  const uids = new UidSet();
  const half = all.slice(0, 10_000);
  expect(half.every((uid) => uids.add(uid, 'ns'))).toBe(true);
  expect(uids.size).toBe(10_000);
  expect(half.every((uid) => uids.has(uid, 'ns') && !uids.add(uid, 'ns'))).toBe(true);
  expect(all.slice(10_000).some((uid) => uids.has(uid, 'ns'))).toBe(false);
});

test('a uid is contained in one namespace only', () => {
  const uids = new UidSet();
  uids.add('a', 'x');
  expect([uids.has('a', 'x'), uids.has('a', 'y'), uids.has('a', ''), uids.has('ax', '')]).toEqual([
    true,
    false,
    false,
    false,
  ]);
});
