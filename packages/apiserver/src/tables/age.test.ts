import { instant } from '@lapse/base/instant';
import { expect, test } from 'vitest';
import { formatAge, formatLength } from './age.ts';

const MINUTE = 60;
const HOUR = 3600;
const DAY = 24 * HOUR;
const YEAR = 365 * DAY;

test.each([
  [-2, '<invalid>'],
  [-1, '0s'],
  [0, '0s'],
  [119, '119s'],
  [120, '2m'],
  [121, '2m1s'],
  [10 * MINUTE - 1, '9m59s'],
  [10 * MINUTE, '10m'],
  [3 * HOUR - 1, '179m'],
  [3 * HOUR, '3h'],
  [3 * HOUR + 61, '3h1m'],
  [8 * HOUR - 1, '7h59m'],
  [8 * HOUR, '8h'],
  [2 * DAY - 1, '47h'],
  [2 * DAY, '2d'],
  [2 * DAY + HOUR, '2d1h'],
  [8 * DAY - 1, '7d23h'],
  [8 * DAY, '8d'],
  [2 * YEAR - 1, '729d'],
  [2 * YEAR, '2y'],
  [2 * YEAR + DAY, '2y1d'],
  [8 * YEAR - 1, '7y364d'],
  [8 * YEAR, '8y'],
])('%d seconds are %s', (seconds, text) => {
  expect(formatLength(seconds)).toBe(text);
});

test.each([
  [0, 1999, '1s'],
  // Clocks differ by fractions of a second: future times are truncated towards zero.
  [1500, 0, '0s'],
  [2500, 0, '<invalid>'],
])('from %d to %d is %s', (since, now, text) => {
  expect(formatAge(instant(since), instant(now))).toBe(text);
});
