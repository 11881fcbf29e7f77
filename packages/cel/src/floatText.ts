// Formats doubles like Go's strconv: a fixed number of digits with exact rounding (half to even), or the shortest
// digits without an exponent.

/** A finite double as an exact fraction: mantissa × 2^exponent. */
function decompose(d: number): readonly [mantissa: bigint, exponent: number] {
  const bits = new DataView(new ArrayBuffer(8));
  bits.setFloat64(0, d);
  const raw = bits.getBigUint64(0);
  const biased = Number((raw >> 52n) & 0x7ffn);
  const fraction = raw & 0xfffffffffffffn;
  return biased === 0 ? [fraction, -1074] : [fraction | 0x10000000000000n, biased - 1075];
}

/** numerator / denominator rounded to the nearest integer, ties to even. */
function roundHalfEven(numerator: bigint, denominator: bigint): bigint {
  const quotient = numerator / denominator;
  const twice = 2n * (numerator % denominator);
  if (twice < denominator) return quotient;
  if (twice > denominator) return quotient + 1n;
  return quotient % 2n === 0n ? quotient : quotient + 1n;
}

/** |d| × 10^power, rounded. */
function scaled(d: number, power: number): bigint {
  const [mantissa, exponent] = decompose(Math.abs(d));
  const up = 10n ** BigInt(Math.max(power, 0)) * 2n ** BigInt(Math.max(exponent, 0));
  const down = 10n ** BigInt(Math.max(-power, 0)) * 2n ** BigInt(Math.max(-exponent, 0));
  return roundHalfEven(mantissa * up, down);
}

const sign = (d: number): string => (d < 0 || Object.is(d, -0) ? '-' : '');

/** %.<precision>f */
export function formatFixed(d: number, precision: number): string {
  const digits = scaled(d, precision)
    .toString()
    .padStart(precision + 1, '0');
  const whole = digits.slice(0, digits.length - precision);
  return `${sign(d)}${whole}${precision > 0 ? `.${digits.slice(-precision)}` : ''}`;
}

/** %.<precision>e */
export function formatScientific(d: number, precision: number): string {
  let exponent = d === 0 ? 0 : Math.floor(Math.log10(Math.abs(d)));
  let digits = scaled(d, precision - exponent).toString();
  // The logarithm may be off by one, and rounding up may add a digit.
  while (d !== 0 && digits.length !== precision + 1) {
    exponent += digits.length > precision + 1 ? 1 : -1;
    digits = scaled(d, precision - exponent).toString();
  }
  digits = digits.padStart(precision + 1, '0');
  const fraction = precision > 0 ? `.${digits.slice(1)}` : '';
  const shown = String(Math.abs(exponent)).padStart(2, '0');
  return `${sign(d)}${digits[0]}${fraction}e${exponent < 0 ? '-' : '+'}${shown}`;
}

/** The shortest digits that parse to the same number, without an exponent. */
export function formatPlain(d: number): string {
  const [mantissa = '0', exponentText = '0'] = d.toExponential().split('e');
  const digits = mantissa.replace(/[-.]/g, '');
  const point = Number(exponentText) + 1;
  const text =
    point <= 0
      ? `0.${'0'.repeat(-point)}${digits}`
      : digits.length <= point
        ? digits.padEnd(point, '0')
        : `${digits.slice(0, point)}.${digits.slice(point)}`;
  return `${sign(d)}${d === 0 ? '0' : text}`;
}
