import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  codePointIndex,
  codePointLength,
  compareStrings,
  decodeUtf8,
  encodeUtf8,
  unitOffset,
} from './text.ts';

const text = fc.string({ unit: 'binary' });

describe('strings in code points', () => {
  it('length is the number of code points', () => {
    fc.assert(
      fc.property(text, (s) => {
        expect(codePointLength(s)).toBe([...s].length);
      }),
    );
  });

  it('the order equals the order of UTF-8 bytes', () => {
    fc.assert(
      fc.property(text, text, (a, b) => {
        expect(Math.sign(compareStrings(a, b))).toBe(Buffer.compare(Buffer.from(a), Buffer.from(b)));
      }),
    );
    expect(compareStrings('\ue000', '😀')).toBeLessThan(0);
  });

  it('unitOffset and codePointIndex are inverse functions', () => {
    fc.assert(
      fc.property(text, (s) => {
        for (let n = 0; n <= codePointLength(s); n++) expect(codePointIndex(s, unitOffset(s, n)!)).toBe(n);
        expect(unitOffset(s, codePointLength(s) + 1)).toBeUndefined();
      }),
    );
    expect(unitOffset('a', -1)).toBeUndefined();
  });

  it('a lone surrogate is one code point', () => {
    expect(codePointLength('a\ud800b')).toBe(3);
    expect(codePointLength('\udc00\ud800')).toBe(2);
  });

  it('bytes that are not valid UTF-8 are rejected', () => {
    expect(decodeUtf8(Uint8Array.of(0xff))).toBeUndefined();
    expect(decodeUtf8(encodeUtf8('\ufeffé'))).toBe('\ufeffé');
  });
});
