// The strings extension. All indexes are in code points.

import {
  type CallCost,
  type FunctionDecl,
  fn,
  fnAt,
  type Library,
  member,
  overload,
  working,
} from '../declarations.ts';
import type { Frame } from '../frame.ts';
import { deepTraversal, sizeOf, traversal } from '../sizes.ts';
import { codePointIndex, codePointLength, unitOffset } from '../text.ts';
import { DYN, INT, listOf, STRING } from '../types.ts';
import { adapt, fail, type Value } from '../values.ts';
import { type Dialect, format } from './format.ts';

const LIST_OF_STRING = listOf(STRING);

const once: CallCost = (a) => traversal(sizeOf(a));
const twice: CallCost = (a) => Math.ceil(sizeOf(a) * 0.2);
const outOfRange = (index: Value): Value => fail(`index out of range: ${String(index)}`);

/** A function of one string. */
const onText = (body: (s: string) => Value) => (s: Value, f: Frame) => {
  if (typeof s !== 'string') return undefined;
  f.work(20 + s.length * 0.5);
  return body(s);
};

const ASCII_UPPER = /[A-Z]+/g;
const ASCII_LOWER = /[a-z]+/g;
// Like unicode.IsSpace of Go, which strings.TrimSpace uses.
const SPACE = '\\t\\n\\v\\f\\r \\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000';
const TRIM_START = new RegExp(`^[${SPACE}]+`);
const isSpace = new RegExp(`[${SPACE}]`);

function trim(s: string): string {
  const text = s.replace(TRIM_START, '');
  let end = text.length;
  // A regular expression anchored at the end would try every run of spaces in the middle.
  while (end > 0 && isSpace.test(text[end - 1]!)) end--;
  return text.slice(0, end);
}

function charAt(s: Value, i: Value, f: Frame): Value | undefined {
  if (typeof s !== 'string' || typeof i !== 'number') return undefined;
  f.work(s.length * 0.1);
  const at = unitOffset(s, i);
  if (at === undefined) return outOfRange(i);
  return at === s.length ? '' : String.fromCodePoint(s.codePointAt(at)!);
}

function tail(s: Value, start: Value, f: Frame): Value | undefined {
  if (typeof s !== 'string' || typeof start !== 'number') return undefined;
  f.work(s.length * 0.1);
  const from = unitOffset(s, start);
  return from === undefined ? outOfRange(start) : s.slice(from);
}

function substring(s: Value, start: Value, last: Value, f: Frame): Value | undefined {
  if (typeof s !== 'string' || typeof start !== 'number' || typeof last !== 'number') return undefined;
  f.work(s.length * 0.2);
  if (start > last) return fail(`invalid substring range. start: ${start}, end: ${last}`);
  const from = unitOffset(s, start);
  const to = unitOffset(s, last);
  if (from === undefined) return outOfRange(start);
  return to === undefined ? outOfRange(last) : s.slice(from, to);
}

/**
 * Where a search starts, in UTF-16 units. `strict`: an offset after the end is an error. The cel-go version in
 * Kubernetes returns -1.
 */
function startOf(s: string, offset: number, strict: boolean): Value {
  if (offset < 0) return outOfRange(offset);
  const from = unitOffset(s, offset);
  if (from !== undefined && (strict || from < s.length)) return from;
  return strict ? outOfRange(offset) : -1;
}

function indexOf(strict: boolean) {
  return (s: Value, sub: Value, offset: Value, f: Frame): Value | undefined => {
    if (typeof s !== 'string' || typeof sub !== 'string' || typeof offset !== 'number') return undefined;
    f.work(s.length * 0.2 + sub.length);
    if (sub === '' && (!strict || offset <= codePointLength(s))) return offset;
    const from = startOf(s, offset, strict);
    return typeof from === 'number' && from >= 0 ? codePointIndex(s, s.indexOf(sub, from)) : from;
  };
}

function lastIndexOf(strict: boolean) {
  return (s: Value, sub: Value, offset: Value, f: Frame): Value | undefined => {
    if (typeof s !== 'string' || typeof sub !== 'string' || typeof offset !== 'number') return undefined;
    f.work(s.length * 0.2 + sub.length);
    if (sub === '') return offset;
    const from = startOf(s, offset, strict);
    return typeof from === 'number' && from >= 0 ? codePointIndex(s, s.lastIndexOf(sub, from)) : from;
  };
}

const lastIndexAnywhere = (s: Value, sub: Value, f: Frame): Value | undefined => {
  if (typeof s !== 'string' || typeof sub !== 'string') return undefined;
  f.work(s.length * 0.2 + sub.length);
  return sub === '' ? codePointLength(s) : codePointIndex(s, s.lastIndexOf(sub));
};

/** Splits a text. An empty separator splits between code points. */
function splitParts(s: string, separator: string): string[] {
  return separator === '' ? [...s] : s.split(separator);
}

function split(s: Value, separator: Value, f: Frame): Value | undefined {
  if (typeof s !== 'string' || typeof separator !== 'string') return undefined;
  f.work(s.length);
  return splitParts(s, separator);
}

function splitN(s: Value, separator: Value, n: Value, f: Frame): Value | undefined {
  if (typeof s !== 'string' || typeof separator !== 'string' || typeof n !== 'number') return undefined;
  f.work(s.length * 0.5);
  if (n === 0) return [];
  const parts = splitParts(s, separator);
  if (n < 0 || parts.length <= n) return parts;
  return [...parts.slice(0, n - 1), parts.slice(n - 1).join(separator)];
}

function replaceN(s: Value, old: Value, by: Value, n: Value, f: Frame): Value | undefined {
  const texts = typeof s === 'string' && typeof old === 'string' && typeof by === 'string';
  if (!texts || typeof n !== 'number') return undefined;
  // An upper bound of the replacements. Their total size is charged before the result is built.
  const count = old === '' ? s.length + 1 : Math.floor(s.length / old.length);
  const most = n < 0 ? count : Math.min(n, count);
  f.work(40 + s.length + most * by.length * 0.2);
  if (n < 0) return old === '' ? interleave(s, by, count) : s.replaceAll(old, () => by);
  if (old === '') return interleave(s, by, most);
  const parts = s.split(old);
  if (parts.length <= most + 1) return parts.join(by);
  return parts.slice(0, most).join(by) + (most > 0 ? by : '') + parts.slice(most).join(old);
}

/** Inserts `by` before each of the first `most` characters, and after the last one if `most` allows. */
function interleave(s: string, by: string, most: number): string {
  const points = [...s];
  const replaced = points.map((c, i) => (i < most ? by + c : c)).join('');
  return most > points.length ? replaced + by : replaced;
}

function join(list: Value, separator: Value, f: Frame): Value | undefined {
  if (
    !Array.isArray(list) ||
    typeof separator !== 'string' ||
    (list.length > 0 && typeof list[0] !== 'string')
  ) {
    f.charge(1);
    return undefined;
  }
  f.work(list.length);
  const wrong = list.find((e) => typeof e !== 'string');
  if (wrong !== undefined) return fail(`join: invalid input: ${String(adapt(wrong))}`);
  const length = joinedLength(list, separator);
  // Twice the traversal of the result, as in Kubernetes, but charged before it is built.
  f.charge(Math.ceil(length * 0.2));
  f.work(length * 0.1);
  return list.join(separator);
}

const joinedLength = (list: readonly Value[], separator: string): number =>
  list.reduce((sum: number, e) => sum + (e as string).length, 0) +
  Math.max(0, list.length - 1) * separator.length;

const ESCAPES: Readonly<Record<string, string>> = {
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
  '\\': '\\\\',
  '"': '\\"',
};

const quote = (s: string): string =>
  `"${s.toWellFormed().replace(/[\x07\b\f\n\r\t\v\\"]/g, (c) => ESCAPES[c]!)}"`;

const free: CallCost = () => 0;
const walk: CallCost = (a) => deepTraversal(a);

const textFunction = (name: string, id: string, body: (s: string) => Value): FunctionDecl =>
  fnAt(once, name, member(id, [STRING], STRING, onText(body)));

/** The functions that are the same in all versions. */
const COMMON: readonly FunctionDecl[] = [
  fn('charAt', member('string_char_at_int', [STRING, INT], STRING, charAt)),
  textFunction('lowerAscii', 'string_lower_ascii', (s) => s.replace(ASCII_UPPER, (m) => m.toLowerCase())),
  textFunction('upperAscii', 'string_upper_ascii', (s) => s.replace(ASCII_LOWER, (m) => m.toUpperCase())),
  fnAt(
    twice,
    'replace',
    member(
      'string_replace_string_string',
      [STRING, STRING, STRING],
      STRING,
      (s: Value, o: Value, by: Value, f: Frame) => replaceN(s, o, by, -1, f),
    ),
    member('string_replace_string_string_int', [STRING, STRING, STRING, INT], STRING, replaceN),
  ),
  fnAt(
    twice,
    'split',
    member('string_split_string', [STRING, STRING], LIST_OF_STRING, split),
    member('string_split_string_int', [STRING, STRING, INT], LIST_OF_STRING, splitN),
  ),
  fnAt(
    once,
    'substring',
    member('string_substring_int', [STRING, INT], STRING, tail),
    member('string_substring_int_int', [STRING, INT, INT], STRING, substring),
  ),
  textFunction('trim', 'string_trim', trim),
  fn('strings.quote', overload('strings_quote', [STRING], STRING, onText(quote), { cost: once })),
  fnAt(
    free,
    'join',
    member('list_join', [LIST_OF_STRING], STRING, (l: Value, f: Frame) => join(l, '', f)),
    member('list_join_string', [LIST_OF_STRING, STRING], STRING, join),
  ),
];

const REVERSE = fn(
  'reverse',
  member(
    'string_reverse',
    [STRING],
    STRING,
    onText((s) => [...s].reverse().join('')),
  ),
);

export function stringsLibrary(dialect: Dialect): Library {
  const strict = dialect === 'current';
  const find = indexOf(strict);
  return {
    name: `strings (${dialect})`,
    functions: working(
      35,
      ...COMMON,
      fnAt(
        walk,
        'indexOf',
        member('string_index_of_string', [STRING, STRING], INT, (s: Value, sub: Value, f: Frame) =>
          find(s, sub, 0, f),
        ),
        member('string_index_of_string_int', [STRING, STRING, INT], INT, find),
      ),
      fnAt(
        walk,
        'lastIndexOf',
        member('string_last_index_of_string', [STRING, STRING], INT, lastIndexAnywhere),
        member('string_last_index_of_string_int', [STRING, STRING, INT], INT, lastIndexOf(strict)),
      ),
      fn('format', member('string_format', [STRING, listOf(DYN)], STRING, format(dialect), { cost: once })),
      ...(strict ? [REVERSE] : []),
    ),
  };
}
