// Time zones by name ('Europe/Berlin') or by offset ('+05:30'), from the tables of the JavaScript engine.

import { daysFromCivil } from '@lapse/base/civil';
import type { Timestamp } from './values.ts';

const OFFSET = /^([+-]?)(\d{1,2}):(\d{2})$/;
const formatters = new Map<string, Intl.DateTimeFormat | undefined>();
const MAX_CACHED = 600;

/** The UTC offset of `zone` at `t` in seconds. Undefined if the zone does not exist. */
export function zoneOffset(zone: string, t: Timestamp): number | undefined {
  if (zone === 'UTC' || zone === '') return 0;
  const numeric = OFFSET.exec(zone);
  if (numeric !== null) {
    const [, sign, hours, minutes] = numeric;
    return (sign === '-' ? -1 : 1) * (Number(hours) * 3600 + Number(minutes) * 60);
  }
  const format = formatterOf(zone);
  return format === undefined ? undefined : offsetFrom(format, t);
}

function formatterOf(zone: string): Intl.DateTimeFormat | undefined {
  if (formatters.has(zone)) return formatters.get(zone);
  // Names come from untrusted programs: clear the cache instead of letting it grow without bound.
  if (formatters.size >= MAX_CACHED) formatters.clear();
  const format = makeFormatter(zone);
  formatters.set(zone, format);
  return format;
}

/** Names as written in the tables. The engine itself accepts any case, and offsets that are not zone names. */
const NAME = /^[A-Z][\w+-]*(\/[A-Z][\w+-]*)*$/;

const isWritten = (zone: string): boolean =>
  NAME.test(zone) && !(zone.includes('/') && zone === zone.toUpperCase());

const isOtherCase = (zone: string, written: string): boolean =>
  zone !== written && zone.toLowerCase() === written.toLowerCase();

function makeFormatter(timeZone: string): Intl.DateTimeFormat | undefined {
  if (!isWritten(timeZone)) return undefined;
  try {
    const format = new Intl.DateTimeFormat('en-US', {
      timeZone,
      calendar: 'iso8601',
      hourCycle: 'h23',
      era: 'short',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
    return isOtherCase(timeZone, format.resolvedOptions().timeZone) ? undefined : format;
  } catch {
    return undefined;
  }
}

function offsetFrom(format: Intl.DateTimeFormat, t: Timestamp): number {
  const parts: Partial<Record<Intl.DateTimeFormatPartTypes, string>> = {};
  for (const { type, value } of format.formatToParts(t.epochSeconds * 1000)) parts[type] = value;
  const year = parts.era?.startsWith('B') ? 1 - Number(parts.year) : Number(parts.year);
  const days = daysFromCivil(year, Number(parts.month), Number(parts.day));
  const clock = Number(parts.hour) * 3600 + Number(parts.minute) * 60 + Number(parts.second);
  return days * 86_400 + clock - t.epochSeconds;
}
