// Parser for JSONPath in Kubernetes, without templates.

import type { Json } from '@lapse/kube/api/json';

export class JsonPathError extends Error {}

export interface Slice {
  readonly from: number | undefined;
  /** `next`: one element. `open`: to the end. */
  readonly to: number | 'next' | 'open';
  readonly step: number;
}

export type PathStep =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'wildcard' }
  | { readonly kind: 'recursive' }
  | ({ readonly kind: 'slice' } & Slice)
  | { readonly kind: 'union'; readonly branches: readonly PathStep[][] }
  | {
      readonly kind: 'filter';
      readonly left: PathStep[];
      readonly operator: string;
      readonly right: PathStep[];
    }
  | { readonly kind: 'literal'; readonly value: Json }
  | { readonly kind: 'identifier'; readonly name: string };

/** Nested filters are parsed repeatedly, so their depth is limited. */
const MAX_NESTING = 10;

export const parsePath = (text: string): PathStep[] => new PathParser(text, 0).parse();

const isWordChar = (char: string): boolean => /^[_\p{L}\p{Nd}]$/u.test(char);

class PathParser {
  readonly #text: string;
  readonly #nesting: number;
  readonly #steps: PathStep[] = [];
  #at = 0;

  constructor(text: string, nesting: number) {
    if (nesting > MAX_NESTING) throw new JsonPathError('filters are nested too deeply');
    this.#text = text;
    this.#nesting = nesting;
  }

  parse(): PathStep[] {
    while (this.#at < this.#text.length && this.#text[this.#at] !== '}') this.#step();
    return this.#steps;
  }

  #step(): void {
    const text = this.#text;
    const char = text[this.#at]!;
    if (text.startsWith('[?(', this.#at)) this.#filter();
    else if (text.startsWith('..', this.#at)) this.#recursive();
    else if (char === ' ' || char === '@' || char === '$') this.#at++;
    else if (char === '[') this.#array();
    else if (char === '"' || char === "'") this.#quoted(char);
    else if (char === '.') {
      this.#at++;
      this.#field();
    } else if (/[+\-\d]/.test(char)) this.#number();
    else if (isWordChar(char)) this.#identifier();
    else if (char === '\n' || char === '\r') throw new JsonPathError('unclosed action');
    else throw new JsonPathError(`unrecognized character in action: ${unicode(char)}`);
  }

  #recursive(): void {
    if (this.#steps.at(-1)?.kind === 'recursive')
      throw new JsonPathError('invalid multiple recursive descent');
    this.#at += 2;
    this.#steps.push({ kind: 'recursive' });
    const next = this.#text[this.#at];
    if (next !== undefined && isWordChar(next)) this.#field();
  }

  /** Up to a terminator; a backslash escapes the next character. */
  #field(): void {
    const match = /(?:\\.?|[^\s.,[\]$@{}\\])*/sy;
    match.lastIndex = this.#at;
    const name = match.exec(this.#text)![0];
    this.#at += name.length;
    this.#steps.push(
      name === '*' ? { kind: 'wildcard' } : { kind: 'field', name: name.replaceAll('\\', '') },
    );
  }

  #number(): void {
    const text = /[+-]?[\d.]*/y;
    text.lastIndex = this.#at;
    const literal = text.exec(this.#text)![0];
    this.#at += literal.length;
    const value = Number(literal);
    if (literal === '' || !/\d/.test(literal) || Number.isNaN(value))
      throw new JsonPathError(`cannot parse number ${literal}`);
    this.#steps.push({ kind: 'literal', value });
  }

  #identifier(): void {
    const word = /[^\s.,[\]$@{}]*/y;
    word.lastIndex = this.#at;
    const name = word.exec(this.#text)![0];
    this.#at += name.length;
    if (name === 'true' || name === 'false') this.#steps.push({ kind: 'literal', value: name === 'true' });
    else this.#steps.push({ kind: 'identifier', name });
  }

  #quoted(quote: string): void {
    const end = this.#endOfQuote(this.#at + 1, quote);
    const inner = this.#text.slice(this.#at + 1, end);
    this.#at = end + 1;
    this.#steps.push({ kind: 'literal', value: unquote(inner) });
  }

  #endOfQuote(from: number, quote: string): number {
    for (let at = from; at < this.#text.length; at++) {
      if (this.#text[at] === '\n') break;
      if (this.#text[at] === quote && this.#text[at - 1] !== '\\') return at;
    }
    throw new JsonPathError('unterminated quoted string');
  }

  #array(): void {
    const end = this.#text.indexOf(']', this.#at);
    const text = this.#text.slice(this.#at + 1, end < 0 ? undefined : end);
    if (end < 0 || text.includes('\n')) throw new JsonPathError('unterminated array');
    this.#at = end + 1;
    const parts = text.split(',');
    if (parts.length > 1) {
      const branches = parts.map((part) => this.#inner(`[${part.replace(/^ +| +$/g, '')}]`));
      this.#steps.push({ kind: 'union', branches });
      return;
    }
    const key = /^'([^']*)'$/.exec(text);
    if (key !== null) this.#steps.push(...this.#inner(`.${key[1]}`));
    else this.#steps.push({ kind: 'slice', ...parseSlice(text === '*' ? ':' : text) });
  }

  #filter(): void {
    const start = this.#at + 3;
    const end = this.#endOfFilter(start);
    if (this.#text[end + 1] !== ']') throw new JsonPathError('unclosed array expect ]');
    const text = this.#text.slice(start, end);
    this.#at = end + 2;
    const comparison = /^([^!<>=]+)([!<>=]+)(.+)$/s.exec(text);
    if (comparison === null) {
      this.#steps.push({ kind: 'filter', left: this.#inner(text), operator: 'exists', right: [] });
      return;
    }
    const [, left, operator, right] = comparison as unknown as [string, string, string, string];
    this.#steps.push({ kind: 'filter', left: this.#inner(left), operator, right: this.#inner(right) });
  }

  /** The closing parenthesis outside of quotes. */
  #endOfFilter(from: number): number {
    let quote = '';
    for (let at = from; at < this.#text.length; at++) {
      const char = this.#text[at]!;
      if (char === '\n') break;
      if (quote === '' && (char === '"' || char === "'")) quote = char;
      else if (char === quote && this.#text[at - 1] !== '\\') quote = '';
      else if (char === ')' && quote === '') return at;
    }
    throw new JsonPathError('unterminated filter');
  }

  #inner(text: string): PathStep[] {
    return new PathParser(text, this.#nesting + 1).parse();
  }
}

function parseSlice(text: string): Slice {
  const match = /^(-?\d*)(:-?\d*)?(:-?\d*)?$/.exec(text);
  if (match === null) throw new JsonPathError(`invalid array index ${text}`);
  const [first = '', second, third] = match.slice(1);
  const index = (part: string): number => {
    const value = Number(part);
    if (part === '-' || !Number.isSafeInteger(value))
      throw new JsonPathError(`array index ${part} is not a number`);
    return value;
  };
  const optional = (part: string): number | undefined => (part === '' ? undefined : index(part));
  return {
    from: optional(first),
    to: second === undefined ? 'next' : (optional(second.slice(1)) ?? 'open'),
    step: third === undefined ? 1 : (optional(third.slice(1)) ?? 1),
  };
}

const ESCAPES: Record<string, string> = { n: '\n', t: '\t', r: '\r', '\\': '\\', '"': '"', "'": "'" };
const unquote = (text: string): string =>
  text.replace(/\\(.)/gs, (all, char: string) => ESCAPES[char] ?? all);

/** Go's %#U: `U+0023 '#'`. */
function unicode(char: string): string {
  return `U+${char.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')} '${char}'`;
}
