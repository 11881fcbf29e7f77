// Go durations ("1h30m", "-1.5s", "250ms"): parsing like time.ParseDuration with the same errors, and formatting like
// Duration.String. Values are nanoseconds in a signed 64-bit range, about ±292 years.

import { quote } from './goQuote.ts';

/** The message is identical to Go's. */
export class GoDurationError extends Error {}

/** A length of time. `seconds` is rounded down; `nanos` (0 to 999,999,999) is always added to it. */
export interface ExactDuration {
  readonly seconds: number;
  readonly nanos: number;
}

/** Splits nanoseconds into whole seconds, rounded down, and the rest. */
export function splitNanos(nanos: bigint): ExactDuration {
  let seconds = nanos / 1_000_000_000n;
  let rest = nanos % 1_000_000_000n;
  if (rest < 0n) {
    rest += 1_000_000_000n;
    seconds -= 1n;
  }
  return { seconds: Number(seconds), nanos: Number(rest) };
}

/** Nanoseconds, or undefined if the text is not a duration or overflows. */
export function readGoDuration(text: string): bigint | undefined {
  try {
    return parseGoDuration(text);
  } catch (cause) {
    if (cause instanceof GoDurationError) return undefined;
    throw cause;
  }
}

const UNITS = new Map<string, bigint>([
  ['ns', 1n],
  ['us', 1000n],
  ['µs', 1000n],
  ['μs', 1000n],
  ['ms', 1_000_000n],
  ['s', 1_000_000_000n],
  ['m', 60_000_000_000n],
  ['h', 3_600_000_000_000n],
]);
const LIMIT = 2n ** 63n;

/** `1h30m`, `-1.5s`, `0`. Throws GoDurationError. */
export function parseGoDuration(text: string): bigint {
  const negative = text[0] === '-';
  let rest = negative || text[0] === '+' ? text.slice(1) : text;
  if (rest === '0') return 0n;
  if (rest === '') reject(text);
  let total = 0n;
  while (rest !== '') {
    const [part, whole = '', fraction = '', unit = ''] = /^(\d*)(?:\.(\d*))?([^.\d]*)/.exec(rest)!;
    total += partNanos(text, whole, fraction, unit);
    if (total > LIMIT) reject(text);
    rest = rest.slice(part.length);
  }
  if (negative) return -total;
  if (total === LIMIT) reject(text);
  return total;
}

function reject(text: string, what = 'invalid duration'): never {
  throw new GoDurationError(`time: ${what} ${quote(text)}`);
}

/** The nanoseconds of one number with its unit. */
function partNanos(text: string, whole: string, fraction: string, unit: string): bigint {
  if (whole === '' && fraction === '') reject(text);
  if (whole.length > 30 || BigInt(whole) > LIMIT) reject(text);
  if (unit === '') reject(text, 'missing unit in duration');
  const size = UNITS.get(unit) ?? reject(text, `unknown unit ${quote(unit)} in duration`);
  return BigInt(whole) * size + nanosOf(fraction, size);
}

/** Like Go: accumulates digits while they fit int64, then continues in float64 and truncates. */
function nanosOf(fraction: string, unit: bigint): bigint {
  let digits = fraction.slice(0, 18);
  if (fraction.length > 18 && BigInt(fraction.slice(0, 19)) <= LIMIT) digits = fraction.slice(0, 19);
  if (Number(digits) === 0) return 0n;
  return BigInt(Math.trunc(Number(digits) * (Number(unit) / 10 ** digits.length)));
}

/** At most nine digits after the decimal point. */
const trimZeros = (text: string): string => text.replace(/\.?0+$/, '');

/** `1h30m0s`, `1.5s`, `20µs`, `0s`. */
export function formatGoDuration(nanos: bigint): string {
  if (nanos === 0n) return '0s';
  const sign = nanos < 0n ? '-' : '';
  const size = nanos < 0n ? -nanos : nanos;
  if (size < 1_000_000_000n) return sign + formatBelowSecond(size);
  const seconds = size / 1_000_000_000n;
  const fraction = trimZeros(`.${String(size % 1_000_000_000n).padStart(9, '0')}`);
  const hours = seconds / 3600n;
  const minutes = (seconds / 60n) % 60n;
  const tail = `${seconds % 60n}${fraction}s`;
  if (hours > 0n) return `${sign}${hours}h${minutes}m${tail}`;
  return minutes > 0n ? `${sign}${minutes}m${tail}` : sign + tail;
}

function formatBelowSecond(nanos: bigint): string {
  if (nanos < 1000n) return `${nanos}ns`;
  const [unit, name, digits] =
    nanos < 1_000_000n ? ([1000n, 'µs', 3] as const) : ([1_000_000n, 'ms', 6] as const);
  return `${nanos / unit}${trimZeros(`.${String(nanos % unit).padStart(digits, '0')}`)}${name}`;
}
