// Syntax errors with ANTLR's messages and error recovery: skip an extra token, insert a missing one, otherwise leave a
// placeholder, and report nothing until a token fits again.

import type { Token, TokenKind } from './lexer.ts';

// Sets are printed in the order of the grammar's token declarations.
const ORDER: readonly TokenKind[] = [
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
];

/** Tokens that can start an operand. */
export const OPERAND_START: ReadonlySet<TokenKind> = new Set<TokenKind>([
  '[',
  '{',
  '(',
  '.',
  '-',
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
]);

/** Tokens that may follow a complete operand. */
export const OPERAND_FOLLOW: ReadonlySet<TokenKind> = new Set<TokenKind>([
  'EOF',
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
  '}',
  ')',
  '.',
  ',',
  '-',
  '?',
  ':',
  '+',
  '*',
  '/',
  '%',
]);

const SYMBOLIC = /^[A-Z_]+$/;
const display = (kind: TokenKind): string =>
  kind === 'EOF' ? '<EOF>' : SYMBOLIC.test(kind) ? kind : `'${kind}'`;

/** `':'` or `{']', ','}`. */
export function formatExpected(expected: Iterable<TokenKind>): string {
  const kinds = [...new Set(expected)].sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
  const shown = kinds.map(display);
  return shown.length === 1 ? shown[0]! : `{${shown.join(', ')}}`;
}

/** A token as messages quote it. */
export function quoteToken(token: Token, text: string): string {
  if (token.kind === 'EOF') return "'<EOF>'";
  const shown = text.slice(token.start, token.end);
  return `'${shown.replaceAll('\n', '\\n').replaceAll('\r', '\\r').replaceAll('\t', '\\t')}'`;
}
