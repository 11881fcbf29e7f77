// The regex extensions of cel-go (extract, extractAll, replace) and of Kubernetes (find, findAll).

import type { RE2JS } from 're2js';
import { fn, fnAt, type Library, member, overload } from '../declarations.ts';
import type { Frame } from '../frame.ts';
import { patternFor } from '../patterns.ts';
import { INT, listOf, optionalOf, STRING } from '../types.ts';
import { Failure, fail, NONE, Optional, type Value } from '../values.ts';
import { matchCost } from './standard.ts';

const LIST_OF_STRING = listOf(STRING);
const MAX_INT32 = 2 ** 31 - 1;

interface Found {
  readonly text: string;
  readonly start: number;
  readonly end: number;
  /** Captured groups. Null for a group that did not participate. */
  readonly groups: readonly (string | null)[];
}

/** Up to `limit` matches from left to right. Like Go, it drops an empty match directly after another match. */
function* matchesOf(pattern: RE2JS, text: string, limit: number, f: Frame): Generator<Found> {
  const matcher = pattern.matcher(text);
  let behind = -1;
  for (let n = 0; n < limit && matcher.find(); ) {
    f.work(150 + pattern.programSize());
    const start = matcher.start();
    const end = matcher.end();
    if (start === end && start === behind) continue;
    behind = end;
    n++;
    const groups = Array.from({ length: matcher.groupCount() + 1 }, (_, i) => matcher.group(i));
    yield { text: text.slice(start, end), start, end, groups };
  }
}

type Body = (pattern: RE2JS, text: string, f: Frame) => Value;

/** A function of a text and a pattern. */
const onMatch = (body: Body) => (text: Value, pattern: Value, f: Frame) => {
  if (typeof text !== 'string' || typeof pattern !== 'string') return undefined;
  const compiled = patternFor(pattern, text.length, f);
  return compiled instanceof Failure ? compiled : body(compiled, text, f);
};

const tooManyGroups = (pattern: RE2JS): Failure =>
  fail(`regular expression has more than one capturing group: ${JSON.stringify(pattern.pattern())}`);

const extract: Body = (pattern, text, f) => {
  if (pattern.groupCount() > 1) return tooManyGroups(pattern);
  const [found] = matchesOf(pattern, text, 1, f);
  if (found === undefined) return NONE;
  if (pattern.groupCount() === 0) return new Optional(found.text);
  const group = found.groups[1];
  return group === null || group === undefined || group === '' ? NONE : new Optional(group);
};

const extractAll: Body = (pattern, text, f) => {
  if (pattern.groupCount() > 1) return tooManyGroups(pattern);
  const all = [...matchesOf(pattern, text, Number.POSITIVE_INFINITY, f)];
  if (pattern.groupCount() === 0) return all.map((m) => m.text);
  return all.map((m) => m.groups[1] ?? '').filter((g) => g !== '');
};

function replaceN(text: Value, pattern: Value, by: Value, n: Value, f: Frame): Value | undefined {
  const texts = typeof text === 'string' && typeof pattern === 'string' && typeof by === 'string';
  if (!texts || (typeof n !== 'number' && typeof n !== 'bigint')) return undefined;
  if (n > MAX_INT32) return fail('integer overflow');
  if (n === 0) return text;
  const compiled = patternFor(pattern, text.length, f);
  if (compiled instanceof Failure) return compiled;
  let out = '';
  let at = 0;
  for (const m of matchesOf(compiled, text, n < 0 ? Number.POSITIVE_INFINITY : Number(n), f)) {
    const replacement = expand(by, m, compiled.groupCount());
    if (typeof replacement !== 'string') return replacement;
    f.work(replacement.length * 0.1);
    out += text.slice(at, m.start) + replacement;
    at = m.end;
  }
  return out + text.slice(at);
}

/** The replacement with its group references (`\1`) resolved. */
function expand(by: string, m: Found, groupCount: number): string | Failure {
  let problem: Failure | undefined;
  const text = by.replace(/\\(.?)/gs, (_, c: string) => {
    if (c === '\\') return '\\';
    const reject = (why: string) => {
      problem ??= fail(why);
      return '';
    };
    if (c === '') return reject(`invalid replacement string: '${by}' \\ not allowed at end`);
    if (!/\d/.test(c))
      return reject(`invalid replacement string: '${by}' \\ must be followed by a digit or \\`);
    if (Number(c) > groupCount) {
      return reject(`replacement string references group ${c} but regex has only ${groupCount} group(s)`);
    }
    return m.groups[Number(c)] ?? '';
  });
  return problem ?? text;
}

export const REGEX: Library = {
  name: 'regex',
  functions: [
    fn(
      'regex.extract',
      overload('regex_extract_string_string', [STRING, STRING], optionalOf(STRING), onMatch(extract)),
    ),
    fn(
      'regex.extractAll',
      overload('regex_extractAll_string_string', [STRING, STRING], LIST_OF_STRING, onMatch(extractAll)),
    ),
    fn(
      'regex.replace',
      overload(
        'regex_replace_string_string_string',
        [STRING, STRING, STRING],
        STRING,
        (t: Value, p: Value, by: Value, f: Frame) => replaceN(t, p, by, -1, f),
      ),
      overload('regex_replace_string_string_string_int', [STRING, STRING, STRING, INT], STRING, replaceN),
    ),
  ],
};

const findFirst: Body = (pattern, text, f) => {
  const [found] = matchesOf(pattern, text, 1, f);
  return found?.text ?? '';
};

function findAll(text: Value, pattern: Value, limit: Value, f: Frame): Value | undefined {
  if (typeof limit !== 'number') return undefined;
  const most = limit < 0 ? Number.POSITIVE_INFINITY : limit;
  return onMatch((p, t) => [...matchesOf(p, t, most, f)].map((m) => m.text))(text, pattern, f);
}

export const KUBERNETES_REGEX: Library = {
  name: 'kubernetes regex',
  functions: [
    fnAt(matchCost, 'find', member('string_find_string', [STRING, STRING], STRING, onMatch(findFirst))),
    fnAt(
      matchCost,
      'findAll',
      member('string_find_all_string', [STRING, STRING], LIST_OF_STRING, (t: Value, p: Value, f: Frame) =>
        findAll(t, p, -1, f),
      ),
      member('string_find_all_string_int', [STRING, STRING, INT], LIST_OF_STRING, findAll),
    ),
  ],
};
