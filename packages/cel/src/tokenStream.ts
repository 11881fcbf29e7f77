// The token stream of the parser, with ANTLR's error recovery.

import type { Expr } from './ast.ts';
import { type Token, type TokenKind, tokenize } from './lexer.ts';
import { type Issue, Problems, type Source } from './source.ts';
import { formatExpected, OPERAND_FOLLOW, OPERAND_START, quoteToken } from './syntaxErrors.ts';

export class TokenStream {
  readonly #problems: Problems;
  readonly #source: Source;
  readonly #tokens: readonly Token[];
  #at = 0;
  // After an error nothing more is reported until a token fits again.
  #recovering = false;

  constructor(source: Source) {
    const { tokens, issues } = tokenize(source);
    this.#source = source;
    this.#tokens = tokens;
    this.#problems = new Problems(source);
    this.#problems.list.push(...issues);
  }

  get issues(): readonly Issue[] {
    return this.#problems.list;
  }

  get token(): Token {
    return this.#tokens[this.#at]!;
  }

  get previousEnd(): number {
    return this.#at === 0 ? 0 : this.#tokens[this.#at - 1]!.end;
  }

  get next(): Token {
    return this.#tokens[Math.min(this.#at + 1, this.#tokens.length - 1)]!;
  }

  peek(): TokenKind {
    return this.next.kind;
  }

  slice(token: Pick<Token, 'start' | 'end'>): string {
    return this.#source.text.slice(token.start, token.end);
  }

  advance(): Token {
    const token = this.token;
    this.#recovering = false;
    if (token.kind !== 'EOF') this.#at++;
    return token;
  }

  /** Consumes a dot. During recovery, a dot without a name is not reported again. */
  advanceDot(): Token {
    const stays = this.#recovering && !NAMED.has(this.peek());
    const dot = this.advance();
    this.#recovering = stays;
    return dot;
  }

  accept(kind: TokenKind): Token | undefined {
    return this.token.kind === kind ? this.advance() : undefined;
  }

  report(offset: number, message: string): void {
    this.#problems.add(offset, message);
  }

  syntaxError(message: string, at: Token = this.token): void {
    if (!this.#recovering) this.report(at.start, `Syntax error: ${message}`);
    this.#recovering = true;
  }

  /** The current token, quoted for a message. */
  found(): string {
    return quoteToken(this.token, this.#source.text);
  }

  /** Consumes `kind`. `expected` is the list in the message if the current token is another one. */
  expect(kind: TokenKind, expected: readonly TokenKind[] = [kind]): Token | undefined {
    if (this.token.kind === kind) return this.advance();
    if (this.peek() === kind && this.token.kind !== 'EOF') {
      this.syntaxError(`extraneous input ${this.found()} expecting ${formatExpected(expected)}`);
      this.#at++;
      return this.advance();
    }
    const follows = kind === ':' ? OPERAND_START : OPERAND_FOLLOW;
    if (expected.length === 1 && follows.has(this.token.kind)) {
      this.syntaxError(`missing '${kind}' at ${this.found()}`);
      return undefined;
    }
    this.syntaxError(`mismatched input ${this.found()} expecting ${formatExpected(expected)}`);
    this.skipToFollow(kind);
    return undefined;
  }

  expectEnd(): void {
    if (this.token.kind === 'EOF') return;
    const word = this.peek() === 'EOF' ? 'extraneous' : 'mismatched';
    this.syntaxError(`${word} input ${this.found()} expecting <EOF>`);
  }

  /** Skips tokens that can neither follow an operand nor be `kind`. */
  skipToFollow(kind: TokenKind = 'EOF'): void {
    while (!OPERAND_FOLLOW.has(this.token.kind) && this.token.kind !== kind) this.#at++;
    if (kind !== 'EOF') this.accept(kind);
  }

  /** The current token cannot start an operand. Either skips one token, or leaves a placeholder. */
  missingOperand(extra: readonly TokenKind[]): Expr | undefined {
    const { kind, start } = this.token;
    const expected = formatExpected([...OPERAND_START, ...extra]);
    const next = this.peek();
    if (kind !== 'EOF' && (OPERAND_START.has(next) || extra.includes(next))) {
      this.syntaxError(`extraneous input ${this.found()} expecting ${expected}`);
      this.#at++;
      return OPERAND_START.has(next) ? undefined : broken(start);
    }
    this.syntaxError(`mismatched input ${this.found()} expecting ${expected}`);
    this.skipToFollow();
    return broken(start);
  }
}

/** Tokens that may follow the dot of a selection. */
const NAMED = new Set<TokenKind>(['IDENTIFIER', 'ESC_IDENTIFIER', '?']);

/** A placeholder in the tree for a syntax error. */
export const broken = (at: number): Expr => ({ kind: 'broken', at, start: at, end: at });

/** A sign at the end of the text. ANTLR has different messages for the two signs. */
export function danglingSign(s: TokenStream, kind: '!' | '-'): Expr {
  const expected = formatExpected(OPERAND_START);
  if (kind === '!') s.syntaxError(`extraneous input '<EOF>' expecting ${expected}`);
  else {
    s.report(s.token.start, "Syntax error: no viable alternative at input '-'");
    s.syntaxError(`mismatched input '<EOF>' expecting ${expected}`);
  }
  return broken(s.token.start);
}

/** A dot without a name after it. */
export function badSelection(s: TokenStream, dot: Token, optional: boolean): Expr {
  const { kind } = s.token;
  const reserved = kind === 'true' || kind === 'false' || kind === 'null';
  if (optional) {
    s.syntaxError(`mismatched input ${s.found()} expecting {IDENTIFIER, ESC_IDENTIFIER}`);
    s.report(s.token.start, 'unsupported ident kind');
  } else if (reserved) s.syntaxError(`mismatched input '${kind}' expecting IDENTIFIER`);
  else s.syntaxError(messageAfterDot(s, dot, s.token));
  s.skipToFollow();
  return broken(dot.start);
}

/** A leading dot without a name. It is not consumed, and then parsed as a selection from a placeholder. */
export function danglingDot(s: TokenStream): Expr {
  s.syntaxError(messageAfterDot(s, s.token, s.next), s.next);
  return broken(s.token.start);
}

/** Reports a token that cannot follow a dot. */
function messageAfterDot(s: TokenStream, dot: Token, next: Token): string {
  const end = next.kind === 'EOF' ? dot.end : next.end;
  return `no viable alternative at input '${s.slice({ start: dot.start, end })}'`;
}
