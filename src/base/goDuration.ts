// Durations as Go writes them ("1h30m", "-1.5s", "250ms"), exact to the nanosecond and within Go's own range of a
// signed 64-bit count of nanoseconds (about 292 years either way).

/** A length of time: `seconds` is the floor, `nanos` (0 to 999,999,999) is always added to it. */
export interface ExactDuration {
  readonly seconds: number;
  readonly nanos: number;
}

const UNIT_NANOS: Readonly<Record<string, bigint>> = {
  ns: 1n,
  us: 1_000n,
  µs: 1_000n,
  μs: 1_000n,
  ms: 1_000_000n,
  s: 1_000_000_000n,
  m: 60_000_000_000n,
  h: 3_600_000_000_000n,
};

const MAX_NANOS = 2n ** 63n;
const PIECE = /(\d*)(?:\.(\d*))?(ns|us|µs|μs|ms|s|m|h)/y;
// Beyond this many digits the fraction cannot change the result any more.
const FRACTION_DIGITS = 18;

/** Splits nanoseconds into floor seconds and the rest. */
export function splitNanos(nanos: bigint): ExactDuration {
  let seconds = nanos / 1_000_000_000n;
  let rest = nanos % 1_000_000_000n;
  if (rest < 0n) {
    rest += 1_000_000_000n;
    seconds -= 1n;
  }
  return { seconds: Number(seconds), nanos: Number(rest) };
}

/** Reads what Go's time.ParseDuration reads; undefined for anything else, and for what does not fit. */
export function parseGoDuration(text: string): ExactDuration | undefined {
  const signed = text.startsWith('-') || text.startsWith('+');
  const body = signed ? text.slice(1) : text;
  if (body === '0') return { seconds: 0, nanos: 0 };
  const magnitude = sumPieces(body);
  if (magnitude === undefined) return undefined;
  const negative = text.startsWith('-');
  // The most negative value has no positive counterpart.
  if (magnitude > (negative ? MAX_NANOS : MAX_NANOS - 1n)) return undefined;
  return splitNanos(negative ? -magnitude : magnitude);
}

function sumPieces(body: string): bigint | undefined {
  if (body === '') return undefined;
  let total = 0n;
  PIECE.lastIndex = 0;
  for (let at = 0; at < body.length; at = PIECE.lastIndex) {
    const piece = PIECE.exec(body);
    if (piece === null) return undefined;
    const [, whole = '', fraction = '', unit = ''] = piece;
    if (whole === '' && fraction === '') return undefined;
    const scale = UNIT_NANOS[unit]!;
    const digits = fraction.slice(0, FRACTION_DIGITS);
    total += BigInt(whole) * scale + (BigInt(digits) * scale) / 10n ** BigInt(digits.length);
    if (total > MAX_NANOS) return undefined;
  }
  return total;
}
