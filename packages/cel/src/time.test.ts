import { describe, expect, it } from 'vitest';
import { formatDuration, formatTimestamp, parseDuration, parseTimestamp, timePart } from './time.ts';
import { zoneOffset } from './zones.ts';

describe('timestamps', () => {
  it.each([
    ['1970-01-01T00:00:00Z', 0, 0],
    ['2026-01-01T00:00:00Z', 1_767_225_600, 0],
    ['2026-01-01T01:30:00+01:30', 1_767_225_600, 0],
    ['2025-12-31T19:00:00-05:00', 1_767_225_600, 0],
    ['1969-12-31T23:59:59.5Z', -1, 500_000_000],
    ['2026-01-01T00:00:00.123456789Z', 1_767_225_600, 123_456_789],
    ['2026-01-01T00:00:00.1234567899Z', 1_767_225_600, 123_456_789],
    ['2026-01-01T00:00:00,5Z', 1_767_225_600, 500_000_000],
    ['0001-01-01T00:00:00Z', -62_135_596_800, 0],
    ['9999-12-31T23:59:59.999999999Z', 253_402_300_799, 999_999_999],
    ['2024-02-29T00:00:00Z', 1_709_164_800, 0],
  ])('%s', (text, epochSeconds, subNanos) => {
    expect(parseTimestamp(text)).toMatchObject({ epochSeconds, subNanos });
  });

  it.each([
    '',
    '2026',
    '2026-01-01',
    '2026-01-01T00:00:00',
    '2026-01-01 00:00:00Z',
    '2026-01-01t00:00:00z',
    '2026-13-01T00:00:00Z',
    '2026-02-29T00:00:00Z',
    '2026-01-01T24:00:00Z',
    '2026-01-01T00:60:00Z',
    '2026-01-01T00:00:60Z',
    '2026-01-01T00:00:00.Z',
    '2026-01-01T00:00:00+0100',
    '2026-01-01T00:00:00+24:00',
    '2026-01-01T00:00:00Z ',
    '10000-01-01T00:00:00Z',
    '0000-12-31T23:59:59Z',
    '0001-01-01T00:00:00+00:01',
    '9999-12-31T23:59:59-00:01',
    '2026-0١-01T00:00:00Z',
  ])('%j is not a timestamp', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it.each([
    '1970-01-01T00:00:00Z',
    '1969-12-31T23:59:59.5Z',
    '0001-01-01T00:00:00.000000001Z',
    '9999-12-31T23:59:59.999999999Z',
  ])('%s is formatted as it was parsed', (text) => {
    expect(formatTimestamp(parseTimestamp(text)!)).toBe(text);
  });

  it('returns the parts of date and time', () => {
    const t = parseTimestamp('2024-12-31T23:31:20.123456789Z')!;
    const parts = [
      'getFullYear',
      'getMonth',
      'getDayOfYear',
      'getDate',
      'getDayOfMonth',
      'getDayOfWeek',
      'getHours',
      'getMinutes',
      'getSeconds',
      'getMilliseconds',
    ] as const;
    expect(parts.map((p) => timePart(t, p, 0))).toEqual([2024, 11, 365, 31, 30, 2, 23, 31, 20, 123]);
    expect(parts.map((p) => timePart(t, p, 3600))).toEqual([2025, 0, 0, 1, 0, 3, 0, 31, 20, 123]);
  });
});

describe('time zones', () => {
  it.each([
    ['UTC', '2026-07-01T00:00:00Z', 0],
    ['+05:30', '2026-07-01T00:00:00Z', 19_800],
    ['-02:30', '2026-07-01T00:00:00Z', -9000],
    ['02:00', '2026-07-01T00:00:00Z', 7200],
    ['Europe/Berlin', '2026-07-01T00:00:00Z', 7200],
    ['Europe/Berlin', '2026-01-01T00:00:00Z', 3600],
    ['Asia/Kathmandu', '2026-01-01T00:00:00Z', 20_700],
    ['America/New_York', '2026-03-08T06:59:59Z', -18_000],
    ['America/New_York', '2026-03-08T07:00:00Z', -14_400],
  ])('%s at %s', (zone, at, offset) => {
    expect(zoneOffset(zone, parseTimestamp(at)!)).toBe(offset);
  });

  it.each([
    'Mars/Olympus',
    'america/new_york',
    'AMERICA/NEW_YORK',
    'America/NEW_YORK',
    'America/New_york',
    'utc',
    '+01',
    '+0100',
    '../etc',
  ])('rejects a zone name that is not in the tables: %s', (zone) => {
    expect(zoneOffset(zone, parseTimestamp('2026-01-01T00:00:00Z')!)).toBeUndefined();
  });

  it.each(['Etc/GMT+5', 'EST5EDT', 'America/Port-au-Prince', 'America/Argentina/Buenos_Aires', 'GB', 'Zulu'])(
    'accepts a zone name of the tables: %s',
    (zone) => {
      expect(zoneOffset(zone, parseTimestamp('2026-01-01T00:00:00Z')!)).toBeDefined();
    },
  );
});

describe('durations', () => {
  it.each([
    ['90m', '5400s'],
    ['-1.5s', '-1.5s'],
    ['-0.5s', '-0.5s'],
    ['1ns', '0.000000001s'],
    ['-1ns', '-0.000000001s'],
    ['0', '0s'],
    ['1h0m0.1s', '3600.1s'],
  ])('%s is %s', (text, written) => {
    expect(formatDuration(parseDuration(text)!)).toBe(written);
  });
});
