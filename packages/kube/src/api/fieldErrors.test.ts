import { describe, expect, test } from 'vitest';
import {
  invalidError,
  notSupported,
  quoteGo,
  quoteValue,
  required,
  tooLong,
  tooMany,
} from './fieldErrors.ts';
import type { Json } from './json.ts';

describe('quoteValue', () => {
  test.each<[Json | undefined, string]>([
    [undefined, 'null'],
    ['a "b"', '"a \\"b\\""'],
    [3_000_000_000, '3000000000'],
    [9223372036854775807n, '9223372036854775807'],
    [0.5, '0.5'],
    [-0.00001, '-1e-05'],
    [123456.5, '123456.5'],
    [1234567.5, '1.2345675e+06'],
    [true, 'true'],
    [{ name: '<a>' }, '{"name":"\\u003ca\\u003e"}'],
    [[1n, null], '[1,null]'],
  ])('formats value %#', (value, text) => {
    expect(quoteValue(value)).toBe(text);
  });
});

test.each([
  ['tab\t and nul\0', '"tab\\t and nul\\x00"'],
  ['\x07\b\f\v\x7f', '"\\a\\b\\f\\v\\x7f"'],
  ['zero\u200bwidth \u00a0 😀 é', '"zero\\u200bwidth \\u00a0 😀 é"'],
])('quoteGo %j', (text, quoted) => {
  expect(quoteGo(text)).toBe(quoted);
});

test('uses the singular for one item', () => {
  expect(tooLong('a', 1).message).toBe('Too long: may not be more than 1 byte');
  expect(tooLong('a', 2).message).toBe('Too long: may not be more than 2 bytes');
  expect(tooMany('a', 2, 1).message).toBe('Too many: 2: must have at most 1 item');
  expect(tooMany('a', 3, 2).message).toBe('Too many: 3: must have at most 2 items');
});

test('the message names each error once, the causes list all of them', () => {
  const errors = [required('spec.a'), required('spec.a'), notSupported('spec.b', 'x', ['y', 'z'])];
  const { status } = invalidError({ group: 'g', kind: 'K' }, 'n', errors);
  expect(status.message).toBe(
    'K.g "n" is invalid: [spec.a: Required value, spec.b: Unsupported value: "x": supported values: "y", "z"]',
  );
  expect(status.details?.causes).toHaveLength(3);
});
