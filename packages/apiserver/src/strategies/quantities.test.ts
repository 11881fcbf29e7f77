// Exact comparison of quantities, and where resource names are allowed.

import { describe, expect, test } from 'vitest';
import {
  basicQuantity,
  compareQuantities,
  containerResourceName,
  isExtended,
  nanos,
  quantityValue,
  quotaResourceName,
  withMissing,
} from './quantities.ts';

describe('amounts', () => {
  test.each([
    ['1', 1_000_000_000n],
    ['500m', 500_000_000n],
    ['1n', 1n],
    ['0.5', 500_000_000n],
    ['.5', 500_000_000n],
    ['1.', 1_000_000_000n],
    ['1e3', 1_000_000_000_000n],
    ['1E', 10n ** 27n],
    ['1Ki', 1024n * 10n ** 9n],
    ['-2', -2_000_000_000n],
    ['0.0000000001', 1n],
    [3, 3_000_000_000n],
    [undefined, 0n],
    ['what', 0n],
    ['1e999', 0n],
    [{}, 0n],
  ])('%j', (quantity, amount) => {
    expect(nanos(quantity)).toBe(amount);
  });

  test.each([
    ['1', '1000m', 0],
    ['1Gi', '1G', 1],
    ['0.1', '100m', 0],
    ['9007199254740993', '9007199254740992', 1],
    ['-1', '0', -1],
  ])('%s beside %s', (a, b, order) => {
    expect(compareQuantities(a, b)).toBe(order);
  });
});

const complaints = (errors: readonly { message: string }[]) => errors.map((e) => e.message);

test.each([
  ['cpu', '-1', ['Invalid value: "-1": must be greater than or equal to 0']],
  ['pods', '500m', ['Invalid value: "500m": must be an integer']],
  ['ex.com/gpu', '1', []],
  ['cpu', '500m', []],
])('%s of %s', (name, amount, expected) => {
  expect(complaints(quantityValue(name, amount, 'x'))).toEqual(expected);
});

test('rounds negative amounts away from zero when it prints whole numbers', () => {
  expect(complaints(basicQuantity('-1500m', 'x'))).toEqual([
    'Invalid value: -2: must be a valid resource quantity',
  ]);
});

test.each([
  ['cpu', 0, 0],
  ['pods', 1, 0],
  ['hugepages-2Mi', 0, 0],
  ['ex.com/gpu', 0, 0],
  ['gpu', 2, 2],
  ['a b', 2, 2],
  ['requests.ex.com/gpu', 1, 0],
])('%s in a container and in a quota', (name, inContainer, inQuota) => {
  expect(containerResourceName(name, 'x')).toHaveLength(inContainer);
  expect(quotaResourceName(name, 'x')).toHaveLength(inQuota);
});

test('rejects names that only resemble extended resources', () => {
  expect(['ex.com/a', 'a', 'kubernetes.io/a', 'requests.ex.com/a'].map(isExtended)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

test('takes missing entries from the other list, with any name', () => {
  const from = JSON.parse('{"cpu":"1","__proto__":"2","toString":"3"}');
  const filled = withMissing({ cpu: '5' }, from);
  expect(filled['cpu']).toBe('5');
  expect(Object.hasOwn(filled, 'toString')).toBe(true);
});
