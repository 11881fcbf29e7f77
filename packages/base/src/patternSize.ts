// Estimates the compiled size of a regular expression in one scan of its text. The estimate is an upper bound for every
// pattern that RE2 accepts, so a caller can reject a pattern before spending memory or time on it.
//
// One unit is about 250 bytes of program or 3 µs of compile time.

const CAPTURE = 2;
/** A Unicode class has up to 700 ranges, which are copied into each instruction that uses them. */
const UNICODE_CLASS = 30;
const PARSE_UNICODE_CLASS = 120;
const PARSE_UNICODE_CLASS_FOLDED = 400;
/** Number of characters whose case variants can be looked up in the time of one unit. */
const FOLDED_PER_UNIT = 15;
const HIGHEST_WITH_CASES = 125_251;
/** RE2 rejects larger repeat counts. */
const MAX_REPEAT = 1000;

/** Estimates are capped here. Callers do not distinguish larger values. */
const MAX_SIZE = 1_000_000_000;

const FOLDS = /\(\?[a-zA-Z]*i/;
const REPEAT = /\{(\d+)(?:(,)(\d*))?\}/y;
const FLAGS = /\(\?[a-zA-Z-]*([:)])/y;
const NAMED = /\(\?P?</y;

interface Group {
  /** Units of everything before the last atom at this depth. */
  before: number;
  last: number;
}

/** An upper bound of the compiled size of the pattern, in units. */
export function estimatePatternSize(pattern: string): number {
  return new Scan(pattern).run();
}

class Scan {
  readonly #text: string;
  readonly #folds: boolean;
  readonly #open: Group[] = [];
  #group: Group = { before: 3, last: 0 };
  /** Work that a repeat does not multiply: parsing character classes. */
  #parsing: number;
  #at = 0;
  /** Where the last `[:name:]` ends. A later `[:` is two ordinary characters. */
  readonly #lastNamed: number;

  constructor(text: string) {
    this.#text = text;
    this.#folds = FOLDS.test(text);
    this.#parsing = text.length / 16;
    this.#lastNamed = text.lastIndexOf(':]');
  }

  run(): number {
    while (this.#at < this.#text.length) this.#next();
    // Unclosed groups are a syntax error; count them as if they ended here.
    while (this.#open.length > 0) this.#close();
    return Math.min(Math.ceil(this.#group.before + this.#group.last + this.#parsing), MAX_SIZE);
  }

  #next(): void {
    switch (this.#text[this.#at]) {
      case '(':
        this.#openGroup();
        break;
      case ')':
        this.#at++;
        this.#close();
        break;
      case '[':
        this.#charClass();
        break;
      case '\\':
        this.#escape();
        break;
      case '*':
      case '+':
      case '?':
        this.#at++;
        this.#group.last += 2;
        break;
      case '{':
        this.#repeat();
        break;
      default:
        // An alternative costs a jump; an empty one costs an additional no-op.
        this.#atom(this.#text[this.#at] === '|' ? 2 : 1, 1);
    }
  }

  /** Adds an atom of this size that takes `length` characters of the pattern. */
  #atom(size: number, length: number): void {
    this.#group.before += this.#group.last;
    this.#group.last = size;
    this.#at += length;
  }

  #openGroup(): void {
    const flags = this.#match(FLAGS);
    if (flags?.[1] === ')') {
      this.#at += flags[0].length;
      return;
    }
    this.#open.push(this.#group);
    this.#group = { before: CAPTURE, last: 0 };
    if (flags !== null) this.#at += flags[0].length;
    else this.#at = this.#match(NAMED) === null ? this.#at + 1 : this.#endOf('>', this.#at);
  }

  #close(): void {
    const outer = this.#open.pop();
    if (outer === undefined) return;
    const size = this.#group.before + this.#group.last + 1;
    this.#group = outer;
    this.#atom(size, 0);
  }

  #repeat(): void {
    const found = this.#match(REPEAT);
    if (found === null) {
      this.#atom(1, 1);
      return;
    }
    const [whole, min, comma, max] = found;
    const least = Math.min(Number(min), MAX_REPEAT);
    const most = comma === undefined || max === '' ? least : Math.min(Number(max), MAX_REPEAT);
    const copies = Math.max(1, least, most);
    this.#group.last = copies * (this.#group.last + (most > least ? 1 : 0)) + 2;
    this.#at += whole.length;
  }

  #escape(): void {
    const kind = this.#text[this.#at + 1];
    if (kind === 'p' || kind === 'P') this.#unicodeClass();
    else if (kind === 'Q') this.#quoted();
    else this.#atom(1, kind === 'x' ? this.#bracedEnd(this.#at + 2) - this.#at : 2);
  }

  /** `\Q…\E` is a sequence of characters; a following repeat applies to the last one. */
  #quoted(): void {
    const end = this.#endOf('\\E', this.#at + 2);
    this.#atom(end - this.#at, end - this.#at);
  }

  #unicodeClass(): void {
    this.#parsing += this.#folds ? PARSE_UNICODE_CLASS_FOLDED : PARSE_UNICODE_CLASS;
    this.#atom(UNICODE_CLASS, this.#bracedEnd(this.#at + 2) - this.#at);
  }

  /** The end of the name or digits after an escape: `{…}`, or one character. */
  #bracedEnd(at: number): number {
    if (this.#text[at] !== '{') return at + 1;
    return this.#endOf('}', at);
  }

  /** The position after this mark, or the end of the text if the mark is missing. */
  #endOf(mark: string, from: number): number {
    const found = this.#text.indexOf(mark, from);
    return found < 0 ? this.#text.length : found + mark.length;
  }

  #charClass(): void {
    const start = this.#at;
    let at = start + (this.#text[start + 1] === '^' ? 2 : 1);
    let [first, classes] = [true, 0];
    while (at < this.#text.length && (first || this.#text[at] !== ']')) {
      first = false;
      if (this.#isUnicodeClass(at)) classes++;
      at = this.#classItemEnd(at);
    }
    this.#parsing += classes * (this.#folds ? PARSE_UNICODE_CLASS_FOLDED : PARSE_UNICODE_CLASS);
    this.#atom(1 + classes * UNICODE_CLASS + (at - start) / 16, at + 1 - start);
  }

  #isUnicodeClass(at: number): boolean {
    return this.#text[at] === '\\' && /[pP]/.test(this.#text[at + 1] ?? '');
  }

  /** The end of a character, escape, range or named class inside brackets. */
  #classItemEnd(at: number): number {
    if (at < this.#lastNamed && this.#text.startsWith('[:', at)) return this.#endOf(':]', at);
    if (this.#text[at] !== '\\') return at + (this.#text[at] === '-' ? this.#range(at) : 1);
    return this.#isUnicodeClass(at) || this.#text[at + 1] === 'x' ? this.#bracedEnd(at + 2) : at + 2;
  }

  /** A case-insensitive range such as `a-z` looks up every character in it. Returns the length of the dash. */
  #range(dash: number): number {
    if (!this.#folds) return 1;
    const [low, high] = [this.#text.codePointAt(dash - 1)!, this.#text.codePointAt(dash + 1) ?? 0];
    const isPlain = !/[\\}\ud800-\udfff]/.test(this.#text[dash - 1]! + this.#text[dash + 1]);
    const span = isPlain ? Math.min(Math.abs(high - low), HIGHEST_WITH_CASES) : HIGHEST_WITH_CASES;
    this.#parsing += span / FOLDED_PER_UNIT;
    return 1;
  }

  #match(expression: RegExp): RegExpExecArray | null {
    expression.lastIndex = this.#at;
    return expression.exec(this.#text);
  }
}
