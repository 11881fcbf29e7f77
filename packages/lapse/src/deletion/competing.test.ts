import { instant, plus, seconds } from '@lapse/base/instant';
import { expect, test } from 'vitest';
import { isCompetingDeletion } from './competing.ts';

const at = (second: number) => plus(instant(1_750_000_000_000), seconds(second));

test.each([
  [-2.001, false],
  [-2, true],
  [0, true],
  [4.999, true],
  [5, false],
])('a deletion %s s after the deadline counts as a competing deletion: %s', (second, expected) => {
  expect(isCompetingDeletion(at(0), at(second), at(-60))).toBe(expected);
});

test('an object that was due before this replica acted does not count as a competing deletion', () => {
  expect([-1, 0, 1].map((since) => isCompetingDeletion(at(0), at(1), at(since)))).toEqual([
    true,
    false,
    false,
  ]);
});
