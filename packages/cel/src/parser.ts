// A Pratt parser for cel-go's grammar, with macro expansion, positions and limits.
// After a syntax error it continues where ANTLR would, so that several errors can be reported at once.

import { children, type Expr } from './ast.ts';
import type { TokenKind } from './lexer.ts';
import { expandMacro, type MacroTable } from './macros.ts';
import { fieldName, list, literalNode, map, type ParserContext, scalar, struct } from './primary.ts';
import type { Issue, Source } from './source.ts';
import { badSelection, broken, danglingDot, danglingSign, TokenStream } from './tokenStream.ts';
import { STRING } from './types.ts';

export interface ParseOptions {
  readonly macros: MacroTable;
  readonly optionalSyntax: boolean;
  readonly escapedIdentifiers: boolean;
  /** Maximum nesting of expressions, and maximum length of a chain. */
  readonly maxRecursion: number;
}

export interface Parsed {
  readonly root: Expr;
  readonly issues: readonly Issue[];
}

const RESERVED = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(
    ' ',
  ),
);

const BINARY: Partial<Record<TokenKind, readonly [precedence: number, fn: string]>> = {
  '==': [3, '_==_'],
  '!=': [3, '_!=_'],
  '<': [3, '_<_'],
  '<=': [3, '_<=_'],
  '>': [3, '_>_'],
  '>=': [3, '_>=_'],
  in: [3, '@in'],
  '+': [4, '_+_'],
  '-': [4, '_-_'],
  '*': [5, '_*_'],
  '/': [5, '_/_'],
  '%': [5, '_%_'],
};
const NOT_BINARY = [0, ''] as const;
const RELATION = 3;

/** Thrown to stop parsing. The issue has been recorded before. */
class ParsingStopped extends Error {}

export function parse(source: Source, options: ParseOptions): Parsed {
  return new Parser(source, options).run();
}

class Parser implements ParserContext {
  readonly stream: TokenStream;
  readonly optionalSyntax: boolean;
  readonly escapedIdentifiers: boolean;
  readonly #options: ParseOptions;
  #depth = 0;

  constructor(source: Source, options: ParseOptions) {
    this.stream = new TokenStream(source);
    this.optionalSyntax = options.optionalSyntax;
    this.escapedIdentifiers = options.escapedIdentifiers;
    this.#options = options;
  }

  run(): Parsed {
    let root = broken(0);
    try {
      root = this.expr();
      this.stream.expectEnd();
      this.#rejectLongChains(root);
    } catch (e) {
      if (!(e instanceof ParsingStopped)) throw e;
      root = broken(0);
    }
    return { root, issues: this.stream.issues };
  }

  /** Chains (`a.b.c…`, `1 + 1 + …`) are parsed in a loop, but later stages recurse into them. */
  #rejectLongChains(root: Expr): void {
    const todo: [Expr, number][] = [[root, 0]];
    for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
      const [e, outer] = next;
      const depth = e.kind === 'logical' || e.kind === 'list' || e.kind === 'map' ? outer : outer + 1;
      if (outer > this.#options.maxRecursion) {
        this.stream.report(e.at, 'max recursion depth exceeded');
        throw new ParsingStopped();
      }
      for (const child of children(e)) todo.push([child, depth]);
    }
  }

  expr(extra: readonly TokenKind[] = []): Expr {
    const s = this.stream;
    if (++this.#depth > this.#options.maxRecursion) {
      s.report(s.token.start, `expression recursion limit exceeded: ${this.#options.maxRecursion}`);
      throw new ParsingStopped();
    }
    const start = s.token.start;
    const condition = this.#or(extra);
    const op = s.accept('?');
    if (op === undefined) {
      this.#depth--;
      return condition;
    }
    const whenTrue = this.#or();
    s.expect(':');
    const whenFalse = this.expr();
    this.#depth--;
    return this.#call('_?_:_', op.start, start, [condition, whenTrue, whenFalse]);
  }

  #or(extra: readonly TokenKind[] = []): Expr {
    return this.#chain('||', () => this.#chain('&&', () => this.#binary(RELATION, extra)));
  }

  #chain(op: '&&' | '||', term: () => Expr): Expr {
    const s = this.stream;
    const start = s.token.start;
    const first = term();
    if (s.token.kind !== op) return first;
    const at = s.token.start;
    const terms = [first];
    while (s.accept(op) !== undefined) terms.push(term());
    return { kind: 'logical', op, terms, at, start, end: s.previousEnd };
  }

  #binary(minimum: number, extra: readonly TokenKind[] = []): Expr {
    const s = this.stream;
    const start = s.token.start;
    let left = this.#unary(extra);
    for (;;) {
      const [precedence, fn] = BINARY[s.token.kind] ?? NOT_BINARY;
      if (precedence < minimum) return left;
      const op = s.advance();
      left = this.#call(fn, op.start, start, [left, this.#binary(precedence + 1)]);
    }
  }

  #unary(extra: readonly TokenKind[] = []): Expr {
    const s = this.stream;
    const { kind, start } = s.token;
    if (kind !== '!' && kind !== '-') return this.#member(extra);
    if (this.#startsSignedNumber()) return this.#member(extra);
    let count = 0;
    for (; s.token.kind === kind; count++) s.advance();
    if (s.token.kind === 'EOF') return danglingSign(s, kind);
    const operand = this.#member();
    if (count % 2 === 0) return operand;
    return this.#call(kind === '!' ? '!_' : '-_', start, start, [operand]);
  }

  /** A minus directly before a number belongs to the literal, so that the smallest int can be written. */
  #startsSignedNumber(): boolean {
    if (this.stream.token.kind !== '-') return false;
    const next = this.stream.peek();
    return next === 'NUM_INT' || next === 'NUM_FLOAT';
  }

  #member(extra: readonly TokenKind[] = []): Expr {
    const s = this.stream;
    const start = s.token.start;
    let e = this.#primary(extra);
    for (;;) {
      const { kind } = s.token;
      if (kind === '.') e = this.#selection(e, start);
      else if (kind === '[') e = this.#index(e, start);
      else {
        const name = kind === '{' ? typeName(e) : undefined;
        if (name === undefined) return e;
        e = struct(this, name, start);
      }
    }
  }

  #selection(operand: Expr, start: number): Expr {
    const s = this.stream;
    const dot = s.advanceDot();
    const optional = s.accept('?') !== undefined;
    const name = s.token;
    if (name.kind !== 'IDENTIFIER' && name.kind !== 'ESC_IDENTIFIER') return badSelection(s, dot, optional);
    s.advance();
    if (name.kind === 'IDENTIFIER' && !optional && s.token.kind === '(') {
      const open = s.advance();
      const args = this.#arguments();
      return this.#call(s.slice(name), open.start, start, args, operand);
    }
    const field = fieldName(this, name);
    const span = { at: dot.start, start, end: name.end };
    if (!optional) return { kind: 'select', operand, field, testOnly: false, ...span };
    if (!this.optionalSyntax) {
      s.report(dot.start, "unsupported syntax '.?'");
      return broken(dot.start);
    }
    const key = literalNode(s, [name.start, name.end], { value: field }, STRING);
    return { kind: 'call', function: '_?._', target: undefined, args: [operand, key], ...span };
  }

  #index(operand: Expr, start: number): Expr {
    const s = this.stream;
    const open = s.advance();
    const optional = s.accept('?') !== undefined;
    const key = this.expr(optional ? [] : ['?']);
    s.expect(']');
    if (optional && !this.optionalSyntax) {
      s.report(open.start, "unsupported syntax '[?'");
      return broken(open.start);
    }
    return this.#call(optional ? '_[?_]' : '_[_]', open.start, start, [operand, key]);
  }

  #arguments(): Expr[] {
    const s = this.stream;
    if (s.accept(')') !== undefined) return [];
    const args = [this.expr([')'])];
    while (s.accept(',') !== undefined) args.push(this.expr());
    s.expect(')');
    return args;
  }

  #primary(extra: readonly TokenKind[] = []): Expr {
    const s = this.stream;
    switch (s.token.kind) {
      case '(': {
        s.advance();
        const inner = this.expr();
        s.expect(')');
        return inner;
      }
      case '[':
        return list(this);
      case '{':
        return map(this);
      case '.':
      case 'IDENTIFIER':
        return this.#name();
      default:
        return scalar(s) ?? s.missingOperand(extra) ?? this.#primary(extra);
    }
  }

  #name(): Expr {
    const s = this.stream;
    const start = s.token.start;
    if (s.token.kind === '.' && s.peek() !== 'IDENTIFIER') return danglingDot(s);
    const dot = s.accept('.');
    const token = s.expect('IDENTIFIER');
    if (token === undefined) return broken(start);
    const word = s.slice(token);
    const name = dot === undefined ? word : `.${word}`;
    const open = s.accept('(');
    const args = open === undefined ? undefined : this.#arguments();
    if (RESERVED.has(word) && s.token.kind !== '{') {
      s.report(start, `reserved identifier: ${word}`);
      return broken(start);
    }
    if (open !== undefined && args !== undefined) return this.#call(name, open.start, start, args);
    return { kind: 'ident', name, at: token.start, start, end: token.end };
  }

  #call(fn: string, at: number, start: number, args: readonly Expr[], target?: Expr): Expr {
    const call = {
      kind: 'call',
      function: fn,
      target,
      args,
      at,
      start,
      end: this.stream.previousEnd,
    } as const;
    const expanded = expandMacro(this.#options.macros, call);
    if (expanded === undefined) return call;
    if (expanded.kind !== 'problem') return expanded;
    this.stream.report(expanded.at, expanded.message);
    return broken(at);
  }
}

/** `a.b.C` if the expression is a chain of names, otherwise undefined. */
function typeName(e: Expr): string | undefined {
  const names: string[] = [];
  let at = e;
  for (; at.kind === 'select' && !at.testOnly; at = at.operand) names.push(at.field);
  return at.kind === 'ident' ? [at.name, ...names.reverse()].join('.') : undefined;
}
