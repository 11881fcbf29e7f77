import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ceilSecond, formatEnd, formatTime, instant, parseTime } from './instant.ts';

describe('formatTime', () => {
  test.each<[number, string]>([
    [0, '1970-01-01T00:00:00Z'],
    [-1, '1969-12-31T23:59:59Z'],
    [999, '1970-01-01T00:00:00Z'],
    [86_399_999, '1970-01-01T23:59:59Z'],
    [86_400_000, '1970-01-02T00:00:00Z'],
    [-62_135_596_800_000, '0001-01-01T00:00:00Z'],
    [253_402_300_799_000, '9999-12-31T23:59:59Z'],
    [1_709_164_800_000, '2024-02-29T00:00:00Z'],
  ])('%d', (at, text) => {
    expect(formatTime(instant(at))).toBe(text);
  });

  test('whole seconds of any order are what Date says', () => {
    const second = fc.integer({ min: -62_135_596_800, max: 253_402_300_799 });
    const near = fc.integer({ min: 1_767_000_000, max: 1_767_200_000 });
    fc.assert(
      fc.property(fc.array(fc.oneof(second, near), { minLength: 1, maxLength: 20 }), (times) => {
        for (const time of times) {
          const at = instant(time * 1000);
          expect(formatTime(at)).toBe(new Date(at).toISOString().replace('.000', ''));
          expect(parseTime(formatTime(at))).toBe(at);
        }
      }),
    );
  });

  test('what is no time has no text', () => {
    expect(() => formatTime(instant(Number.NaN))).toThrow(RangeError);
  });
});

test.each<[string, number, string]>([
  ['as it is', 253_402_300_799_000, '9999-12-31T23:59:59Z'],
  ['the first second that cannot be written', 253_402_300_800_000, '9999-12-31T23:59:59Z'],
  ['beyond what a Date can hold', 9e15, '9999-12-31T23:59:59Z'],
])('an end that lies far away: %s', (_rule, at, text) => {
  expect(formatEnd(instant(at))).toBe(text);
});

test.each([
  [1000, 1000],
  [1001, 2000],
  [1999, 2000],
  [0, 0],
])('the whole second that %d has not passed: %d', (at, second) => {
  expect(ceilSecond(instant(at))).toBe(second);
});
