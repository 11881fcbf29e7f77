import { formatGoDuration, parseGoDuration } from '@lapse/base/goDuration';
import { describe, expect, test } from 'vitest';
import { checkBase64 } from './base64.ts';
import { formatGoTime, isZeroTime, parseGoTime, RFC3339, RFC3339_MICRO } from './goTime.ts';

const messageOf = (run: () => unknown): string => {
  try {
    return `accepted: ${String(run())}`;
  } catch (error) {
    return (error as Error).message;
  }
};

describe('times', () => {
  test.each([
    ['2024-01-01T00:00:00Z', '2024-01-01T00:00:00Z'],
    ['2024-01-01T00:30:00+02:00', '2023-12-31T22:30:00Z'],
    ['2024-02-29T23:59:59.999999999Z', '2024-02-29T23:59:59Z'],
    ['2024-01-01T1:00:00Z', '2024-01-01T01:00:00Z'],
    ['0000-01-01T00:00:00+05:00', '-0001-12-31T19:00:00Z'],
    ['9999-12-31T23:00:00-05:00', '10000-01-01T04:00:00Z'],
  ])('%s → %s', (text, utc) => {
    expect(formatGoTime(RFC3339, parseGoTime(RFC3339, text))).toBe(utc);
  });

  test('micro times have six digits', () => {
    const time = parseGoTime(RFC3339_MICRO, '2024-01-01T00:00:00.123456+01:00');
    expect(formatGoTime(RFC3339_MICRO, time)).toBe('2023-12-31T23:00:00.123456Z');
  });

  test('the zero time is null', () => {
    expect(isZeroTime(parseGoTime(RFC3339, '0001-01-01T00:00:00Z'))).toBe(true);
    expect(isZeroTime(parseGoTime(RFC3339, '0001-01-01T00:00:01Z'))).toBe(false);
  });

  const plain = '"2006-01-02T15:04:05Z07:00"';
  const micro = '"2006-01-02T15:04:05.000000Z07:00"';
  test.each([
    ['yesterday', `parsing time "yesterday" as ${plain}: cannot parse "yesterday" as "2006"`],
    [
      '2024-1-01T00:00:00Z',
      `parsing time "2024-1-01T00:00:00Z" as ${plain}: cannot parse "1-01T00:00:00Z" as "01"`,
    ],
    [
      '2024-01-01 00:00:00Z',
      `parsing time "2024-01-01 00:00:00Z" as ${plain}: cannot parse " 00:00:00Z" as "T"`,
    ],
    ['2024-01-01T00:00:00', `parsing time "2024-01-01T00:00:00" as ${plain}: cannot parse "" as "Z07:00"`],
    ['2024-13-01T00:00:00Z', 'parsing time "2024-13-01T00:00:00Z": month out of range'],
    ['2023-02-29T00:00:00Z', 'parsing time "2023-02-29T00:00:00Z": day out of range'],
    ['2024-01-01T24:00:00Z', 'parsing time "2024-01-01T24:00:00Z": hour out of range'],
    ['2024-01-01T00:00:00Zé', 'parsing time "2024-01-01T00:00:00Z\\xc3\\xa9": extra text: "\\xc3\\xa9"'],
    [
      '2024-01-01T00:00:00+25:00',
      'parsing time "2024-01-01T00:00:00+25:00": time zone offset hour out of range',
    ],
  ])('%s is refused', (text, message) => {
    expect(messageOf(() => parseGoTime(RFC3339, text))).toBe(message);
  });
  test.each([
    [
      '2024-01-01T00:00:00Z',
      `parsing time "2024-01-01T00:00:00Z" as ${micro}: cannot parse "Z" as ".000000"`,
    ],
    [
      '2024-01-01T00:00:00.123456789Z',
      `parsing time "2024-01-01T00:00:00.123456789Z" as ${micro}: cannot parse "789Z" as "Z07:00"`,
    ],
  ])('as a micro time %s is refused', (text, message) => {
    expect(messageOf(() => parseGoTime(RFC3339_MICRO, text))).toBe(message);
  });
});

describe('durations', () => {
  test.each([
    ['0', '0s'],
    ['90m', '1h30m0s'],
    ['-1.5s', '-1.5s'],
    ['1h2m3.004005006s', '1h2m3.004005006s'],
    ['1500us', '1.5ms'],
    ['20ns', '20ns'],
    ['.5h', '30m0s'],
    ['-9223372036854775808ns', '-2562047h47m16.854775808s'],
  ])('%s → %s', (text, canonical) => {
    expect(formatGoDuration(parseGoDuration(text))).toBe(canonical);
  });
  test.each([
    ['', 'time: invalid duration ""'],
    ['.s', 'time: invalid duration ".s"'],
    ['5', 'time: missing unit in duration "5"'],
    ['5 minutes', 'time: unknown unit " minutes" in duration "5 minutes"'],
    ['1d', 'time: unknown unit "d" in duration "1d"'],
    ['9223372036854775808ns', 'time: invalid duration "9223372036854775808ns"'],
    ['3000000h', 'time: invalid duration "3000000h"'],
  ])('%j is refused', (text, message) => {
    expect(messageOf(() => parseGoDuration(text))).toBe(message);
  });
});

describe('base64', () => {
  test.each([
    ['', ''],
    ['aGVsbG8=', 'aGVsbG8='],
    ['aGVs\nbG8=\n', 'aGVsbG8='],
    ['YR==', 'YQ=='],
  ])('accepts %j', (text, canonical) => {
    expect(checkBase64(text)).toEqual({ ok: true, text: canonical });
  });
  test.each([
    ['a', 0],
    ['abc', 0],
    ['abc*', 3],
    ['ab=c', 2],
    ['ab=', 3],
    ['=abc', 0],
    ['aGk=x', 4],
    ['not base64!', 3],
    ['aGVsbG8', 4],
  ])('%j is refused at byte %i', (text, at) => {
    expect(checkBase64(text)).toEqual({ ok: false, problem: `illegal base64 data at input byte ${at}` });
  });
});
