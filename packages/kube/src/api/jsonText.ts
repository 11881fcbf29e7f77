// String literals of JSON texts with their escapes, and decoding of bytes that are not valid UTF-8.

import { isUtf8 } from 'node:buffer';
import { invalidCharacter, invalidInLiteral, unexpectedEnd } from './jsonErrors.ts';

const QUOTE = 34;
const BACKSLASH = 92;
const LETTER_U = 117;
const REPLACEMENT = '\ufffd';

const SIMPLE_ESCAPES: Record<string, string> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit <= 0xdbff;
const isLowSurrogate = (unit: number): boolean => unit >= 0xdc00 && unit <= 0xdfff;

/** Reads string literals of one text. After `read`, `end` is the index after the closing quote. */
export class JsonStrings {
  readonly #text: string;
  end = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** The literal whose opening quote is at `start`. */
  read(start: number): string {
    const text = this.#text;
    const from = start + 1;
    for (let at = from; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.end = at + 1;
        return text.slice(from, at);
      }
      if (code === BACKSLASH) return this.#readEscaped(from, at);
      if (code < 0x20) throw invalidCharacter(text, at, 'in string literal');
    }
    throw unexpectedEnd(text.length);
  }

  #readEscaped(from: number, at: number): string {
    const text = this.#text;
    let out = '';
    while (at < text.length) {
      const code = text.charCodeAt(at);
      if (code === QUOTE) {
        this.end = at + 1;
        return out + text.slice(from, at);
      }
      if (code === BACKSLASH) {
        out += text.slice(from, at) + this.#escape(at + 1);
        at = from = this.end;
      } else if (code < 0x20) throw invalidCharacter(text, at, 'in string literal');
      else at++;
    }
    throw unexpectedEnd(text.length);
  }

  /** Decodes the escape whose letter is at `at` and moves `end` past it. */
  #escape(at: number): string {
    const text = this.#text;
    if (text.charCodeAt(at) !== LETTER_U) {
      const simple = at < text.length ? SIMPLE_ESCAPES[text[at]!] : undefined;
      if (simple === undefined) throw invalidInLiteral(text, at, 'in string escape code');
      this.end = at + 1;
      return simple;
    }
    const unit = this.#hex(at + 1);
    this.end = at + 5;
    if (isLowSurrogate(unit)) return REPLACEMENT;
    if (!isHighSurrogate(unit)) return String.fromCharCode(unit);
    if (text[at + 5] !== '\\' || text[at + 6] !== 'u') return REPLACEMENT;
    const low = this.#hex(at + 7);
    if (!isLowSurrogate(low)) return REPLACEMENT;
    this.end = at + 11;
    return String.fromCharCode(unit, low);
  }

  #hex(at: number): number {
    let value = 0;
    for (let i = at; i < at + 4; i++) {
      const digit = hexDigit(this.#text.charCodeAt(i));
      if (digit < 0) throw invalidInLiteral(this.#text, i, 'in \\u hexadecimal character escape');
      value = value * 16 + digit;
    }
    return value;
  }
}

function hexDigit(code: number): number {
  if (code >= 48 && code <= 57) return code - 48;
  const lower = code | 32;
  return lower >= 97 && lower <= 102 ? lower - 87 : -1;
}

export function decodeUtf8(bytes: Uint8Array): string {
  if (!isUtf8(bytes)) return decodeLikeGo(bytes);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}

/**
 * Decodes invalid UTF-8 like Go: every byte that does not start a valid sequence becomes one U+FFFD. (TextDecoder would
 * replace a truncated sequence as a whole.)
 */
function decodeLikeGo(bytes: Uint8Array): string {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
  const parts: string[] = [];
  let at = 0;
  while (at < bytes.length) {
    let end = at;
    for (let size = sequenceSize(bytes, end); size > 0; size = sequenceSize(bytes, end)) end += size;
    if (end > at) parts.push(decoder.decode(bytes.subarray(at, end)));
    if (end < bytes.length) parts.push(REPLACEMENT);
    at = end + 1;
  }
  return parts.join('');
}

/** Length of the valid UTF-8 sequence at `at`, or 0. */
function sequenceSize(bytes: Uint8Array, at: number): number {
  const first = bytes[at];
  if (first === undefined) return 0;
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const size = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (!isSecondByte(first, bytes[at + 1] ?? 0)) return 0;
  for (let i = 2; i < size; i++) if (((bytes[at + i] ?? 0) & 0xc0) !== 0x80) return 0;
  return size;
}

/** Excludes overlong forms, surrogates and code points above U+10FFFF. */
function isSecondByte(first: number, second: number): boolean {
  const low = first === 0xe0 ? 0xa0 : first === 0xf0 ? 0x90 : 0x80;
  const high = first === 0xed ? 0x9f : first === 0xf4 ? 0x8f : 0xbf;
  return second >= low && second <= high;
}
