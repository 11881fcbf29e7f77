// The date format of HTTP headers (IMF-fixdate): whole seconds, always GMT.

import { type Instant, instant } from './instant.ts';

const FORMAT =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d{2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Parses `Sun, 06 Nov 1994 08:49:37 GMT`. Undefined for anything else, including the obsolete formats. */
export function parseHttpDate(text: string): Instant | undefined {
  const found = FORMAT.exec(text);
  if (found === null) return undefined;
  const [, day, month, year, hour, minute, second] = found;
  const at = Date.UTC(+year!, MONTHS.indexOf(month!), +day!, +hour!, +minute!, +second!);
  // Date.UTC carries overflow (31 February) into the next field. Reject such dates.
  return formatHttpDate(instant(at)).slice(5) === text.slice(5) ? instant(at) : undefined;
}

// Thousands of responses carry the same second, so its text is cached.
let lastSecond = Number.NaN;
let lastText = '';

/** Formats the instant for a Date header, truncated to whole seconds. */
export function formatHttpDate(at: Instant): string {
  const second = Math.floor(at / 1000);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toUTCString();
    lastSecond = second;
  }
  return lastText;
}
