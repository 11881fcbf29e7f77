import { expect, test } from 'vitest';
import { warningHeaders } from './warnings.ts';

test.each<[string, string[], string[]]>([
  ['writes one header per text', ['unknown field "a"'], ['299 - "unknown field \\"a\\""']],
  ['writes each text once', ['a', 'b', 'a'], ['299 - "a"', '299 - "b"']],
  ['drops texts with line breaks', ['a\r\nset-cookie: x', '', 'b'], ['299 - "b"']],
  ['encodes non-ASCII characters as UTF-8', ['ü'], ['299 - "\u00c3\u00bc"']],
  ['backslashes are escaped', ['a\\b'], ['299 - "a\\\\b"']],
])('%s', (_, texts, headers) => {
  expect(warningHeaders(texts)).toEqual(headers);
});

test('keeps up to 4096 characters in full', () => {
  const texts = Array.from({ length: 8 }, (_, i) => String(i).repeat(512));
  expect(warningHeaders(texts).every((h) => h.length === 512 + '299 - ""'.length)).toBe(true);
});

test('above 4096 characters truncates each text to 256 and stops at 4096', () => {
  const texts = [...Array.from({ length: 20 }, (_, i) => String.fromCharCode(97 + i).repeat(512))];
  const headers = warningHeaders(texts);
  expect(headers).toHaveLength(16);
  expect(headers[0]).toBe(`299 - "${'a'.repeat(256)}"`);
});

test('limits a large number of warnings', () => {
  const texts = Array.from({ length: 500_000 }, (_, i) => `unknown field "f${i}"`);
  expect(warningHeaders(texts).join().length).toBeLessThan(8192);
});
