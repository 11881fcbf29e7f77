import { expect, test } from 'vitest';
import { warningHeaders } from './warnings.ts';

test.each<[string, string[], string[]]>([
  ['one text, one header', ['unknown field "a"'], ['299 - "unknown field \\"a\\""']],
  ['the same text is said once', ['a', 'b', 'a'], ['299 - "a"', '299 - "b"']],
  ['what would end the header is left out', ['a\r\nset-cookie: x', '', 'b'], ['299 - "b"']],
  ['characters beyond ASCII travel as UTF-8', ['ü'], ['299 - "\u00c3\u00bc"']],
  ['backslashes are escaped', ['a\\b'], ['299 - "a\\\\b"']],
])('%s', (_, texts, headers) => {
  expect(warningHeaders(texts)).toEqual(headers);
});

test('exactly 4096 characters are said in full', () => {
  const texts = Array.from({ length: 8 }, (_, i) => String(i).repeat(512));
  expect(warningHeaders(texts).every((h) => h.length === 512 + '299 - ""'.length)).toBe(true);
});

test('one more, and each is cut to 256, until 4096 are written', () => {
  const texts = [...Array.from({ length: 20 }, (_, i) => String.fromCharCode(97 + i).repeat(512))];
  const headers = warningHeaders(texts);
  expect(headers).toHaveLength(16);
  expect(headers[0]).toBe(`299 - "${'a'.repeat(256)}"`);
});

test('a flood is cut', () => {
  const texts = Array.from({ length: 500_000 }, (_, i) => `unknown field "f${i}"`);
  expect(warningHeaders(texts).join().length).toBeLessThan(8192);
});
