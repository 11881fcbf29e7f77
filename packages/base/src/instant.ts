// Time types used throughout the project: an Instant is a point in time, Millis is a duration. The types do not mix.

/** Milliseconds since the Unix epoch. */
export type Instant = number & { readonly __instant: unique symbol };

/** A duration in milliseconds. */
export type Millis = number & { readonly __millis: unique symbol };

export const instant = (epochMillis: number): Instant => epochMillis as Instant;
export const millis = (length: number): Millis => length as Millis;
export const seconds = (n: number): Millis => (n * 1000) as Millis;
export const minutes = (n: number): Millis => (n * 60_000) as Millis;
export const hours = (n: number): Millis => (n * 3_600_000) as Millis;

export const plus = (at: Instant, length: Millis): Instant => (at + length) as Instant;
export const minus = (later: Instant, earlier: Instant): Millis => (later - earlier) as Millis;

/** Whether a deadline has been reached; it is due at its own instant. All deadline comparisons use this function. */
export const isDue = (at: Instant, now: Instant): boolean => now >= at;

/** RFC 3339 with whole seconds, like metav1.Time. The fraction is truncated. */
export function formatTime(at: Instant): string {
  const second = Math.floor(at / 1000);
  if (second !== lastSecond) {
    lastTime = textOf(second);
    lastSecond = second;
  }
  return lastTime;
}

// Many objects are stamped within one second, so the texts of the last second and of its day are cached.
let lastSecond = Number.NaN;
let lastTime = '';
let lastDay = Number.NaN;
let lastDate = '';
const SECONDS_A_DAY = 86_400;
const TWO_DIGITS = Array.from({ length: 60 }, (_, n) => String(n).padStart(2, '0'));

function textOf(second: number): string {
  const day = Math.floor(second / SECONDS_A_DAY);
  if (day !== lastDay) {
    const text = new Date(day * SECONDS_A_DAY * 1000).toISOString();
    lastDate = text.slice(0, text.indexOf('T') + 1);
    lastDay = day;
  }
  const rest = second - day * SECONDS_A_DAY;
  const minute = Math.floor(rest / 60);
  return `${lastDate}${TWO_DIGITS[Math.floor(minute / 60)]}:${TWO_DIGITS[minute % 60]}:${TWO_DIGITS[rest % 60]}Z`;
}

/** RFC 3339 with six fraction digits, like metav1.MicroTime. */
export function formatMicroTime(at: Instant): string {
  return `${new Date(at).toISOString().slice(0, 23)}000Z`;
}

/** Parses an RFC 3339 time. NaN if it is not valid. */
export const parseTime = (text: string): Instant => Date.parse(text) as Instant;

/** The last second that RFC 3339 can express. */
const LAST = parseTime('9999-12-31T23:59:59Z');

/** Like formatTime, but an instant after the year 9999 is written as its last second. */
export const formatEnd = (at: Instant): string => formatTime(at > LAST ? LAST : at);

/** Rounds up to a whole second, so that truncation does not make a displayed deadline earlier. */
export const ceilSecond = (at: Instant): Instant => instant(Math.ceil(at / 1000) * 1000);

/** For libraries that require a Date. */
export const toDate = (at: Instant): Date => new Date(at);
