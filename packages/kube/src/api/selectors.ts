// Label and field selectors: parsing with the error messages of Kubernetes, and matching.

import { quoteGo } from './fieldErrors.ts';
import { checkLabelValue, checkQualifiedName } from './names.ts';

export type Operator = '=' | '!=' | 'in' | 'notin' | 'exists' | '!' | 'gt' | 'lt';

export interface Requirement {
  readonly key: string;
  readonly operator: Operator;
  readonly values: readonly string[];
}

/** The text is not a valid selector. The message equals that of Kubernetes. */
export class SelectorError extends Error {}

export type LabelSelector = readonly Requirement[];

interface Token {
  kind: 'word' | 'op' | 'end';
  text: string;
}

const SINGLE = new Set(['(', ')', ',', '!', '=', '<', '>']);

function tokenise(text: string): Token[] {
  const tokens: Token[] = [];
  let i = 0;
  while (i < text.length) {
    const ch = text[i]!;
    if (/\s/.test(ch)) {
      i++;
      continue;
    }
    const two = text.slice(i, i + 2);
    if (two === '==' || two === '!=') {
      tokens.push({ kind: 'op', text: two });
      i += 2;
    } else if (SINGLE.has(ch)) {
      tokens.push({ kind: 'op', text: ch });
      i++;
    } else {
      let end = i;
      while (end < text.length && !/\s/.test(text[end]!) && !SINGLE.has(text[end]!)) end++;
      tokens.push({ kind: 'word', text: text.slice(i, end) });
      i = end;
    }
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
}

class LabelParser {
  readonly #tokens: Token[];
  #at = 0;
  constructor(text: string) {
    this.#tokens = tokenise(text);
  }

  parse(): Requirement[] {
    const out: Requirement[] = [];
    for (;;) {
      const token = this.#peek();
      if (token.kind === 'end') return out;
      if (token.kind === 'word' || token.text === '!') out.push(this.#requirement());
      else throw new SelectorError(`found '${token.text}', expected: !, identifier, or 'end of string'`);
      const after = this.#next();
      if (after.kind === 'end') return out;
      if (after.text !== ',' || after.kind !== 'op') {
        throw new SelectorError(`found '${after.text}', expected: ',' or 'end of string'`);
      }
      const then = this.#peek();
      if (then.kind !== 'word' && then.text !== '!') {
        throw new SelectorError(`found '${then.text}', expected: identifier after ','`);
      }
    }
  }

  #peek(): Token {
    return this.#tokens[this.#at]!;
  }
  #next(): Token {
    const token = this.#tokens[this.#at]!;
    if (token.kind !== 'end') this.#at++;
    return token;
  }

  #requirement(): Requirement {
    try {
      return this.#readRequirement();
    } catch (cause) {
      if (cause instanceof SelectorError)
        throw new SelectorError(`unable to parse requirement: ${cause.message}`);
      throw cause;
    }
  }

  #readRequirement(): Requirement {
    let operator: Operator | undefined;
    let token = this.#next();
    if (token.text === '!' && token.kind === 'op') {
      operator = '!';
      token = this.#next();
    }
    if (token.kind !== 'word') throw new SelectorError(`found '${token.text}', expected: identifier`);
    const key = token.text;
    throwIfAny(checkQualifiedName(key), (c) => `<nil>: Invalid value: ${quoteGo(key)}: ${c}`);
    if (operator) return { key, operator, values: [] };
    const ahead = this.#peek();
    if (ahead.kind === 'end' || ahead.text === ',') return { key, operator: 'exists', values: [] };
    operator = this.#operator();
    const values = operator === 'in' || operator === 'notin' ? this.#set() : [this.#value()];
    checkValues(key, operator, values);
    return { key, operator, values };
  }

  #operator(): Operator {
    const token = this.#next();
    switch (token.text) {
      case '=':
      case '==':
        return '=';
      case '!=':
        return '!=';
      case 'in':
        return 'in';
      case 'notin':
        return 'notin';
      case '>':
        return 'gt';
      case '<':
        return 'lt';
      default:
        throw new SelectorError(`found '${token.text}', expected: in, notin, =, ==, !=, gt, lt`);
    }
  }

  #value(): string {
    const ahead = this.#peek();
    if (ahead.kind === 'end' || ahead.text === ',') return '';
    const token = this.#next();
    if (token.kind !== 'word') throw new SelectorError(`found '${token.text}', expected: identifier`);
    return token.text;
  }

  #set(): string[] {
    const open = this.#next();
    if (open.text !== '(') throw new SelectorError(`found '${open.text}' expected: '('`);
    const values = new Set<string>();
    while (this.#setItem(values));
    return [...values].sort();
  }

  /** Reads one value, which may be empty, and the separator after it. False at the end of the set. */
  #setItem(values: Set<string>): boolean {
    const token = this.#next();
    if (token.kind !== 'word') {
      if (token.text !== ',' && token.text !== ')')
        throw new SelectorError(`found '${token.text}', expected: ',', ')' or identifier`);
      values.add('');
      return token.text === ',';
    }
    values.add(token.text);
    const after = this.#next();
    if (after.text === ')') return false;
    if (after.text !== ',') throw new SelectorError(`found '${after.text}', expected: ',' or ')'`);
    if (this.#peek().text !== ')') return true;
    this.#next();
    values.add('');
    return false;
  }
}

function throwIfAny(errors: string[], message: (c: string) => string): void {
  if (errors.length > 0) throw new SelectorError(message(errors.join('; ')));
}

function checkValues(key: string, operator: Operator, values: readonly string[]): void {
  if ((operator === 'gt' || operator === 'lt') && !/^[+-]?[0-9]+$/.test(values[0]!)) {
    const text = `for 'Gt', 'Lt' operators, the value must be an integer`;
    throw new SelectorError(`values[0][${key}]: Invalid value: ${quoteGo(values[0]!)}: ${text}`);
  }
  values.forEach((value, i) => {
    throwIfAny(checkLabelValue(value), (c) => `values[${i}][${key}]: Invalid value: ${quoteGo(value)}: ${c}`);
  });
}

export const parseLabelSelector = (text: string): LabelSelector => new LabelParser(text).parse();

export function matchesLabels(selector: LabelSelector, labels: Readonly<Record<string, string>>): boolean {
  return selector.every((r) =>
    matchesRequirement(r, Object.hasOwn(labels, r.key) ? labels[r.key] : undefined),
  );
}

function matchesRequirement(r: Requirement, value: string | undefined): boolean {
  switch (r.operator) {
    case 'exists':
      return value !== undefined;
    case '!':
      return value === undefined;
    case '=':
    case 'in':
      return value !== undefined && r.values.includes(value);
    case '!=':
    case 'notin':
      return value === undefined || !r.values.includes(value);
    case 'gt':
    case 'lt': {
      if (value === undefined || !/^[+-]?[0-9]+$/.test(value)) return false;
      const order = BigInt(value) - BigInt(r.values[0]!);
      return r.operator === 'gt' ? order > 0n : order < 0n;
    }
  }
}

/** `field=value` or `field!=value`. */
export interface FieldTerm {
  readonly field: string;
  readonly value: string;
  readonly negated: boolean;
}

/** Splits at `,` and resolves the escapes `\,`, `\=` and `\\`. */
export function parseFieldSelector(text: string): FieldTerm[] {
  return (
    splitTerms(text)
      .filter((term) => term !== '')
      .map((term) => {
        const match = /^((?:[^\\=!]|\\.|!(?!=))*)(!=|==|=)((?:[^\\]|\\.)*)$/s.exec(term);
        if (!match) throw new SelectorError(`invalid selector: '${text}'; can't understand '${term}'`);
        return { field: match[1]!, value: unescapeValue(match[3]!), negated: match[2] === '!=' };
      })
      // A term with empty field and value selects everything.
      .filter(({ field, value }) => field !== '' || value !== '')
  );
}

function splitTerms(text: string): string[] {
  const out: string[] = [];
  let current = '';
  for (let i = 0; i < text.length; i++) {
    const ch = text[i]!;
    if (ch === '\\') current += ch + (text[++i] ?? '');
    else if (ch === ',') {
      out.push(current);
      current = '';
    } else current += ch;
  }
  out.push(current);
  return out;
}

function unescapeValue(value: string): string {
  let out = '';
  for (let i = 0; i < value.length; i++) {
    const ch = value[i]!;
    if (ch === '=' || ch === ',')
      throw new SelectorError(`invalid field selector: unescaped character in value: ${ch.charCodeAt(0)}`);
    if (ch !== '\\') {
      out += ch;
      continue;
    }
    const next = value[++i];
    if (next === undefined || !'\\,='.includes(next)) {
      throw new SelectorError(`invalid field selector: invalid escape sequence: \\${next ?? ''}`);
    }
    out += next;
  }
  return out;
}

export function matchesFields(
  terms: readonly FieldTerm[],
  fields: Readonly<Record<string, string>>,
): boolean {
  return terms.every((t) => (fields[t.field] === t.value) !== t.negated);
}
