import { describe, expect, test } from 'vitest';
import { decodeBase64, encodeBase64, fromUtf8, gzip, isGzip, sha256, unpackGzip, utf8 } from './codec.ts';

describe('gzip', () => {
  test('unpacking restores the packed bytes, and packing twice gives the same bytes', () => {
    const text = utf8('héllo '.repeat(1000));
    expect(gzip(text)).toEqual(gzip(text));
    expect(isGzip(gzip(text))).toBe(true);
    expect(unpackGzip(gzip(text), 10_000)).toEqual({ kind: 'bytes', bytes: Buffer.from(text) });
  });

  test('unpacking stops at the size limit', () => {
    const bomb = gzip(new Uint8Array(64 * 2 ** 20));
    expect(bomb.length).toBeLessThan(100_000);
    const before = process.memoryUsage().arrayBuffers;
    expect(unpackGzip(bomb, 1 << 20)).toEqual({ kind: 'tooLarge' });
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(8 * 2 ** 20);
  });

  test.each([
    ['cut in the middle', gzip(utf8('x'.repeat(1000))).subarray(0, 15)],
    ['a header only', Uint8Array.of(0x1f, 0x8b, 0x08)],
    ['an empty input', new Uint8Array(0)],
    ['a wrong checksum', Uint8Array.from(gzip(utf8('abc')), (b, i) => (i === 16 ? b ^ 1 : b))],
  ])('%s is corrupt', (_, bytes) => {
    expect(unpackGzip(bytes, 1 << 20).kind).toBe('corrupt');
  });
});

test.each([
  ['aGk=', 'hi'],
  ['aGk\n=', 'hi'],
  ['', ''],
  ['aGk', undefined],
  ['aG k=', undefined],
  ['a-k_', undefined],
  ['aGk=aGk=', undefined],
])('base64 %j', (text, expected) => {
  const bytes = decodeBase64(text);
  expect(bytes === undefined ? undefined : fromUtf8(bytes)).toBe(expected);
  if (expected !== undefined && !text.includes('\n')) expect(encodeBase64(utf8(expected))).toBe(text);
});

test('sha256 in hexadecimal', () => {
  expect(sha256('')).toBe('e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855');
});
