// parsePlainJson returns the result of parseJson, or undefined.

import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseJson } from './jsonParse.ts';
import { parsePlainJson } from './jsonPlain.ts';

const DEPTH = 5;
const plain = (text: string | Uint8Array) => parsePlainJson(Buffer.from(text), DEPTH);

describe('parses plain texts', () => {
  test.each([
    ['an object', '{"a":1,"b":[true,null,"x"],"c":{}}'],
    ['an object with the trailing newline of Go', '{"a":1}\n'],
    ['text beyond ASCII', '{"ä":"日本\u{1f600}"}'],
    ['text with escapes', '{"a":"\\n\\"\\\\"}'],
    ['keys with prototype names', '{"__proto__":{"a":1},"constructor":2}'],
    ['the maximum depth', '{"a":{"a":{"a":{"a":[]}}}}'],
    ['the largest exact integer', '{"a":9007199254740991,"b":-1}'],
  ])('%s', (_name, text) => {
    expect(plain(text)).toEqual(parseJson(text).value);
  });
});

describe('returns undefined for other texts', () => {
  test.each([
    ['spaces', '{"a": 1}'],
    ['a repeated key', '{"a":1,"a":1}'],
    ['a repeated key in a nested object', '{"a":[{"b":1,"b":2}]}'],
    ['a fraction', '{"a":1.5}'],
    ['an integer written as a fraction', '{"a":1.0}'],
    ['an exponent', '{"a":1e3}'],
    ['minus zero', '{"a":-0}'],
    ['an integer beyond 2^53', '{"a":9007199254740993}'],
    ['half of a surrogate pair', '{"a":"\\ud800"}'],
    ['too deep', '{"a":{"a":{"a":{"a":{"a":{"a":1}}}}}}'],
    ['keys that JavaScript reorders', '{"b":1,"1":2}'],
    ['a value that is not an object', '[1]'],
    ['invalid JSON', '{"a":1'],
    ['trailing text', '{"a":1}}'],
    ['two trailing newlines', '{"a":1}\n\n'],
    ['an empty text', ''],
    ['invalid UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ])('%s', (_name, text) => {
    expect(plain(text)).toBeUndefined();
  });
});

test('the result equals that of the exact parser, which records no notes', () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 4 }), (text) => {
      const value = plain(text);
      if (value === undefined) return;
      const exact = parseJson(text, { notes: true });
      expect(value).toEqual(exact.value);
      expect([exact.duplicates.length, exact.notes?.literals.size, exact.notes?.duplicates.size]).toEqual([
        0, 0, 0,
      ]);
    }),
    { numRuns: 200 },
  );
});
