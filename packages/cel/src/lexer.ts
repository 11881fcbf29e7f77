// Converts source text to tokens. The longest match wins; unmatched text is reported and skipped. This equals the ANTLR
// lexer of cel-go, so that errors and the tokens after them match those of Kubernetes.

import type { Issue, Source } from './source.ts';

/** The kinds of tokens, in the order of their declarations in cel-go's grammar. */
export const TOKEN_KINDS = [
  '==',
  '!=',
  'in',
  '<',
  '<=',
  '>=',
  '>',
  '&&',
  '||',
  '[',
  ']',
  '{',
  '}',
  '(',
  ')',
  '.',
  ',',
  '-',
  '!',
  '?',
  ':',
  '+',
  '*',
  '/',
  '%',
  'true',
  'false',
  'null',
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
  'ESC_IDENTIFIER',
] as const;

export type TokenKind = 'EOF' | (typeof TOKEN_KINDS)[number];

export interface Token {
  readonly kind: TokenKind;
  readonly start: number;
  readonly end: number;
}

const KEYWORD_SET: ReadonlySet<string> = new Set(TOKEN_KINDS.filter((kind) => /^[a-z]/.test(kind)));
const PUNCTUATION_SET: ReadonlySet<string> = new Set(TOKEN_KINDS.filter((kind) => /^\W/.test(kind)));

const SPACE = /(?:[\t\n\f\r ]+|\/\/[^\n]*)+/y;
const NAME = /[A-Za-z_][A-Za-z0-9_]*/y;
const ESCAPED_NAME = /`[A-Za-z0-9_.\-/ ]+`/y;
const FLOAT = /(?:\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)/y;
const UINT = /(?:0x[0-9a-fA-F]+|\d+)[uU]/y;
const INT = /(?:0x[0-9a-fA-F]+|\d+)/y;

const ESCAPE =
  '\\\\(?:[abfnrtv"\'\\\\?`]|[0-3][0-7][0-7]|[xX][0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})';
const QUOTED = [
  `"""(?:${ESCAPE}|[^\\\\])*?"""`,
  `'''(?:${ESCAPE}|[^\\\\])*?'''`,
  `"(?:${ESCAPE}|[^\\\\"\\n\\r])*"`,
  `'(?:${ESCAPE}|[^\\\\'\\n\\r])*'`,
].join('|');
const RAW = `[rR](?:"""[^]*?"""|'''[^]*?'''|"[^"\\n\\r]*"|'[^'\\n\\r]*')`;
const STRING = new RegExp(`${RAW}|${QUOTED}`, 'y');
const BYTES = new RegExp(`[bB](?:${RAW}|${QUOTED})`, 'y');
// The part of an unterminated string before the character that breaks it.
const UNFINISHED = new RegExp(`"(?:${ESCAPE}|[^\\\\"\\n\\r])*|'(?:${ESCAPE}|[^\\\\'\\n\\r])*`, 'y');
const ESCAPE_PREFIX = /\\(?:[0-3][0-7]?|[xX][0-9a-fA-F]?|u[0-9a-fA-F]{0,3}|U[0-9a-fA-F]{0,7})?/y;
const MAX_ERRORS = 100;
const LONE_SURROGATE = /\p{Surrogate}/u;

function matchAt(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

export interface Tokens {
  readonly tokens: readonly Token[];
  readonly issues: readonly Issue[];
}

export function tokenize(source: Source): Tokens {
  const { text } = source;
  const tokens: Token[] = [];
  const issues: Issue[] = [];
  let at = 0;
  while (at < text.length) {
    const blank = matchAt(SPACE, text, at);
    if (blank > at) {
      at = blank;
      continue;
    }
    const token = tokenAt(text, at);
    if (token !== undefined) {
      tokens.push(token);
      at = token.end;
      continue;
    }
    const end = endOfInvalid(text, at);
    if (issues.length === MAX_ERRORS) {
      issues.push(source.issue(at, `Syntax error: More than ${MAX_ERRORS} syntax errors`));
      break;
    }
    issues.push(source.issue(at, `Syntax error: token recognition error at: '${text.slice(at, end)}'`));
    at = end;
  }
  tokens.push({ kind: 'EOF', start: text.length, end: text.length });
  const surrogate = LONE_SURROGATE.exec(text);
  if (surrogate !== null)
    issues.push(source.issue(surrogate.index, 'Syntax error: text is not valid Unicode'));
  return { tokens, issues };
}

function tokenAt(text: string, start: number): Token | undefined {
  const c = text.charCodeAt(start);
  if (isLetter(c)) return wordAt(text, start, c);
  if ((c >= 48 && c <= 57) || c === 46) {
    const number = numberAt(text, start);
    if (number !== undefined) return number;
  }
  if (c === 34 || c === 39) return tokenOf('STRING', STRING, text, start);
  if (c === 96) return tokenOf('ESC_IDENTIFIER', ESCAPED_NAME, text, start);
  const two = text.slice(start, start + 2);
  if (PUNCTUATION_SET.has(two)) return { kind: two as TokenKind, start, end: start + two.length };
  const one = text.charAt(start);
  return PUNCTUATION_SET.has(one) ? { kind: one as TokenKind, start, end: start + 1 } : undefined;
}

const isLetter = (c: number): boolean => (c >= 97 && c <= 122) || (c >= 65 && c <= 90) || c === 95;
const startsRaw = (c: number): boolean => c === 114 || c === 82;
const startsBytes = (c: number): boolean => c === 98 || c === 66;

function wordAt(text: string, start: number, c: number): Token {
  const string = startsRaw(c) ? tokenOf('STRING', STRING, text, start) : undefined;
  if (string !== undefined) return string;
  const bytes = startsBytes(c) ? tokenOf('BYTES', BYTES, text, start) : undefined;
  if (bytes !== undefined) return bytes;
  const end = matchAt(NAME, text, start);
  const word = text.slice(start, end);
  return { kind: KEYWORD_SET.has(word) ? (word as TokenKind) : 'IDENTIFIER', start, end };
}

function numberAt(text: string, start: number): Token | undefined {
  return (
    tokenOf('NUM_FLOAT', FLOAT, text, start) ??
    tokenOf('NUM_UINT', UINT, text, start) ??
    tokenOf('NUM_INT', INT, text, start)
  );
}

function tokenOf(kind: TokenKind, pattern: RegExp, text: string, start: number): Token | undefined {
  const end = matchAt(pattern, text, start);
  return end < 0 ? undefined : { kind, start, end };
}

/** An error token ends after the first character that no token can have at its position. */
function endOfInvalid(text: string, start: number): number {
  const c = text[start];
  let end = start;
  if (c === '"' || c === "'") {
    end = matchAt(UNFINISHED, text, start);
    if (text[end] === '\\') end = matchAt(ESCAPE_PREFIX, text, end);
  } else if (c === '`') {
    end = Math.max(start + 1, matchAt(/`[A-Za-z0-9_.\-/ ]*/y, text, start));
  } else if (c === '|' || c === '&' || c === '=') {
    end = start + 1;
  }
  return end >= text.length ? text.length : end + (isPairAt(text, end) ? 2 : 1);
}

const isPairAt = (text: string, at: number): boolean => (text.codePointAt(at) ?? 0) > 0xffff;
