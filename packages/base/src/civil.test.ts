import { describe, expect, it } from 'vitest';
import { civilFromDays, dayOfWeek, daysFromCivil, daysInMonth } from './civil.ts';

describe('civil calendar', () => {
  it.each([
    [1970, 1, 1, 0, 4],
    [1, 1, 1, -719_162, 1],
    [2000, 2, 29, 11_016, 2],
    [9999, 12, 31, 2_932_896, 5],
    [2024, 3, 1, 19_783, 5],
  ])('%i-%i-%i is day %i, weekday %i', (year, month, day, number, weekday) => {
    expect(daysFromCivil(year, month, day)).toBe(number);
    expect(civilFromDays(number)).toEqual({ year, month, day });
    expect(dayOfWeek(number)).toBe(weekday);
  });

  it('agrees with Date on every 1009th day of ten thousand years', () => {
    for (let days = -719_162; days <= 2_932_896; days += 1009) {
      const date = new Date(days * 86_400_000);
      const { year, month, day } = civilFromDays(days);
      expect([year, month, day]).toEqual([date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()]);
      expect(daysFromCivil(year, month, day)).toBe(days);
    }
  });

  it('handles leap years', () => {
    expect([2000, 1900, 2024, 2023].map((y) => daysInMonth(y, 2))).toEqual([29, 28, 29, 28]);
  });
});
