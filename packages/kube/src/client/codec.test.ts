import { describe, expect, it } from 'vitest';
import { encodeBytes, parseBytes, parseText, textOf } from './codec.ts';

describe('parse and encode', () => {
  it.each([
    ['small integers are numbers', '{"a":1}', { a: 1 }],
    ['the largest exact number is a number', '{"a":9007199254740991}', { a: 9007199254740991 }],
    ['a larger integer is a bigint', '{"a":9007199254740993}', { a: 9007199254740993n }],
    ['int64, negative', '[-9223372036854775808]', [-9223372036854775808n]],
    ['white space before the digits', '{"a": \n 9223372036854775807}', { a: 9223372036854775807n }],
    ['digits in a string stay a string', '{"a":"9223372036854775807"}', { a: '9223372036854775807' }],
    ['a fraction is a number', '{"a":1234567890123456.5}', { a: 1234567890123456.5 }],
    ['an exponent is a number', '{"a":1e30}', { a: 1e30 }],
  ])('%s', (_rule, text, value) => {
    expect(parseText(text)).toEqual(value);
  });

  it('parsed values are written back unchanged', () => {
    const text = '{"a":9223372036854775807,"b":[9007199254740993,1,"x"],"c":{"d":-9223372036854775808}}';
    expect(textOf(encodeBytes(parseText(text)))).toBe(text);
  });

  it('prototype names are ordinary keys', () => {
    const value = parseText('{"__proto__":{"polluted":9223372036854775807},"constructor":1}');
    expect(Object.keys(value as object)).toEqual(['__proto__', 'constructor']);
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  });

  it('accepts any Uint8Array, not only Buffer', () => {
    expect(parseBytes(new TextEncoder().encode('{"a":"ü"}'))).toEqual({ a: 'ü' });
  });

  it('a hundred thousand levels give an error or a value, never a crash', () => {
    const deep = '['.repeat(100_000) + ']'.repeat(100_000);
    expect(() => {
      try {
        parseText(deep);
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
      }
    }).not.toThrow();
  });

  it('undefined properties are omitted', () => {
    expect(textOf(encodeBytes({ a: undefined, b: 1 }))).toBe('{"b":1}');
  });
});
