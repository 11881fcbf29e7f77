// The date format of HTTP headers (IMF-fixdate), which has whole seconds and is always GMT.

import { type Instant, instant } from './instant.ts';

const FORMAT =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d{2}) (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** `Sun, 06 Nov 1994 08:49:37 GMT` as an instant; undefined for anything else, the obsolete formats included. */
export function parseHttpDate(text: string): Instant | undefined {
  const found = FORMAT.exec(text);
  if (found === null) return undefined;
  const [, day, month, year, hour, minute, second] = found;
  const at = Date.UTC(+year!, MONTHS.indexOf(month!), +day!, +hour!, +minute!, +second!);
  // Date.UTC carries overflow (31 February) into the next field; a header that says so is not a date.
  return formatHttpDate(instant(at)).slice(5) === text.slice(5) ? instant(at) : undefined;
}

// Thousands of answers carry the same second: its text is made once.
let lastSecond = Number.NaN;
let lastText = '';

/** The instant cut to whole seconds, as a Date header carries it. */
export function formatHttpDate(at: Instant): string {
  const second = Math.floor(at / 1000);
  if (second !== lastSecond) {
    lastText = new Date(second * 1000).toUTCString();
    lastSecond = second;
  }
  return lastText;
}
