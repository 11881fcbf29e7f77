// resource.Quantity: `500m`, `1Gi`, `1e3`. Kubernetes does not always store the sent text: "0.5" becomes "500m",
// "1024Mi" becomes "1Gi", but "1.500" stays. The rules follow the Go type, with digit strings instead of big numbers.

export class QuantityError extends Error {}

const FORMAT_WRONG =
  "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
const NUMERIC = 'unable to parse numeric part of quantity';
const SUFFIX = "unable to parse quantity's suffix";

type Format = 'DecimalSI' | 'BinarySI' | 'DecimalExponent';

/** ± digits · 10^exponent; `text` is set when Go keeps the original text. */
interface Amount {
  negative: boolean;
  /** Without leading zeros; `0` is the empty string. */
  digits: string;
  exponent: number;
  format: Format;
  text?: string;
}

const DECIMAL = new Map([
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
]);
const BINARY = new Map([
  ['Ki', 10],
  ['Mi', 20],
  ['Gi', 30],
  ['Ti', 40],
  ['Pi', 50],
  ['Ei', 60],
]);
const DECIMAL_SUFFIX = new Map([...DECIMAL].map(([suffix, exponent]) => [exponent, suffix]));
const BINARY_SUFFIX = ['', ...BINARY.keys()];
const INT64_MAX = 2n ** 63n - 1n;
const NANO = -9;
const MILLI = -3;

/** The text as returned by the API server. Throws QuantityError. */
export const canonicalQuantity = (text: string): string => formatQuantity(parseQuantity(text.trim()));

/** The same for ResourceLists, whose values Kubernetes rounds up to thousandths when it applies defaults. */
export function canonicalResource(text: string): string {
  const amount = parseQuantity(text.trim());
  return formatQuantity(amount.exponent < MILLI ? roundUp(amount, MILLI) : amount);
}

function parseQuantity(text: string): Amount {
  if (text === '') throw new QuantityError(FORMAT_WRONG);
  const match = /^([+-]?)(\d*)(?:\.(\d*))?([a-zA-Z]*[-+]?\d*)$/.exec(text);
  const [, sign, integer = '', fraction = '', suffix = ''] = match ?? [];
  if (match === null || /[^eEinumkKMGTP\d+-]/.test(suffix)) throw new QuantityError(FORMAT_WRONG);
  const scale = interpretSuffix(suffix);
  const parts = { text, negative: sign === '-', whole: stripLeadingZeros(integer), fraction, suffix };
  return scale.format === 'BinarySI' ? parseBinary(parts, scale.exponent) : parseDecimal(parts, scale);
}

interface Parts {
  readonly text: string;
  readonly negative: boolean;
  /** Without leading zeros. */
  readonly whole: string;
  readonly fraction: string;
  readonly suffix: string;
}

/** In Go an empty numerator is "0", which counts as a digit. */
const digitCount = ({ whole, fraction }: Parts): number => Math.max(whole.length, 1) + fraction.length;

function parseBinary(parts: Parts, power: number): Amount {
  const { text, negative, whole, fraction, suffix } = parts;
  const exact = fraction === '' ? smallBinary(whole, digitCount(parts), power) : undefined;
  if (exact !== undefined) {
    const amount: Amount = { negative, digits: exact, exponent: 0, format: 'BinarySI' };
    return { ...amount, ...keep(text, Number(whole) % 8 !== 0) };
  }
  requireDigits(text, suffix);
  return largeBinary(negative, whole, fraction, power);
}

function parseDecimal(parts: Parts, scale: { exponent: number; format: Format }): Amount {
  const { text, negative, whole, fraction, suffix } = parts;
  const exponent = scale.exponent - fraction.length;
  const amount = { negative, digits: stripLeadingZeros(whole + fraction), exponent, format: scale.format };
  if (digitCount(parts) <= 18 && exponent >= NANO) {
    const shifted = (whole === '' ? '0' : whole) + fraction;
    return { ...amount, ...keep(text, exponent % 3 === 0 && !shifted.endsWith('000') && shifted[0] !== '0') };
  }
  requireDigits(text, suffix);
  return exponent < NANO ? roundUp(amount, NANO) : amount;
}

/** Go's int64 path parses "." as zero; the exact path requires a digit. */
function requireDigits(text: string, suffix: string): void {
  if (!/\d/.test(text.slice(0, text.length - suffix.length))) throw new QuantityError(NUMERIC);
}

const stripLeadingZeros = (digits: string): string => digits.replace(/^0+/, '');

/** A loop because `/0+$/` retries at every run of zeros in a text of megabytes. */
function stripTrailingZeros(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === 48) end--;
  return digits.slice(0, end);
}

const keep = (text: string, canonical: boolean): { text?: string } => (canonical ? { text } : {});

function interpretSuffix(suffix: string): { exponent: number; format: Format } {
  const decimal = DECIMAL.get(suffix);
  if (decimal !== undefined) return { exponent: decimal, format: 'DecimalSI' };
  const binary = BINARY.get(suffix);
  if (binary !== undefined) return { exponent: binary, format: 'BinarySI' };
  const power = /^[eE]([+-]?\d+)$/.exec(suffix);
  if (power === null || power[1]!.length > 25) throw new QuantityError(SUFFIX);
  const exponent = BigInt(power[1]!.replace('+', ''));
  if (BigInt.asIntN(64, exponent) !== exponent) throw new QuantityError(SUFFIX);
  return { exponent: Number(BigInt.asIntN(32, exponent)), format: 'DecimalExponent' };
}

/** Whole numbers with a binary suffix that Go computes in int64: their digits; undefined when they may be too large. */
function smallBinary(digits: string, length: number, power: number): string | undefined {
  if (15 - length - Math.trunc((power * 3) / 10) - 1 < 0) return undefined;
  return (BigInt(digits) << BigInt(power)).toString().replace(/^0$/, '');
}

function largeBinary(negative: boolean, whole: string, fraction: string, power: number): Amount {
  // Beyond 40 digits only "more than zero" matters: the result is capped above and rounded up below.
  const sticky = /[1-9]/.test(fraction.slice(40)) ? '1' : '';
  const kept = fraction.slice(0, 40) + sticky;
  const unscaled = whole.length > 40 ? INT64_MAX : BigInt(whole + kept) << BigInt(power);
  const exponent = whole.length > 40 ? 0 : -kept.length;
  let amount: Amount = { negative, digits: trimZero(unscaled), exponent, format: 'BinarySI' };
  if (exponent < NANO) amount = roundUp(amount, NANO);
  if (compare(amount, INT64_MAX) > 0) return { ...amount, digits: INT64_MAX.toString(), exponent: 0 };
  if (amount.digits !== '' && compare(amount, 1n) < 0) return { ...amount, format: 'DecimalSI' };
  return amount;
}

const trimZero = (n: bigint): string => (n === 0n ? '' : n.toString());

/** Rounds away from zero to a multiple of 10^exponent. */
function roundUp(amount: Amount, exponent: number): Amount {
  const cut = exponent - amount.exponent;
  const { negative, digits, format } = amount;
  if (digits === '') return { negative, digits, exponent, format };
  const head = digits.slice(0, Math.max(0, digits.length - cut));
  const rounds = /[1-9]/.test(digits.slice(head.length));
  return { negative, digits: rounds ? increment(head) : head, exponent, format };
}

function increment(digits: string): string {
  let end = digits.length;
  while (end > 0 && digits.charCodeAt(end - 1) === 57) end--;
  const head = digits.slice(0, end);
  const bumped = head === '' ? '1' : head.slice(0, -1) + (Number(head.at(-1)) + 1);
  return bumped + '0'.repeat(digits.length - end);
}

/** Compares the magnitude with a whole number, for amounts with few digits (all binary ones). */
function compare(amount: Amount, whole: bigint): number {
  const unscaled = BigInt(amount.digits);
  const [left, right] =
    amount.exponent >= 0
      ? [unscaled * 10n ** BigInt(amount.exponent), whole]
      : [unscaled, whole * 10n ** BigInt(-amount.exponent)];
  return left < right ? -1 : left > right ? 1 : 0;
}

function formatQuantity(amount: Amount): string {
  if (amount.text !== undefined) return amount.text;
  if (amount.digits === '') return '0';
  const sign = amount.negative ? '-' : '';
  if (amount.format === 'BinarySI' && compare(amount, 1024n) >= 0) {
    const whole = asInteger(amount);
    if (whole !== undefined) return sign + formatBinary(whole);
  }
  return sign + formatDecimal(amount);
}

/** The value as an integer; undefined when it has a fraction. */
function asInteger({ digits, exponent }: Amount): bigint | undefined {
  if (exponent >= 0) return BigInt(digits) * 10n ** BigInt(exponent);
  return /[1-9]/.test(digits.slice(exponent)) || digits.length <= -exponent
    ? undefined
    : BigInt(digits.slice(0, exponent));
}

function formatBinary(value: bigint): string {
  let power = 0;
  while (value >= 1024n && value % 1024n === 0n) {
    value /= 1024n;
    power++;
  }
  return `${value}${BINARY_SUFFIX[power] ?? ''}`;
}

function formatDecimal(amount: Amount): string {
  const stripped = stripTrailingZeros(amount.digits);
  let exponent = amount.exponent + amount.digits.length - stripped.length;
  const padding = ((exponent % 3) + 3) % 3;
  exponent -= padding;
  const number = stripped + '0'.repeat(padding);
  if (amount.format === 'DecimalExponent') return exponent === 0 ? number : `${number}e${exponent}`;
  // Above exa Go has no suffix and writes none.
  return number + (DECIMAL_SUFFIX.get(exponent) ?? '');
}
