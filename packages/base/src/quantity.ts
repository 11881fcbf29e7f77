// Kubernetes quantities ("1500m", "2Gi", "1e3") as exact values. Parsing follows the API server: values finer than a
// billionth are rounded up, binary amounts are capped at 2^63-1.

const MAX_INT64 = 2n ** 63n - 1n;
const MIN_INT64 = -(2n ** 63n);
const NANO = -9;
// This many digits always fit an int64.
const SAFE_DIGITS = 18;
// A sanity limit: arithmetic on far larger powers would not finish.
const MAX_EXPONENT = 400;

const DECIMAL: Readonly<Record<string, number>> = {
  n: -9,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
  E: 18,
};
const BINARY: Readonly<Record<string, number>> = { Ki: 10, Mi: 20, Gi: 30, Ti: 40, Pi: 50, Ei: 60 };

/** The value unscaled × 10^scale. */
export interface Quantity {
  readonly unscaled: bigint;
  readonly scale: number;
  /** Stored as int64 and scale instead of an arbitrary decimal. Only these quantities can count as integers. */
  readonly small: boolean;
}

export type ParsedQuantity = { readonly quantity: Quantity } | { readonly problem: string };

const FORMAT = {
  problem: "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
};
const SUFFIX = { problem: "unable to parse quantity's suffix" };
const TEXT = /^([+-]?)0*(\d*)(?:\.(\d*))?([eEinumkKMGTP]*[-+]?\d*)$/;

/**
 * Parses a quantity. Error messages equal those of the API server. A text without digits is zero, as on the API server.
 */
export function parseQuantity(text: string): ParsedQuantity {
  const parts = text === '' ? null : TEXT.exec(text);
  if (parts === null) return FORMAT;
  const [, sign, whole = '', fraction = '', suffix = ''] = parts;
  const unit = interpret(suffix);
  if (unit === undefined) return SUFFIX;
  const magnitude = BigInt(`${whole}${fraction}` || '0');
  const value = { magnitude, scale: unit.decimal - fraction.length, binary: unit.binary };
  const digits = Math.max(1, whole.length) + fraction.length;
  const amount = small(value, digits, fraction === '') ?? large(value);
  return { quantity: sign === '-' ? { ...amount, unscaled: -amount.unscaled } : amount };
}

interface Raw {
  readonly magnitude: bigint;
  readonly scale: number;
  /** A power of two. */
  readonly binary: number;
}

function interpret(suffix: string): { decimal: number; binary: number } | undefined {
  if (Object.hasOwn(DECIMAL, suffix)) return { decimal: DECIMAL[suffix]!, binary: 0 };
  if (Object.hasOwn(BINARY, suffix)) return { decimal: 0, binary: BINARY[suffix]! };
  if (!/^[eE][-+]?\d+$/.test(suffix)) return undefined;
  const exponent = Number(suffix.slice(1));
  return Math.abs(exponent) <= MAX_EXPONENT ? { decimal: exponent, binary: 0 } : undefined;
}

/** The int64 form, or undefined if the amount may not fit. */
function small({ magnitude, scale, binary }: Raw, digits: number, isWhole: boolean): Quantity | undefined {
  const room = binary === 0 ? SAFE_DIGITS - digits : 15 - digits - Math.trunc((binary * 3) / 10) - 1;
  if (room < 0 || scale < NANO || (binary > 0 && !isWhole)) return undefined;
  const unscaled = magnitude << BigInt(binary);
  return unscaled > MAX_INT64 ? undefined : { unscaled, scale, small: true };
}

/** The arbitrary-precision form: rounded up to billionths, binary amounts capped. */
function large({ magnitude, scale, binary }: Raw): Quantity {
  let unscaled = magnitude << BigInt(binary);
  let at = scale;
  if (at < NANO) {
    const divisor = 10n ** BigInt(NANO - at);
    unscaled = (unscaled + divisor - 1n) / divisor;
    at = NANO;
  }
  const amount: Quantity = { unscaled, scale: at, small: false };
  const cap: Quantity = { unscaled: MAX_INT64, scale: 0, small: false };
  return binary > 0 && compareQuantities(amount, cap) > 0 ? cap : amount;
}

/** Both amounts at the lower of their scales. */
function aligned(a: Quantity, b: Quantity): readonly [bigint, bigint, number] {
  const scale = Math.min(a.scale, b.scale);
  const lift = (q: Quantity) => q.unscaled * 10n ** BigInt(q.scale - scale);
  return [lift(a), lift(b), scale];
}

export function compareQuantities(a: Quantity, b: Quantity): -1 | 0 | 1 {
  const [x, y] = aligned(a, b);
  return x < y ? -1 : x > y ? 1 : 0;
}

export function addQuantities(a: Quantity, b: Quantity): Quantity {
  if (a.unscaled === 0n) return b;
  if (b.unscaled === 0n) return a;
  const [x, y, scale] = aligned(a, b);
  const fits = [x, y, x + y].every((n) => n >= MIN_INT64 && n <= MAX_INT64);
  return { unscaled: x + y, scale, small: a.small && b.small && fits };
}

export const negateQuantity = (q: Quantity): Quantity => ({ ...q, unscaled: -q.unscaled });
export const integerQuantity = (n: bigint): Quantity => ({ unscaled: n, scale: 0, small: true });

/** The integer value, or undefined if the API server does not treat the quantity as an integer. */
export function quantityAsInteger(q: Quantity): bigint | undefined {
  if (!q.small || q.scale < 0) return undefined;
  const value = q.unscaled * 10n ** BigInt(q.scale);
  return value >= MIN_INT64 && value <= MAX_INT64 ? value : undefined;
}

export const quantityAsNumber = (q: Quantity): number =>
  q.scale === 0 ? Number(q.unscaled) : Number(q.unscaled) * 10 ** q.scale;
