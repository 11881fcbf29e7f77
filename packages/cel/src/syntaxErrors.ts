// Syntax errors with ANTLR's messages and error recovery: skip an extra token, insert a missing one, otherwise leave a
// placeholder, and report nothing until a token fits again.

import { TOKEN_KINDS, type Token, type TokenKind } from './lexer.ts';

/** Tokens that start an operand and cannot follow one. */
const ONLY_START: readonly TokenKind[] = [
  '{',
  '(',
  '!',
  'true',
  'false',
  'null',
  'NUM_FLOAT',
  'NUM_INT',
  'NUM_UINT',
  'STRING',
  'BYTES',
  'IDENTIFIER',
];

/** Tokens that can start an operand. */
export const OPERAND_START: ReadonlySet<TokenKind> = new Set(['[', '.', '-', ...ONLY_START]);

/** Tokens that may follow a complete operand. */
export const OPERAND_FOLLOW: ReadonlySet<TokenKind> = new Set([
  'EOF',
  ...TOKEN_KINDS.filter((kind) => kind !== 'ESC_IDENTIFIER' && !ONLY_START.includes(kind)),
]);

const SYMBOLIC = /^[A-Z_]+$/;
const display = (kind: TokenKind): string =>
  kind === 'EOF' ? '<EOF>' : SYMBOLIC.test(kind) ? kind : `'${kind}'`;

// Sets are printed in the order of the grammar's token declarations, after EOF.
const orderOf = (kind: TokenKind): number => (kind === 'EOF' ? -1 : TOKEN_KINDS.indexOf(kind));

/** `':'` or `{']', ','}`. */
export function formatExpected(expected: Iterable<TokenKind>): string {
  const kinds = [...new Set(expected)].sort((a, b) => orderOf(a) - orderOf(b));
  const shown = kinds.map(display);
  return shown.length === 1 ? shown[0]! : `{${shown.join(', ')}}`;
}

/** A token as messages quote it. */
export function quoteToken(token: Token, text: string): string {
  if (token.kind === 'EOF') return "'<EOF>'";
  const shown = text.slice(token.start, token.end);
  return `'${shown.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')}'`;
}
