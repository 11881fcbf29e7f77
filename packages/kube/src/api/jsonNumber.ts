// Number literals of JSON texts. Integers are exact up to int64 (bigint beyond 2^53); other numbers are float64.

import { invalidInLiteral } from './jsonErrors.ts';

const PLUS = 43;
const MINUS = 45;
const DOT = 46;
const ZERO = 48;
const NINE = 57;
const INT64_MIN = -(2n ** 63n);
const INT64_MAX = 2n ** 63n - 1n;

const isDigit = (code: number): boolean => code >= ZERO && code <= NINE;
const isExponent = (code: number): boolean => code === 101 || code === 69;

/** Reads number literals of one text. After `read`, `end` is the index after the number. */
export class JsonNumbers {
  readonly #text: string;
  end = 0;
  /** Source text of the last number if it is not plain int64 digits; otherwise empty. */
  spelling = '';

  constructor(text: string) {
    this.#text = text;
  }

  /** The number that starts at `start`. Infinity if it overflows float64. */
  read(start: number): number | bigint {
    const text = this.#text;
    let at = start;
    let code = text.charCodeAt(at);
    const negative = code === MINUS;
    if (negative) code = text.charCodeAt(++at);
    if (!isDigit(code)) throw invalidInLiteral(text, at, 'in numeric literal');
    const digits = at;
    let whole = 0;
    if (code === ZERO) at++;
    else
      for (; isDigit(code); code = text.charCodeAt(at)) {
        whole = whole * 10 + (code - ZERO);
        at++;
      }
    code = text.charCodeAt(at);
    if (code === DOT || isExponent(code)) return this.#fraction(start, at);
    this.end = at;
    this.spelling = '';
    // Fifteen digits are always exact. Longer numbers are parsed again, exactly.
    if (at - digits <= 15) return negative ? 0 - whole : whole;
    return this.#longInteger(text.slice(start, at));
  }

  #longInteger(literal: string): number | bigint {
    // Parsing n digits into a bigint takes n² steps. More than 20 characters cannot be an int64.
    if (literal.length > 20) return this.#float(literal);
    const exact = BigInt(literal);
    if (exact < INT64_MIN || exact > INT64_MAX) return this.#float(literal);
    const value = Number(exact);
    return Number.isSafeInteger(value) ? value : exact;
  }

  /** The rest of a number, starting at its `.` or `e`. */
  #fraction(start: number, at: number): number {
    const text = this.#text;
    if (text.charCodeAt(at) === DOT) at = this.#digits(at + 1, 'after decimal point in numeric literal');
    if (isExponent(text.charCodeAt(at))) {
      const sign = text.charCodeAt(at + 1);
      const from = sign === PLUS || sign === MINUS ? at + 2 : at + 1;
      at = this.#digits(from, 'in exponent of numeric literal');
    }
    this.end = at;
    return this.#float(text.slice(start, at));
  }

  #digits(at: number, where: string): number {
    const start = at;
    while (isDigit(this.#text.charCodeAt(at))) at++;
    if (at === start) throw invalidInLiteral(this.#text, at, where);
    return at;
  }

  #float(literal: string): number {
    this.spelling = literal;
    return Number(literal);
  }
}
