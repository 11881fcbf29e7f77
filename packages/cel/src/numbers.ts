// Exact 64-bit integers. An int is a JavaScript number if that is exact, and a bigint otherwise, so the common case
// costs one addition and one test. Results outside 64 bits are errors, as the language requires.

import { Double, type Failure, fail, Uint, type Value } from './values.ts';

export type Int = number | bigint;

const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;
const UINT64_MAX = 2n ** 64n - 1n;

const overflow = (): Failure => fail('integer overflow');
const unsignedOverflow = (): Failure => fail('unsigned integer overflow');

/** The canonical int of an exact result. An error outside the range. */
export function toInt(exact: bigint): Int | Failure {
  if (exact < INT64_MIN || exact > INT64_MAX) return overflow();
  const n = Number(exact);
  return Number.isSafeInteger(n) ? n : exact;
}

export const toUint = (exact: bigint): Uint | Failure =>
  exact < 0n || exact > UINT64_MAX ? unsignedOverflow() : new Uint(exact);

export function addInt(a: Int, b: Int): Int | Failure {
  if (typeof a === 'number' && typeof b === 'number') {
    const r = a + b;
    if (Number.isSafeInteger(r)) return r;
  }
  return toInt(BigInt(a) + BigInt(b));
}

export function subInt(a: Int, b: Int): Int | Failure {
  if (typeof a === 'number' && typeof b === 'number') {
    const r = a - b;
    if (Number.isSafeInteger(r)) return r;
  }
  return toInt(BigInt(a) - BigInt(b));
}

export function mulInt(a: Int, b: Int): Int | Failure {
  if (typeof a === 'number' && typeof b === 'number') {
    const r = a * b;
    // Adding zero turns negative zero into zero.
    if (Number.isSafeInteger(r)) return r + 0;
  }
  return toInt(BigInt(a) * BigInt(b));
}

export function divInt(a: Int, b: Int): Int | Failure {
  if (b === 0) return fail('division by zero');
  if (typeof a === 'number' && typeof b === 'number') return (a - (a % b)) / b + 0;
  return toInt(BigInt(a) / BigInt(b));
}

export function modInt(a: Int, b: Int): Int | Failure {
  if (b === 0) return fail('modulus by zero');
  if (typeof a === 'number' && typeof b === 'number') return (a % b) + 0;
  // The quotient would overflow, and cel-go checks both operations in the same way.
  if (a === INT64_MIN && b === -1) return overflow();
  return toInt(BigInt(a) % BigInt(b));
}

export const negInt = (a: Int): Int | Failure => (typeof a === 'number' ? 0 - a : toInt(-a));

export function arithmeticUint(op: '+' | '-' | '*' | '/' | '%', a: Uint, b: Uint): Uint | Failure {
  const x = a.uintBits;
  const y = b.uintBits;
  switch (op) {
    case '+':
      return toUint(x + y);
    case '-':
      return toUint(x - y);
    case '*':
      return toUint(x * y);
    case '/':
      return y === 0n ? fail('division by zero') : new Uint(x / y);
    default:
      return y === 0n ? fail('modulus by zero') : new Uint(x % y);
  }
}

/** A double as an int, truncated towards zero. */
export function doubleToInt(d: number): Int | Failure {
  // The exclusive bounds are cel-go's: converting the limits themselves is not portable.
  if (!(d > -(2 ** 63) && d < 2 ** 63)) return overflow();
  return toInt(BigInt(Math.trunc(d)));
}

export function doubleToUint(d: number): Uint | Failure {
  if (!(d >= 0 && d < 2 ** 64)) return unsignedOverflow();
  return toUint(BigInt(Math.trunc(d)));
}

/** The JavaScript number of a numeric value, comparable with others. Undefined if it is not numeric. */
export function numericOf(v: Value): number | bigint | undefined {
  if (typeof v === 'number' || typeof v === 'bigint') return v;
  if (v instanceof Double) return v.float64;
  if (v instanceof Uint) return v.uintBits;
  return undefined;
}

/** Mixed kinds compare as doubles, as in cel-go. Integers compare exactly. */
export const equalNumbers = (x: number | bigint, y: number | bigint): boolean =>
  typeof x === typeof y ? x === y : Number(x) === Number(y);

const DECIMAL = /^[+-]?\d+$/;

/** Parses a decimal string like Go's strconv.ParseInt. */
export function parseInt64(text: string): Int | undefined {
  if (!DECIMAL.test(text) || text.length > 64) return undefined;
  const exact = BigInt(text.startsWith('+') ? text.slice(1) : text);
  const r = toInt(exact);
  return typeof r === 'object' ? undefined : r;
}

export function parseUint64(text: string): Uint | undefined {
  if (!/^\d+$/.test(text) || text.length > 64) return undefined;
  const exact = BigInt(text);
  return exact > UINT64_MAX ? undefined : new Uint(exact);
}

const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const HEX_FLOAT = /^([+-]?)0x([0-9a-f]*)\.?([0-9a-f]*)p([+-]?\d+)$/i;
const NAMED_FLOAT: ReadonlyMap<string, number> = new Map([
  ['nan', Number.NaN],
  ['inf', Number.POSITIVE_INFINITY],
  ['+inf', Number.POSITIVE_INFINITY],
  ['-inf', Number.NEGATIVE_INFINITY],
  ['infinity', Number.POSITIVE_INFINITY],
  ['+infinity', Number.POSITIVE_INFINITY],
  ['-infinity', Number.NEGATIVE_INFINITY],
]);

/** Parses a float like Go's strconv.ParseFloat. Undefined also on overflow. */
export function parseFloat64(text: string): number | undefined {
  const named = NAMED_FLOAT.get(text.toLowerCase());
  if (named !== undefined) return named;
  const digits = text.replace(/(?<=[\da-f])_(?=[\da-f])/gi, '');
  const value = FLOAT.test(digits) ? Number(digits) : parseHexFloat(digits);
  return value !== undefined && Number.isFinite(value) ? value : undefined;
}

function parseHexFloat(text: string): number | undefined {
  const parts = HEX_FLOAT.exec(text);
  if (parts === null) return undefined;
  const [, sign, whole = '', fraction = '', power = '0'] = parts;
  if (whole === '' && fraction === '') return undefined;
  const value = Number(BigInt(`0x${whole}${fraction}`)) * 2 ** (Number(power) - 4 * fraction.length);
  return sign === '-' ? -value : value;
}

/** Go's %g with the shortest exact digits: an exponent of at least two digits from 1e6 on and below 1e-4. */
export function formatDouble(d: number): string {
  if (Number.isNaN(d)) return 'NaN';
  if (!Number.isFinite(d)) return d > 0 ? '+Inf' : '-Inf';
  if (d === 0) return Object.is(d, -0) ? '-0' : '0';
  const [mantissa = '', exponentText = '0'] = d.toExponential().split('e');
  const exponent = Number(exponentText);
  if (exponent >= -4 && exponent < 6) return String(d);
  const digits = String(Math.abs(exponent)).padStart(2, '0');
  return `${mantissa}e${exponent < 0 ? '-' : '+'}${digits}`;
}
