import { describe, expect, test } from 'vitest';
import { canonicalQuantity, canonicalResource, QuantityError } from './quantity.ts';

describe('canonical quantities', () => {
  test.each([
    ['0', '0'],
    ['00', '0'],
    ['0.5', '500m'],
    ['0.5Gi', '512Mi'],
    ['1.5Gi', '1536Mi'],
    ['1024Mi', '1Gi'],
    ['1000Mi', '1000Mi'],
    ['12Mi', '12Mi'],
    ['1000m', '1'],
    ['1500m', '1500m'],
    ['1.500', '1.500'],
    ['1.5', '1500m'],
    ['+1', '+1'],
    ['-1000k', '-1M'],
    ['1e3', '1e3'],
    ['1000e3', '1e6'],
    ['1E', '1E'],
    ['1000E', '1'],
    ['100Ki', '100Ki'],
    ['1023', '1023'],
    ['0.0000000001', '1n'],
    ['1.0000000001', '1000000001n'],
    ['9223372036854775807Gi', '9223372036854775807'],
    ['.', '0'],
    [' 5 ', '5'],
  ])('%s → %s', (text, canonical) => {
    expect(canonicalQuantity(text)).toBe(canonical);
  });

  test.each([
    ['1500u', '2m'],
    ['0.0001', '1m'],
    ['100m', '100m'],
    ['-0.0011', '-2m'],
    ['1.9999', '2'],
  ])('in a ResourceList %s is rounded up to %s', (text, canonical) => {
    expect(canonicalResource(text)).toBe(canonical);
  });
});

const FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
test.each([
  ['', FORMAT],
  ['abc', FORMAT],
  ['1 Gi', FORMAT],
  ['1.2.3', FORMAT],
  ['1KB', FORMAT],
  ['1Kii', "unable to parse quantity's suffix"],
  ['1e', "unable to parse quantity's suffix"],
  ['1e99999999999999999999', "unable to parse quantity's suffix"],
  ['Ei', 'unable to parse numeric part of quantity'],
])('%j is refused', (text, message) => {
  expect(() => canonicalQuantity(text)).toThrow(new QuantityError(message));
});

test('parses megabytes of digits quickly', () => {
  expect(canonicalQuantity(`1${'0'.repeat(1_000_002)}`)).toHaveLength(1);
  expect(canonicalQuantity(`${'0'.repeat(1_000_000)}1000`)).toBe('1k');
  expect(canonicalQuantity(`0.${'9'.repeat(1_000_000)}Ki`)).toBe('1Ki');
  expect(canonicalQuantity('1e-2000000000')).toBe('1e-9');
  expect(() => canonicalQuantity(`${'0'.repeat(1_000_000)}x`)).toThrow(QuantityError);
});
