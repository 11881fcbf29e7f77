// Formats times: round steps for an axis, short durations, days and hours in UTC. Pure.

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// Up to a day, steps divide a day evenly. Longer steps count days from the first Monday of the epoch.
const STEPS = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 28, 56, 112, 364, 1820, 3640, 18_200].map((n) => n * DAY),
];
const FIRST_MONDAY = 4 * DAY;

export interface Tick {
  readonly at: number;
  readonly label: string;
  /** Midnight: the label is a date. */
  readonly strong: boolean;
}

/** Round times inside the window, about one per `every` pixels of `width`. */
export function ticksOf(from: number, to: number, width: number, every = 84): Tick[] {
  const least = ((to - from) * every) / Math.max(width, 1);
  const step = STEPS.find((candidate) => candidate >= least) ?? STEPS.at(-1)!;
  const offset = step > DAY ? FIRST_MONDAY : 0;
  const ticks: Tick[] = [];
  for (let at = Math.ceil((from - offset) / step) * step + offset; at <= to; at += step) {
    const strong = at % DAY === 0;
    ticks.push({ at, strong, label: strong ? DATE.format(at) : (step < MINUTE ? CLOCK : HOURS).format(at) });
  }
  return ticks;
}

const format = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', hourCycle: 'h23', ...options });
const DATE = format({ weekday: 'short', day: 'numeric', month: 'short' });
const HOURS = format({ hour: '2-digit', minute: '2-digit' });
const CLOCK = format({ hour: '2-digit', minute: '2-digit', second: '2-digit' });
const LONG = format({
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
const SHORT = format({ day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit' });

// The limit of JavaScript dates. Manipulated objects may have later times.
const FARTHEST = 8.64e15;
const written = (formatter: Intl.DateTimeFormat, at: number): string =>
  Math.abs(at) <= FARTHEST ? formatter.format(at) : 'never';

/** `Mon, 16 Nov 2026, 06:25:41 UTC`. */
export const longTime = (at: number): string => `${written(LONG, at)} UTC`;

/** `16 Nov, 06:25`. */
export const shortTime = (at: number): string => written(SHORT, at);

const UNITS: readonly (readonly [number, string])[] = [
  [365 * DAY, 'y'],
  [DAY, 'd'],
  [HOUR, 'h'],
  [MINUTE, 'min'],
  [SECOND, 's'],
];

/** The two largest units: `3 d 4 h`, `12 min`, `0 s`. */
export function lengthInWords(length: number): string {
  const left = Math.max(0, Math.round(length / SECOND)) * SECOND;
  const first = UNITS.findIndex(([unit]) => left >= unit);
  if (first < 0) return '0 s';
  const [unit, name] = UNITS[first]!;
  const [next, nextName] = UNITS[first + 1] ?? [SECOND, ''];
  const rest = Math.floor((left % unit) / next);
  const head = `${Math.floor(left / unit)} ${name}`;
  return rest === 0 || nextName === '' ? head : `${head} ${rest} ${nextName}`;
}

/** `in 3 d 4 h`, `12 min ago`. */
export const fromNow = (at: number, now: number): string =>
  at > now ? `in ${lengthInWords(at - now)}` : `${lengthInWords(now - at)} ago`;
