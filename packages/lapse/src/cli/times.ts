// Parses the horizon of a plan and formats relative times. Deadlines are never computed here.

import { GoDurationError, parseGoDuration } from '@lapse/base/goDuration';
import { type Instant, type Millis, millis, minus, plus, toDate } from '@lapse/base/instant';
import { UsageError } from '#manager/usage';

const DAY = 86_400_000;
const WEEK = 7 * DAY;
/** Longer than the longest TTL of a Job. */
const MOST = 100 * 366 * DAY;

/** For example `7d`, `2w`, `36h`, `1d12h`: a Go duration with optional days and weeks. */
export function parseSpan(text: string, flag = '--for'): Millis {
  const [, weeks, days, rest] = /^(?:(\d+)w)?(?:(\d+)d)?(.*)$/s.exec(text)!;
  const whole = Number(weeks ?? 0) * WEEK + Number(days ?? 0) * DAY;
  const length = millis(whole + (rest === '' && whole > 0 ? 0 : readRest(rest ?? '', text, flag)));
  if (length > 0 && length <= MOST) return length;
  throw new UsageError(`${flag} ${text}: must be longer than nothing and at most 100 years`);
}

function readRest(rest: string, text: string, flag: string): number {
  try {
    return Number(parseGoDuration(rest) / 1_000_000n);
  } catch (error) {
    if (!(error instanceof GoDurationError)) throw error;
    throw new UsageError(`${flag} ${text}: must be like 7d, 2w, 36h or 1d12h`);
  }
}

export const horizon = (now: Instant, span: Millis): Instant => plus(now, span);

const UNITS: readonly (readonly [number, string])[] = [
  [365 * DAY, 'y'],
  [DAY, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

/** `3 h 12 min`: the two largest units. */
function lengthText(length: number): string {
  const parts: string[] = [];
  let left = length;
  for (const [unit, name] of UNITS) {
    const count = Math.floor(left / unit);
    left -= count * unit;
    if (count > 0) parts.push(`${count} ${name}`);
    if (parts.length === 2 || (parts.length === 1 && count === 0)) break;
  }
  return parts.length === 0 ? '0 s' : parts.join(' ');
}

/** `in 3 h 12 min`, `now`, `overdue 5 min`. */
export function relativeTime(at: Instant, now: Instant): string {
  const left = minus(at, now);
  if (left >= 1000) return `in ${lengthText(left)}`;
  return left > -1000 ? 'now' : `overdue ${lengthText(-left)}`;
}

/** RFC 3339, with milliseconds where there are any. */
export const timeText = (at: Instant): string => toDate(at).toISOString().replace('.000Z', 'Z');
