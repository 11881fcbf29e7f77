import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Json } from './json.ts';
import { JsonRangeError, JsonSyntaxError, parseJson } from './jsonParse.ts';
import { writeJson } from './jsonWrite.ts';

const bytes = (...parts: (string | number[])[]): Uint8Array =>
  Buffer.concat(parts.map((p) => (typeof p === 'string' ? Buffer.from(p) : Buffer.from(p))));

function errorOf(text: string): string {
  try {
    parseJson(text);
    return 'accepted';
  } catch (error) {
    return (error as Error).message;
  }
}

describe('values', () => {
  test.each<[string, Json]>([
    ['null', null],
    [' true ', true],
    ['-0', 0],
    ['12.50', 12.5],
    ['1e3', 1000],
    ['9007199254740991', 9007199254740991],
    ['9007199254740993', 9007199254740993n],
    ['-9223372036854775808', -9223372036854775808n],
    ['9223372036854775807', 9223372036854775807n],
    ['9223372036854775808', 2 ** 63],
    ['"\\u00e9\\n\\/\\ud83d\\ude00"', 'é\n/😀'],
    ['"\\ud800x"', '\ufffdx'],
    ['"\\ud800\\n"', '\ufffd\n'],
    ['"\\ud800xu0041"', '\ufffdxu0041'],
    ['"\\udc00\\ud800\\u0041"', '\ufffd\ufffdA'],
    ['[]', []],
    ['[ 1 , [ ] , { } ]', [1, [], {}]],
    ['{"a":{"b":[{"c":null}]}}', { a: { b: [{ c: null }] } }],
    ['{"constructor":1,"toString":2}', { constructor: 1, toString: 2 } as unknown as Json],
  ])('%s', (text, value) => {
    expect(parseJson(text)).toEqual({ value, duplicates: [] });
    expect(parseJson(Buffer.from(text)).value).toEqual(value);
  });

  test('__proto__ is an ordinary key', () => {
    const { value } = parseJson('{"__proto__":{"polluted":true}}');
    expect(Object.keys(value as object)).toEqual(['__proto__']);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
    expect(writeJson(value)).toBe('{"__proto__":{"polluted":true}}');
  });

  test.each<[string, Uint8Array, string]>([
    ['a stray byte', bytes('"a', [0xff], 'b"'), 'a\ufffdb'],
    ['each byte of a truncated character counts', bytes('"', [0xe2, 0x82], '"'), '\ufffd\ufffd'],
    ['an encoded surrogate', bytes('"', [0xed, 0xa0, 0x80], '"'), '\ufffd\ufffd\ufffd'],
    ['an overlong slash', bytes('"', [0xc0, 0xaf], 'ä"'), '\ufffd\ufffdä'],
  ])('invalid UTF-8 becomes U+FFFD: %s', (_, input, value) => {
    expect(parseJson(input).value).toBe(value);
  });

  test('an error names the invalid byte, also after a valid U+FFFD', () => {
    expect(() => parseJson(bytes('["\ufffd"', [0xff], ']'))).toThrow(
      "invalid character 'ÿ' after array element",
    );
  });
});

describe('errors with the messages of Go', () => {
  test.each<[string, string]>([
    ['', 'unexpected end of JSON input'],
    ['{"a":', 'unexpected end of JSON input'],
    ['{"a"', 'unexpected end of JSON input'],
    ['{"a":1,', 'unexpected end of JSON input'],
    ['"abc', 'unexpected end of JSON input'],
    ['{oops}', "invalid character 'o' looking for beginning of object key string"],
    ['{"a" 1}', "invalid character '1' after object key"],
    ['{"a":1 "b"}', "invalid character '\"' after object key:value pair"],
    ['[1 2]', "invalid character '2' after array element"],
    ['[1,]', "invalid character ']' looking for beginning of value"],
    ['{} x', "invalid character 'x' after top-level value"],
    ["'a'", "invalid character '\\'' looking for beginning of value"],
    ['\ufeff{}', "invalid character 'ï' looking for beginning of value"],
    ['"a\nb"', "invalid character '\\n' in string literal"],
    ['"a\u0000"', "invalid character '\\x00' in string literal"],
    ['"\\x"', "invalid character 'x' in string escape code"],
    ['"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"],
    ['-', "invalid character ' ' in numeric literal"],
    ['01', "invalid character '1' after top-level value"],
    ['1.', "invalid character ' ' after decimal point in numeric literal"],
    ['1e+', "invalid character ' ' in exponent of numeric literal"],
    ['\x01{}', "invalid character '\\x01' looking for beginning of value"],
    ['[1\x0b]', "invalid character '\\v' after array element"],
    ['tru', "invalid character ' ' in literal true (expecting 'e')"],
    ['nulL', "invalid character 'L' in literal null (expecting 'l')"],
    ['[1e999] x', "invalid character 'x' after top-level value"],
  ])('%j', (text, message) => {
    expect(() => parseJson(text)).toThrow(JsonSyntaxError);
    expect(errorOf(text)).toBe(message);
  });

  test('a number beyond float64 is a type error', () => {
    expect(() => parseJson('[1,{"a":-1e999}]')).toThrow(new JsonRangeError('-1e999'));
  });

  test('a million digits are parsed quickly', () => {
    expect(parseJson(`[${'9'.repeat(300)}]`).value).toEqual([1e300]);
    expect(() => parseJson('9'.repeat(1_000_000))).toThrow(JsonRangeError);
  });
});

describe('depth', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  test('10,000 levels are parsed without recursion', () => {
    let depth = 0;
    for (let v: Json | undefined = parseJson(nested(10_000)).value; Array.isArray(v); v = v[0]) depth++;
    expect(depth).toBe(10_000);
  });
  test.each(['[', '{"a":'])('one level more is rejected (%s)', (open) => {
    expect(() => parseJson(open.repeat(10_001))).toThrow(`invalid character '${open[0]}' exceeded max depth`);
    expect(() => parseJson(open.repeat(1_000_000))).toThrow('exceeded max depth');
  });
  test('a lower limit can be configured', () => {
    expect(parseJson(nested(3), { maxDepth: 3 }).value).toEqual([[[]]]);
    expect(() => parseJson(nested(4), { maxDepth: 3 })).toThrow('exceeded max depth');
  });
});

describe('duplicate keys', () => {
  test.each<[string, string[], Json]>([
    ['{"a":1,"a":2}', ['a'], { a: 2 }],
    ['{"a":1,"a":2,"a":3}', ['a'], { a: 3 }],
    ['{"spec":{"l":[0,{"k":1,"k":2}]}}', ['spec.l[1].k'], { spec: { l: [0, { k: 2 }] } }],
    ['[[{"k":1,"\\u006b":2}]]', ['[0][0].k'], [[{ k: 2 }]]],
    ['{"toString":1}', [], { toString: 1 } as unknown as Json],
    ['{"a":{"b":1},"a":{"b":2}}', ['a'], { a: { b: 2 } }],
  ])('%s', (text, duplicates, value) => {
    expect(parseJson(text)).toEqual({ duplicates, value });
  });

  test('thousands of repeated keys do not slow parsing down', () => {
    const keys = Array.from({ length: 50_000 }, (_, i) => `"k${i}":1`).join(',');
    const again = '"k1":2,'.repeat(50_000);
    expect(parseJson(`{${keys},${again}"z":1}`, { notes: true }).duplicates).toEqual(['k1']);
    expect(parseJson(`{${keys},${keys}}`, { notes: true }).duplicates).toHaveLength(100);
  });

  test('at most 100 duplicates are reported', () => {
    const text = Array.from({ length: 300 }, (_, i) => `"k${i}":1,"k${i}":2`).join(',');
    expect(parseJson(`{${text}}`).duplicates).toHaveLength(100);
  });
});

describe('notes for typed decoding', () => {
  test('records the source text of numbers that are not plain integers', () => {
    const { value, notes } = parseJson('{"a":1.0,"b":7,"c":[1e3,99999999999999999999]}', { notes: true });
    const object = value as { c: Json[] };
    expect(Object.fromEntries(notes!.literals.get(object)!)).toEqual({ a: '1.0' });
    expect(Object.fromEntries(notes!.literals.get(object.c)!)).toEqual({
      0: '1e3',
      1: '99999999999999999999',
    });
  });
  test('records the position of a duplicate among its siblings', () => {
    const { value, notes } = parseJson('{"a":1,"b":2,"a":3,"c":4}', { notes: true });
    expect(notes!.duplicates.get(value as object)).toEqual([{ key: 'a', before: 2 }]);
  });
});

describe('writeJson', () => {
  test('integers beyond 2^53 are written as digits, undefined is left out', () => {
    expect(writeJson({ a: 9223372036854775807n, b: undefined, c: [1n] })).toBe(
      '{"a":9223372036854775807,"c":[1]}',
    );
  });
  test('written values are parsed back unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = writeJson(value as Json);
        expect(writeJson(parseJson(text).value)).toBe(text);
      }),
    );
  });
  test('any text is either parsed like JSON.parse or rejected by both', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(...'{}[],:"\\ tfn01-.eu') }), (text) => {
        let expected: unknown = 'refused';
        try {
          expected = JSON.parse(text);
        } catch {}
        let actual: unknown = 'refused';
        try {
          actual = parseJson(text).value;
        } catch {}
        expect(writeJson(actual as Json)).toBe(writeJson(expected as Json));
      }),
      { numRuns: 2000 },
    );
  });
});
