// String functions in code points. JavaScript counts UTF-16 units, which differ only for surrogate pairs. Every
// function first checks for surrogates and otherwise works on units directly.

import { countCodePoints } from './source.ts';

export const codePointLength = countCodePoints;

/** Negative, zero or positive: the order of code points, which equals that of UTF-8 bytes. */
export function compareStrings(a: string, b: string): number {
  if (a === b) return 0;
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x !== y) return rank(x) - rank(y);
  }
  return a.length - b.length;
}

// Surrogates represent code points above U+FFFF, but as units they sort below U+E000.
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit);

/** The unit offset of the code point with index `n`; the length if there are exactly `n`; undefined beyond. */
export function unitOffset(text: string, n: number): number | undefined {
  if (n < 0) return undefined;
  let at = 0;
  for (let left = n; left > 0; left--) {
    if (at >= text.length) return undefined;
    at += (text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }
  return at;
}

/** The code point index of a unit offset. */
export const codePointIndex = (text: string, units: number): number =>
  units < 0 ? -1 : codePointLength(text.slice(0, units));

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  return Buffer.compare(a, b);
}

/** The text of UTF-8 bytes, or undefined if they are not valid. */
export function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const encoder = new TextEncoder();

export const encodeUtf8 = (text: string): Uint8Array => encoder.encode(text);
