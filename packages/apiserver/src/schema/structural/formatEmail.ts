// Go's mail.ParseAddress for one mailbox: `a@b`, `"a b"@[::1]`, `Name <a@b>`, comments in parentheses. Does not
// support groups (`x: a@b;`).

import { isIp } from './formatNet.ts';

// Visible characters without the specials of RFC 5322; all non-ASCII characters are visible.
const ATOM = "[!#$%&'*+\\-/0-9=?A-Z^_`a-z{|}~\\u0080-\\uffff]";
const DOT_ATOM = new RegExp(`${ATOM}+(?:\\.${ATOM}+)*(?!\\.)`, 'y');
const LOOSE_ATOM = new RegExp(`(?:${ATOM}|\\.)+`, 'y');
const QUOTED = /"((?:[\t !#-[\]-~\u0080-\uffff]|\\[\t -~\u0080-\uffff])*)"/y;
const LITERAL = /\[([!-Z^-~\u0080-\uffff]*)\]/y;
const SPACE = /[ \t]*/y;

export const isEmail = (text: string): boolean => new MailboxReader(text).read();

class MailboxReader {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  read(): boolean {
    this.#take(SPACE);
    const start = this.#at;
    if (!this.#addressSpec()) {
      this.#at = start;
      if (!this.#named()) return false;
    }
    return this.#comments() && this.#at === this.#text.length;
  }

  /** `local@domain` */
  #addressSpec(): boolean {
    this.#take(SPACE);
    const quoted = this.#text[this.#at] === '"';
    const local = this.#take(quoted ? QUOTED : DOT_ATOM);
    if (local === undefined || local === '""' || this.#text[this.#at] !== '@') return false;
    this.#at++;
    this.#take(SPACE);
    const literal = this.#take(LITERAL);
    return literal === undefined ? this.#take(DOT_ATOM) !== undefined : isIp(literal.slice(1, -1));
  }

  /** `Some Name <local@domain>`; the name is optional. */
  #named(): boolean {
    if (this.#text[this.#at] !== '<' && !this.#phrase()) return false;
    this.#take(SPACE);
    if (this.#text[this.#at] !== '<') return false;
    this.#at++;
    if (!this.#addressSpec() || this.#text[this.#at] !== '>') return false;
    this.#at++;
    return true;
  }

  #phrase(): boolean {
    let words = 0;
    for (;;) {
      if (words > 0 && !this.#comments()) return false;
      this.#take(SPACE);
      const quoted = this.#text[this.#at] === '"';
      if (this.#take(quoted ? QUOTED : LOOSE_ATOM) === undefined) return words > 0;
      words++;
    }
  }

  /** Skips comments and spaces; false when a comment is not closed. */
  #comments(): boolean {
    for (;;) {
      this.#take(SPACE);
      if (this.#text[this.#at] !== '(') return true;
      if (!this.#comment()) return false;
    }
  }

  /** Skips a comment with its nested ones. */
  #comment(): boolean {
    let depth = 0;
    do {
      const char = this.#text[this.#at];
      if (char === undefined) return false;
      if (char === '\\' && this.#at + 1 < this.#text.length) this.#at++;
      else if (char === '(') depth++;
      else if (char === ')') depth--;
      this.#at++;
    } while (depth > 0);
    return true;
  }

  /** Consumes and returns the match at this position. */
  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (match === null) return undefined;
    this.#at = pattern.lastIndex;
    return match[0];
  }
}
