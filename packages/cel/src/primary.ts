// Parses primary expressions: numbers, strings, lists, maps and message constructions.

import type { Expr, ListExpr, MapExpr, StructExpr } from './ast.ts';
import type { Token, TokenKind } from './lexer.ts';
import {
  bytesLiteral,
  doubleLiteral,
  intLiteral,
  type LiteralResult,
  stringLiteral,
  uintLiteral,
} from './literals.ts';
import { formatExpected, OPERAND_START } from './syntaxErrors.ts';
import { broken, type TokenStream } from './tokenStream.ts';
import { BOOL, BYTES, type CelType, DOUBLE, INT, NULL, STRING, UINT } from './types.ts';

/** The functions of the parser that aggregates need. */
export interface ParserContext {
  readonly stream: TokenStream;
  readonly optionalSyntax: boolean;
  readonly escapedIdentifiers: boolean;
  /** Parses an expression. `extra` lists further tokens that are valid here, for messages. */
  expr(extra?: readonly TokenKind[]): Expr;
}

export function literalNode(
  s: TokenStream,
  span: readonly [number, number],
  result: LiteralResult,
  type: CelType,
): Expr {
  const [start, end] = span;
  if ('value' in result)
    return { kind: 'literal', value: result.value, literalType: type, at: start, start, end };
  s.report(start, result.problem);
  return broken(start);
}

/** A scalar literal, or undefined if none starts here. */
export function scalar(s: TokenStream): Expr | undefined {
  const token = s.token;
  const span = [token.start, token.end] as const;
  switch (token.kind) {
    case 'NUM_INT':
    case 'NUM_UINT':
    case 'NUM_FLOAT':
      return number(s, token.start);
    case '-':
      s.advance();
      return number(s, token.start);
    case 'STRING':
      s.advance();
      return literalNode(s, span, stringLiteral(s.slice(token)), STRING);
    case 'BYTES':
      s.advance();
      return literalNode(s, span, bytesLiteral(s.slice(token)), BYTES);
    case 'true':
    case 'false':
      s.advance();
      return literalNode(s, span, { value: token.kind === 'true' }, BOOL);
    case 'null':
      s.advance();
      return literalNode(s, span, { value: null }, NULL);
    default:
      return undefined;
  }
}

/** A number. Its minus sign, if any, was already consumed. */
function number(s: TokenStream, start: number): Expr {
  const token = s.token;
  if (token.kind !== 'NUM_INT' && token.kind !== 'NUM_FLOAT' && token.kind !== 'NUM_UINT') {
    s.syntaxError("no viable alternative at input '-'");
    return s.missingOperand([]) ?? broken(start);
  }
  s.advance();
  const text = `${start < token.start ? '-' : ''}${s.slice(token)}`;
  const span = [start, token.end] as const;
  if (token.kind === 'NUM_UINT') return literalNode(s, span, uintLiteral(text), UINT);
  if (token.kind === 'NUM_FLOAT') return literalNode(s, span, doubleLiteral(text), DOUBLE);
  return literalNode(s, span, intLiteral(text), INT);
}

function optionalMark({ stream, optionalSyntax }: ParserContext): boolean {
  const mark = stream.accept('?');
  if (mark === undefined) return false;
  if (!optionalSyntax) stream.report(mark.start, "unsupported syntax '?'");
  return true;
}

type Item = (extra: readonly TokenKind[]) => void;

/** Comma-separated items up to `close`, with an optional trailing comma. */
function items(s: TokenStream, close: TokenKind, item: Item): void {
  // Tokens that are valid in place of the first item. Later items have no alternative.
  let extra: readonly TokenKind[] = [close, ',', '?'];
  const startsItem = (kind: TokenKind) =>
    OPERAND_START.has(kind) || kind === '?' || kind === 'ESC_IDENTIFIER';
  if (s.token.kind !== close && s.token.kind !== 'EOF' && !(s.token.kind === ',' && s.peek() === close)) {
    item(extra);
    extra = [];
    while (s.token.kind === ',' && startsItem(s.peek())) {
      s.advance();
      item(extra);
    }
  }
  if (extra.length > 0 && s.token.kind === 'EOF') {
    s.syntaxError(`mismatched input '<EOF>' expecting ${formatExpected([...OPERAND_START, ...extra])}`);
    return;
  }
  const comma = s.accept(',');
  s.expect(close, comma === undefined ? [close, ','] : [close]);
}

export function list(around: ParserContext): ListExpr {
  const s = around.stream;
  const { start } = s.advance();
  const elements: ListExpr['elements'][number][] = [];
  items(s, ']', (extra) => {
    const optional = optionalMark(around);
    elements.push({ value: around.expr(optional ? [] : extra), optional });
  });
  return { kind: 'list', elements, at: start, start, end: s.previousEnd };
}

export function map(around: ParserContext): MapExpr {
  const s = around.stream;
  const { start } = s.advance();
  const entries: MapExpr['entries'][number][] = [];
  items(s, '}', (extra) => {
    const optional = optionalMark(around);
    const key = around.expr(optional ? [] : extra);
    s.expect(':');
    entries.push({ key, value: around.expr(), optional });
  });
  return { kind: 'map', entries, at: start, start, end: s.previousEnd };
}

export function struct(around: ParserContext, name: string, start: number): StructExpr {
  const s = around.stream;
  const open = s.advance();
  const fields: StructExpr['fields'][number][] = [];
  items(s, '}', () => {
    const optional = optionalMark(around);
    const expected: TokenKind[] = ['}', ',', '?', 'IDENTIFIER', 'ESC_IDENTIFIER'];
    const escaped = s.token.kind === 'ESC_IDENTIFIER';
    const field = escaped ? s.advance() : s.expect('IDENTIFIER', expected);
    const colon = s.expect(':') ?? s.token;
    const value = around.expr();
    if (field !== undefined)
      fields.push({ name: fieldName(around, field), at: colon.start, value, optional });
  });
  return { kind: 'struct', name, fields, at: open.start, start, end: s.previousEnd };
}

/** The name after a dot or before a colon, without its backquotes. */
export function fieldName({ stream, escapedIdentifiers }: ParserContext, token: Token): string {
  const text = stream.slice(token);
  if (token.kind === 'IDENTIFIER') return text;
  if (!escapedIdentifiers) stream.report(token.start, "unsupported syntax: '`'");
  return text.slice(1, -1);
}
