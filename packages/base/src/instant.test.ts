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

  test('whole seconds in any order are formatted like Date does', () => {
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

  test('an invalid instant is rejected', () => {
    expect(() => formatTime(instant(Number.NaN))).toThrow(RangeError);
  });
});

test.each<[string, number, string]>([
  ['the last second of the year 9999', 253_402_300_799_000, '9999-12-31T23:59:59Z'],
  ['the first second beyond the year 9999', 253_402_300_800_000, '9999-12-31T23:59:59Z'],
  ['an instant beyond the range of Date', 9e15, '9999-12-31T23:59:59Z'],
])('formatEnd: %s', (_rule, at, text) => {
  expect(formatEnd(instant(at))).toBe(text);
});

test.each([
  [1000, 1000],
  [1001, 2000],
  [1999, 2000],
  [0, 0],
])('ceilSecond(%d) is %d', (at, second) => {
  expect(ceilSecond(instant(at))).toBe(second);
});
