import { describe, expect, it } from 'vitest';
import {
  addQuantities,
  compareQuantities,
  integerQuantity,
  negateQuantity,
  parseQuantity,
  type Quantity,
  quantityAsInteger,
  quantityAsNumber,
} from './quantity.ts';

function quantity(text: string): Quantity {
  const parsed = parseQuantity(text);
  if ('problem' in parsed) throw new Error(parsed.problem);
  return parsed.quantity;
}

describe('quantities', () => {
  it.each([
    ['1', 1],
    ['1500m', 1.5],
    ['0.5', 0.5],
    ['.5', 0.5],
    ['1.', 1],
    ['2k', 2000],
    ['2Ki', 2048],
    ['1.5Gi', 1_610_612_736],
    ['1e3', 1000],
    ['1E3', 1000],
    ['1E', 1e18],
    ['-1Mi', -1_048_576],
    ['+3', 3],
    ['100n', 1e-7],
    ['1e-12', 1e-9],
    ['-1e-12', -1e-9],
    ['9999Ei', 2 ** 63],
  ])('%s is %d', (text, value) => {
    expect(quantityAsNumber(quantity(text))).toBeCloseTo(value, 12);
  });

  it.each(['', ' 1', '1 ', '1..5', 'abc', '1m5', '--1', '0x10', '1,5'])(
    '%j is rejected as malformed',
    (text) => {
      expect(parseQuantity(text)).toHaveProperty('problem');
    },
  );

  it.each(['1Kib', '1ki', '1e', '1e+', '1mm', '1e99999999'])('%j is rejected for its suffix', (text) => {
    expect(parseQuantity(text)).toHaveProperty('problem');
  });

  it('compare by value, regardless of notation', () => {
    expect(compareQuantities(quantity('1Ki'), quantity('1024'))).toBe(0);
    expect(compareQuantities(quantity('1500m'), quantity('1.5'))).toBe(0);
    expect(compareQuantities(quantity('1Gi'), quantity('1G'))).toBe(1);
    expect(compareQuantities(quantity('-1'), quantity('1m'))).toBe(-1);
  });

  it('add up', () => {
    const sum = addQuantities(quantity('50k'), negateQuantity(integerQuantity(20n)));
    expect(compareQuantities(sum, quantity('49980'))).toBe(0);
    expect(quantityAsInteger(addQuantities(quantity('100m'), quantity('900m')))).toBeUndefined();
  });

  it('are integers as on the API server: by notation, not by value', () => {
    expect(quantityAsInteger(quantity('50k'))).toBe(50_000n);
    expect(quantityAsInteger(quantity('1000m'))).toBeUndefined();
    expect(quantityAsInteger(quantity('1Ei'))).toBeUndefined();
    expect(quantityAsInteger(quantity('1e20'))).toBeUndefined();
  });
});
