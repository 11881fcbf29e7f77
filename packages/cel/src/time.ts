// Timestamps and durations with nanosecond precision: parsing, formatting, arithmetic, and calendar parts in any time
// zone.

import { civilFromDays, dayOfWeek, daysFromCivil, daysInMonth } from '@lapse/base/civil';
import { readGoDuration, splitNanos } from '@lapse/base/goDuration';
import { Duration, type Failure, fail, Timestamp } from './values.ts';

// 0001-01-01T00:00:00Z and 9999-12-31T23:59:59Z.
const MIN_SECONDS = -62_135_596_800;
const MAX_SECONDS = 253_402_300_799;
const NANOS = 1_000_000_000;
// A duration is a 64-bit count of nanoseconds, as in Go.
const MAX_DURATION_SECONDS = 9_223_372_036;
const MAX_DURATION_NANOS = 854_775_807;

const timestampRange = (): Failure => fail('timestamp overflow');
const durationRange = (): Failure => fail('integer overflow');

function makeTimestamp(seconds: number, nanos: number): Timestamp | Failure {
  return seconds < MIN_SECONDS || seconds > MAX_SECONDS ? timestampRange() : new Timestamp(seconds, nanos);
}

/** Normalizes nanoseconds that are outside 0 to 999,999,999 by less than one second in either direction. */
function makeDuration(seconds: number, nanos: number): Duration | Failure {
  if (nanos >= NANOS) return makeDuration(seconds + 1, nanos - NANOS);
  if (nanos < 0) return makeDuration(seconds - 1, nanos + NANOS);
  if (seconds > MAX_DURATION_SECONDS || (seconds === MAX_DURATION_SECONDS && nanos > MAX_DURATION_NANOS)) {
    return durationRange();
  }
  // The minimum duration is one nanosecond further from zero than the maximum.
  const tooLow = seconds === -MAX_DURATION_SECONDS - 1 && nanos < NANOS - MAX_DURATION_NANOS - 1;
  return seconds < -MAX_DURATION_SECONDS - 1 || tooLow ? durationRange() : new Duration(seconds, nanos);
}

export const timestampFromSeconds = (seconds: number): Timestamp | Failure => makeTimestamp(seconds, 0);

/** A timestamp from milliseconds since 1970, exactly. */
export function timestampFromMillis(millis: number): Timestamp {
  const seconds = Math.floor(millis / 1000);
  return new Timestamp(seconds, Math.round((millis - seconds * 1000) * 1_000_000));
}

/** Milliseconds since 1970, truncated: never later than the timestamp. */
export const millisFromTimestamp = (t: Timestamp): number =>
  t.epochSeconds * 1000 + Math.floor(t.subNanos / 1_000_000);

const digit = (text: string, at: number): number => {
  const d = text.charCodeAt(at) - 48;
  return d >= 0 && d <= 9 ? d : Number.NaN;
};
const two = (text: string, at: number): number => digit(text, at) * 10 + digit(text, at + 1);

/** Parses RFC 3339 with any number of fraction digits, like Go's time.Parse. */
export function parseTimestamp(text: string): Timestamp | undefined {
  const year = two(text, 0) * 100 + two(text, 2);
  const month = two(text, 5);
  const day = two(text, 8);
  const hour = two(text, 11);
  const minute = two(text, 14);
  const second = two(text, 17);
  const fixed = text.charCodeAt(4) === 45 && text.charCodeAt(7) === 45 && text.charCodeAt(10) === 84;
  if (!fixed || text.charCodeAt(13) !== 58 || text.charCodeAt(16) !== 58) return undefined;
  if (!(month >= 1 && month <= 12 && day >= 1 && day <= daysInMonth(year, month))) return undefined;
  if (!(hour <= 23 && minute <= 59 && second <= 59)) return undefined;
  const [nanos, zoneAt] = fraction(text, 19);
  const offset = zoneOffset(text, zoneAt);
  if (!(nanos >= 0) || offset === undefined) return undefined;
  const seconds = daysFromCivil(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second - offset;
  return seconds < MIN_SECONDS || seconds > MAX_SECONDS ? undefined : new Timestamp(seconds, nanos);
}

/** The nanoseconds of a fraction at `at`, and its end. NaN for a separator without digits. */
function fraction(text: string, at: number): readonly [number, number] {
  const separator = text.charCodeAt(at);
  if (separator !== 46 && separator !== 44) return [0, at];
  let nanos = 0;
  let scale = NANOS;
  let end = at + 1;
  for (let d = digit(text, end); d >= 0; d = digit(text, ++end)) {
    scale /= 10;
    if (scale >= 1) nanos += d * scale;
  }
  return end === at + 1 ? [Number.NaN, end] : [nanos, end];
}

/** UTC offset, in seconds, of the zone at the end of the text. */
function zoneOffset(text: string, at: number): number | undefined {
  const sign = text.charCodeAt(at);
  if (sign === 90) return text.length === at + 1 ? 0 : undefined;
  if ((sign !== 43 && sign !== 45) || text.length !== at + 6 || text.charCodeAt(at + 3) !== 58)
    return undefined;
  const hours = two(text, at + 1);
  const minutes = two(text, at + 4);
  if (!(hours <= 23 && minutes <= 59)) return undefined;
  return (sign === 45 ? -1 : 1) * (hours * 3600 + minutes * 60);
}

const pad = (n: number, width: number): string => String(n).padStart(width, '0');

/** RFC 3339 in UTC with as many fraction digits as needed. */
export function formatTimestamp(t: Timestamp): string {
  const days = Math.floor(t.epochSeconds / 86_400);
  const rest = t.epochSeconds - days * 86_400;
  const { year, month, day } = civilFromDays(days);
  const clock = `${pad(Math.floor(rest / 3600), 2)}:${pad(Math.floor(rest / 60) % 60, 2)}:${pad(rest % 60, 2)}`;
  const digits = t.subNanos === 0 ? '' : `.${pad(t.subNanos, 9).replace(/0+$/, '')}`;
  return `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}T${clock}${digits}Z`;
}

export function parseDuration(text: string): Duration | undefined {
  const total = readGoDuration(text);
  if (total === undefined) return undefined;
  const { seconds, nanos } = splitNanos(total);
  return new Duration(seconds, nanos);
}

/** Seconds with as many fraction digits as needed, `-1.5s`. */
export function formatDuration(d: Duration): string {
  const negative = d.wholeSeconds < 0;
  const borrow = negative && d.subNanos > 0;
  const seconds = negative ? -d.wholeSeconds - (borrow ? 1 : 0) : d.wholeSeconds;
  const nanos = borrow ? NANOS - d.subNanos : d.subNanos;
  const digits = nanos === 0 ? '' : `.${pad(nanos, 9).replace(/0+$/, '')}`;
  return `${negative ? '-' : ''}${seconds}${digits}s`;
}

export const durationNanos = (d: Duration): bigint =>
  BigInt(d.wholeSeconds) * BigInt(NANOS) + BigInt(d.subNanos);

export function addTimestamp(t: Timestamp, d: Duration, sign: 1 | -1): Timestamp | Failure {
  let seconds = t.epochSeconds + sign * d.wholeSeconds;
  let nanos = t.subNanos + sign * d.subNanos;
  if (nanos >= NANOS) {
    nanos -= NANOS;
    seconds++;
  } else if (nanos < 0) {
    nanos += NANOS;
    seconds--;
  }
  return makeTimestamp(seconds, nanos);
}

export const subTimestamps = (a: Timestamp, b: Timestamp): Duration | Failure =>
  makeDuration(a.epochSeconds - b.epochSeconds, a.subNanos - b.subNanos);

export const addDurations = (a: Duration, b: Duration, sign: 1 | -1): Duration | Failure =>
  makeDuration(a.wholeSeconds + sign * b.wholeSeconds, a.subNanos + sign * b.subNanos);

export type TimePart =
  | 'getFullYear'
  | 'getMonth'
  | 'getDayOfYear'
  | 'getDayOfMonth'
  | 'getDate'
  | 'getDayOfWeek'
  | 'getHours'
  | 'getMinutes'
  | 'getSeconds'
  | 'getMilliseconds';

/** A part of the calendar date or the time of day at a UTC offset of `offset` seconds. */
export function timePart(t: Timestamp, part: TimePart, offset: number): number {
  const local = t.epochSeconds + offset;
  const days = Math.floor(local / 86_400);
  const rest = local - days * 86_400;
  switch (part) {
    case 'getHours':
      return Math.floor(rest / 3600);
    case 'getMinutes':
      return Math.floor(rest / 60) % 60;
    case 'getSeconds':
      return rest % 60;
    case 'getMilliseconds':
      return Math.floor(t.subNanos / 1_000_000);
    case 'getDayOfWeek':
      return dayOfWeek(days);
    default:
      return datePart(days, part);
  }
}

function datePart(days: number, part: TimePart): number {
  const { year, month, day } = civilFromDays(days);
  switch (part) {
    case 'getFullYear':
      return year;
    case 'getMonth':
      return month - 1;
    case 'getDate':
      return day;
    case 'getDayOfMonth':
      return day - 1;
    default:
      return days - daysFromCivil(year, 1, 1);
  }
}
