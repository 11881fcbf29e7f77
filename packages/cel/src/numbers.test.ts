import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatFixed, formatPlain, formatScientific } from './floatText.ts';
import {
  addInt,
  divInt,
  doubleToInt,
  formatDouble,
  modInt,
  mulInt,
  parseFloat64,
  parseInt64,
  subInt,
  toInt,
} from './numbers.ts';
import { Failure } from './values.ts';

const int64 = fc.oneof(
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
  fc.bigInt({ min: -100n, max: 100n }),
  fc.constantFrom(2n ** 53n, -(2n ** 53n), 2n ** 53n - 1n, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 32n),
);

/** Asserts that the engine's operation equals the exact one on every pair, and that results are in canonical form. */
const agree = (op: typeof addInt, exact: (a: bigint, b: bigint) => bigint) =>
  fc.assert(
    fc.property(int64, int64, (x, y) => {
      const [a, b] = [toInt(x), toInt(y)];
      if (a instanceof Failure || b instanceof Failure) return;
      const zero = y === 0n && (op === divInt || op === modInt);
      expect(op(a, b)).toEqual(zero ? expect.any(Failure) : toInt(exact(x, y)));
      expect(Object.is(op(a, b), -0)).toBe(false);
    }),
  );

describe('64-bit integers are exact', () => {
  it('sum', () => agree(addInt, (a, b) => a + b));
  it('difference', () => agree(subInt, (a, b) => a - b));
  it('product', () => agree(mulInt, (a, b) => a * b));
  it('quotient, truncated towards zero', () => agree(divInt, (a, b) => a / b));
  it('remainder, with the sign of the dividend, if the quotient fits', () =>
    agree(modInt, (a, b) => (a === -(2n ** 63n) && b === -1n ? 2n ** 63n : a % b)));

  it.each([
    ['9223372036854775807', 2n ** 63n - 1n],
    ['-9223372036854775808', -(2n ** 63n)],
    ['+5', 5],
    ['0005', 5],
    ['9223372036854775808', undefined],
    ['1.0', undefined],
    ['', undefined],
    ['0x10', undefined],
    [' 1', undefined],
  ])('%j reads as %s', (text, value) => {
    expect(parseInt64(text)).toBe(value);
  });

  it('doubles are truncated, and must fit', () => {
    expect(doubleToInt(-2.9)).toBe(-2);
    expect(doubleToInt(2 ** 62)).toBe(2n ** 62n);
    for (const d of [2 ** 63, -(2 ** 63), Number.NaN, Number.POSITIVE_INFINITY])
      expect(doubleToInt(d)).toBeInstanceOf(Failure);
  });
});

describe('doubles as text', () => {
  it.each([
    [0, '0'],
    [-0, '-0'],
    [1, '1'],
    [1.5, '1.5'],
    [100_000, '100000'],
    [1_000_000, '1e+06'],
    [123_456_789, '1.23456789e+08'],
    [0.0001, '0.0001'],
    [0.000_012_34, '1.234e-05'],
    [1e300, '1e+300'],
    [Number.NaN, 'NaN'],
    [Number.POSITIVE_INFINITY, '+Inf'],
  ])('%d is %s', (d, text) => {
    expect(formatDouble(d)).toBe(text);
  });

  it.each([
    [2.5, 0, '2'],
    [1.5, 0, '2'],
    [1.2345, 3, '1.234'],
    [-123.4999, 3, '-123.500'],
    [0.1, 20, '0.10000000000000000555'],
    [1e21, 1, '1000000000000000000000.0'],
    [0, 2, '0.00'],
  ])('%d with %i digits is %s', (d, digits, text) => {
    expect(formatFixed(d, digits)).toBe(text);
  });

  it.each([
    [1052.032911275, 6, '1.052033e+03'],
    [0.000123, 2, '1.23e-04'],
    [9.999, 2, '1.00e+01'],
    [0, 3, '0.000e+00'],
    [-5e-324, 1, '-4.9e-324'],
  ])('%d with %i digits and an exponent is %s', (d, digits, text) => {
    expect(formatScientific(d, digits)).toBe(text);
  });

  it('the shortest digits parse to the same number', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (d) => {
        expect(Number(formatPlain(d))).toBe(d);
        expect(formatPlain(d)).not.toContain('e');
        expect(parseFloat64(formatDouble(d))).toBe(d);
      }),
    );
  });
});
