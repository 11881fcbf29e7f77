import { instant } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import { parseSpan, relativeTime, timeText } from './times.ts';

const HOUR = 3_600_000;

describe('the horizon', () => {
  test.each([
    ['7d', 168 * HOUR],
    ['2w', 336 * HOUR],
    ['1w1d', 192 * HOUR],
    ['12h', 12 * HOUR],
    ['1d12h', 36 * HOUR],
    ['90m', 1.5 * HOUR],
    ['500ms', 500],
  ])('%s', (text, length) => expect(parseSpan(text)).toBe(length));

  test.each([
    '',
    '0',
    '0d',
    '-1h',
    '7',
    'd',
    '1h2d',
    '7 d',
    'NaN',
    '1e9d',
    '99999999999999999d',
    `${'9'.repeat(400)}d`,
  ])('rejects %j', (text) => expect(() => parseSpan(text)).toThrow(/--for/));
});

describe('relative times', () => {
  test.each([
    [0, 'now'],
    [999, 'now'],
    [-999, 'now'],
    [1000, 'in 1 s'],
    [59_999, 'in 59 s'],
    [60_000, 'in 1 min'],
    [61_000, 'in 1 min 1 s'],
    [3 * HOUR + 12 * 60_000 + 5000, 'in 3 h 12 min'],
    [24 * HOUR + 5000, 'in 1 d'],
    [51 * HOUR, 'in 2 d 3 h'],
    [800 * 24 * HOUR, 'in 2 y 70 d'],
    [-5 * 60_000, 'overdue 5 min'],
  ])('%d ms: %s', (left, text) => expect(relativeTime(instant(1e12 + left), instant(1e12))).toBe(text));
});

test('whole seconds are printed without a fraction', () => {
  expect(timeText(instant(0))).toBe('1970-01-01T00:00:00Z');
  expect(timeText(instant(7))).toBe('1970-01-01T00:00:00.007Z');
});
