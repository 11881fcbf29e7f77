// Hostile programs and data: each ends in an error with a position, or in a result, and within bounds.

import { compile, conditionEnvironment, DYN, type Evaluation, kubernetesEnvironment } from '@lapse/cel/cel';
import { describe, expect, it } from 'vitest';

const env = conditionEnvironment({ x: DYN });

function issueOf(text: string, environment = env) {
  const compiled = compile(text, environment);
  if (compiled.kind !== 'invalid') throw new Error('compiles');
  return compiled.issues[0]!;
}

function evaluate(text: string, x: unknown = {}, limit?: number): Evaluation {
  const compiled = compile(text, env);
  if (compiled.kind === 'invalid') throw new Error(compiled.message);
  return compiled.program.evaluate({ x }, limit);
}

describe('hostile texts', () => {
  it.each<[name: string, text: string, line: number, column: number, message: RegExp]>([
    ['unterminated string', "x == 'abc", 1, 6, /token recognition error at: ''abc'/],
    ['unterminated triple string', "x == '''abc\ndef", 1, 8, /token recognition error/],
    ['unterminated string on the second line', 'x ==\n  "abc', 2, 3, /token recognition error/],
    [
      '100,001 characters',
      `${' '.repeat(100_000)}1`,
      1,
      100_001,
      /code point size exceeds limit: size: 100001, limit 100000/,
    ],
    [
      '10,000 nested parentheses',
      `${'('.repeat(10_000)}1${')'.repeat(10_000)}`,
      1,
      251,
      /recursion limit exceeded: 250/,
    ],
    [
      '10,000 nested lists',
      `${'['.repeat(10_000)}${']'.repeat(10_000)}`,
      1,
      251,
      /recursion limit exceeded: 250/,
    ],
    [
      '10,000 nested maps',
      `${'{1:'.repeat(10_000)}1${'}'.repeat(10_000)}`,
      1,
      749,
      /recursion limit exceeded/,
    ],
    [
      '10,000 nested calls',
      `${'size('.repeat(10_000)}x${')'.repeat(10_000)}`,
      1,
      1251,
      /recursion limit exceeded/,
    ],
    ['10,000 nested ternaries', `${'true ? 1 : '.repeat(5_000)}2`, 1, 2751, /recursion limit exceeded/],
    ['a sum of 20,000 terms', Array(20_000).fill('1').join('+'), 1, 39_499, /max recursion depth exceeded/],
    ['a path of 20,000 fields', `x${'.a'.repeat(20_000)}`, 1, 39_498, /max recursion depth exceeded/],
    ['20,000 indexes', `x${'[0]'.repeat(20_000)}`, 1, 59_250, /max recursion depth exceeded/],
    ['a chain of 5,000 optMaps', `x${'.?a.optMap(v, v)'.repeat(5_000)}`, 1, 0, /recursion depth exceeded/],
    ['a lone surrogate', "x == '\ud800'", 1, 7, /not valid Unicode/],
    ['an int beyond 64 bits', 'x == 9223372036854775808', 1, 6, /invalid int literal/],
    ['a negative int beyond 64 bits', 'x == -9223372036854775809', 1, 6, /invalid int literal/],
    ['a uint beyond 64 bits', 'x == 18446744073709551616u', 1, 6, /invalid uint literal/],
    ['a double beyond a double', 'x == 1e400', 1, 6, /invalid double literal/],
    ['a code point beyond Unicode', "x == '\\U00110000'", 1, 6, /invalid unicode code point/],
    ['nothing', '', 1, 1, /mismatched input '<EOF>'/],
    ['a zero byte', 'x == \0', 1, 6, /token recognition error/],
  ])('%s', (_, text, line, column, message) => {
    const issue = issueOf(text);
    expect(issue.message).toMatch(message);
    expect(issue.line).toBe(line);
    if (column > 0) expect(issue.column).toBe(column);
  });

  it('100,000 syntax errors do not cause 100,000 messages', () => {
    const compiled = compile('@'.repeat(99_999), env);
    expect(compiled.kind === 'invalid' && compiled.issues.length).toBeLessThan(110);
  });

  it('20,000 unknown names do not cause 20,000 messages, and are counted quickly', () => {
    const compiled = compile(Array(20_000).fill('y').join(' && '), env);
    expect(compiled.kind === 'invalid' && compiled.message).toMatch(/\n19900 more errors were truncated$/);
    expect(compile(`[${Array(20_000).fill('as').join(',')}]`, env).kind).toBe('invalid');
  });

  it('a deep tree is refused for conditions before the limit of the language', () => {
    expect(issueOf(`${'-('.repeat(120)}1${')'.repeat(120)}`).message).toMatch(
      /nests too deeply: 12\d, limit 100/,
    );
    expect(compile(`${'-('.repeat(120)}1${')'.repeat(120)}`, kubernetesEnvironment({})).kind).toBe('program');
  });

  it('100,000 characters of a valid program are accepted', () => {
    expect(compile(`x == "${'a'.repeat(99_990)}"`, env).kind).toBe('program');
    expect(compile(Array(12_000).fill('x.a').join(' && '), env).kind).toBe('program');
  });
});

const BIG = Array.from({ length: 3000 }, (_, i) => i);

describe('expensive evaluations end with the budget', () => {
  it.each<[name: string, text: string, x?: unknown]>([
    ['nested loops', 'x.all(a, x.all(b, x.all(c, a + b + c >= 0)))', BIG],
    ['nested maps', 'x.map(a, x.map(b, x.map(c, a)))', BIG],
    ['a long range', 'lists.range(1000000000000)'],
    ['ranges of ranges', 'lists.range(1000).map(a, lists.range(1000))'],
    ['a string that doubles', doubling('"aaaaaaaaaaaaaaaa"', 40)],
    ['a list that doubles', doubling('[1, 2, 3, 4, 5, 6, 7, 8]', 40)],
    ['bytes that double', doubling('b"aaaaaaaaaaaaaaaa"', 40)],
    [
      'replacing by something huge',
      'x.map(a, x.map(b, "aaaaaaaa").join("aaaaaaaaaaaa").replace("a", "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"))',
      BIG,
    ],
    [
      'joining one huge text often',
      'cel.bind(t, x.map(a, "aaaaaaaaaaaaaaaaaaaaaaaaaaa").join(), x.map(a, t).join())',
      BIG,
    ],
    ['formatting one huge list often', 'x.map(a, "%s".format([x]))', BIG],
    ['comparing deep equals', 'x.all(a, x.map(b, x) == x.map(c, x))', BIG],
    ['many matches', 'x.all(a, x.all(b, "aaaaaaaaaaaaaaaaaaaaaaaaaaaa".matches("^(a+)+$")))', BIG],
    ['many patterns', 'x.all(a, "a".matches(string(a) + "(x{30}){30}") || true)', BIG],
    ['free nodes in a loop', `x.all(a, x.all(b, ${Array(2000).fill('true').join(' && ')} && a >= 0))`, BIG],
    [
      'a constant list with one variable in it',
      `x.all(a, x.all(b, [${Array(5000).fill('1').join(',')}, b].size() > 0))`,
      BIG,
    ],
    ['sorting everything again and again', 'x.all(a, x.sortBy(b, -b).size() > 0)', BIG],
    [
      'distinct over maps',
      'x.map(a, {"k": a}).distinct().size()',
      Array.from({ length: 30_000 }, (_, i) => i),
    ],
    [
      'sets',
      'sets.contains(x, x) && sets.equivalent(x, x)',
      Array.from({ length: 30_000 }, (_, i) => `k${i}`),
    ],
  ])('%s', (_, text, x = {}) => {
    const outcome = evaluate(text, x);
    expect(outcome.kind).toBe('exhausted');
    expect(outcome.cost).toBeLessThanOrEqual(1_000_000 * 1.01);
  });

  it('exhaustion of the budget is not absorbed', () => {
    expect(evaluate('x.all(a, x.all(b, x.all(c, true))) || true', BIG).kind).toBe('exhausted');
  });

  it('a small limit is respected', () => {
    expect(evaluate('x.all(a, a >= 0)', BIG, 100)).toMatchObject({ kind: 'exhausted' });
    expect(evaluate('x.all(a, a >= 0)', BIG, 20_000)).toMatchObject({ kind: 'value', value: true });
  });

  it('a catastrophic pattern is linear', () => {
    const text = `${'a'.repeat(5000)}b`;
    expect(evaluate('x.matches("^(a+)+$")', text)).toMatchObject({ kind: 'value', value: false });
    expect(evaluate('x.matches("(x+x+)+y")', 'x'.repeat(5000))).toMatchObject({
      kind: 'value',
      value: false,
    });
  });
});

function doubling(start: string, times: number): string {
  return Array.from({ length: times }).reduce<string>((inner) => `cel.bind(v, ${inner}, v + v)`, start);
}

const PROTOTYPE_NAMES = [
  'constructor',
  '__proto__',
  'toString',
  'hasOwnProperty',
  'valueOf',
  'prototype',
  '__defineGetter__',
  'length',
  'map',
  'then',
];

describe('prototype names are ordinary keys', () => {
  it.each(PROTOTYPE_NAMES)('%s', (name) => {
    expect(evaluate(`x.${name}`)).toMatchObject({ kind: 'error', message: `no such key: ${name}` });
    expect(evaluate(`x["${name}"]`)).toMatchObject({ kind: 'error', message: `no such key: ${name}` });
    expect(evaluate(`has(x.${name})`)).toMatchObject({ kind: 'value', value: false });
    expect(evaluate(`"${name}" in x`)).toMatchObject({ kind: 'value', value: false });
    expect(evaluate(`x.?${name}.hasValue()`)).toMatchObject({ kind: 'value', value: false });
    expect(evaluate(`{"${name}": 1}.${name}`)).toMatchObject({ kind: 'value', value: 1 });
    const own = JSON.parse(`{"${name}": 7}`) as unknown;
    expect(evaluate(`x.${name}`, own)).toMatchObject({ kind: 'value', value: 7 });
    expect(evaluate(`x["${name}"] + 1`, own)).toMatchObject({ kind: 'value', value: 8 });
    expect(evaluate(`has(x.${name}) && "${name}" in x`, own)).toMatchObject({ kind: 'value', value: true });
  });

  it.each(PROTOTYPE_NAMES)('%s of other values', (name) => {
    const kinds = [
      '1',
      '1.5',
      '1u',
      '"s"',
      'b"s"',
      'true',
      'null',
      '[1]',
      'timestamp(0)',
      'duration("1s")',
      'type(1)',
      'optional.of(1)',
      'quantity("1")',
      'ip("1.2.3.4")',
    ];
    for (const kind of kinds) {
      const outcome = evaluate(`dyn(${kind}).${name}`);
      expect(['error', 'value']).toContain(outcome.kind);
      if (outcome.kind === 'value') expect(kind).toBe('optional.of(1)');
    }
  });

  it("an engine's own fields are not fields of its values", () => {
    for (const field of [
      'epochSeconds',
      'subNanos',
      'float64',
      'uintBits',
      'celEntries',
      'heldValue',
      'typeValue',
      'errorMessage',
      'opaqueQuantity',
      'opaqueAddress',
    ]) {
      for (const value of [
        'timestamp(0)',
        'duration("1s")',
        '1.5',
        '1u',
        '{"a": 1}',
        'type(1)',
        'quantity("1")',
        'ip("::1")',
      ]) {
        expect(evaluate(`dyn(${value}).${field}`).kind).toBe('error');
      }
    }
  });
});

describe('unusual values', () => {
  it.each<[text: string, x: unknown, outcome: unknown]>([
    ['x == x', Number.NaN, { kind: 'value', value: false }],
    ['x < 1.0', Number.NaN, { kind: 'error', message: 'NaN values cannot be ordered' }],
    ['[x] == [x]', Number.NaN, { kind: 'value', value: false }],
    ['x > 1.0', Number.POSITIVE_INFINITY, { kind: 'value', value: true }],
    ['x == 0', -0, { kind: 'value', value: true }],
    ['string(x)', -0, { kind: 'value', value: '0' }],
    ['x + 1', 2 ** 53, { kind: 'value', value: 2n ** 53n + 1n }],
    ['x + 1', 2n ** 63n - 1n, { kind: 'error', message: 'integer overflow' }],
    ['x - 1', -(2n ** 63n), { kind: 'error', message: 'integer overflow' }],
    ['-x', -(2n ** 63n), { kind: 'error', message: 'integer overflow' }],
    ['x * x', 2 ** 40, { kind: 'error', message: 'integer overflow' }],
    ['x / -1', -(2n ** 63n), { kind: 'error', message: 'integer overflow' }],
    ['x == 9223372036854775807', 2n ** 63n - 1n, { kind: 'value', value: true }],
    ['x', 2n ** 64n, { kind: 'error', message: 'integer overflow' }],
    ['type(x) == double', 1e300, { kind: 'value', value: true }],
    ['type(x) == int', 5, { kind: 'value', value: true }],
    ['x.size()', '\ud800', { kind: 'value', value: 1 }],
    ['x.size()', '😀', { kind: 'value', value: 1 }],
    ['x < "\\ue000"', '😀', { kind: 'value', value: false }],
    ['x.a', { a: undefined }, { kind: 'error', message: 'no such key: a' }],
    ['size(x)', { a: undefined, b: 1 }, { kind: 'value', value: 1 }],
    ['x', () => 1, { kind: 'error', message: 'unsupported value of type function' }],
    [
      'timestamp("9999-12-31T23:59:59.999999999Z") + duration("1ns")',
      {},
      { kind: 'error', message: 'timestamp overflow' },
    ],
    [
      'timestamp("0001-01-01T00:00:00Z") - duration("1ns")',
      {},
      { kind: 'error', message: 'timestamp overflow' },
    ],
    [
      'timestamp("9999-12-31T23:59:59Z") - timestamp("0001-01-01T00:00:00Z")',
      {},
      { kind: 'error', message: 'integer overflow' },
    ],
    ['timestamp(x)', '10000-01-01T00:00:00Z', { kind: 'error' }],
    [
      'duration("9223372036.854775807s") + duration("1ns")',
      {},
      { kind: 'error', message: 'integer overflow' },
    ],
  ])('%s', (text, x, outcome) => {
    expect(evaluate(text, x)).toMatchObject(outcome as object);
  });

  it('errors at run time have a position', () => {
    const outcome = evaluate('1 == 1 &&\n  x.a.b == 2', { a: {} });
    expect(outcome).toMatchObject({
      kind: 'error',
      issue: { line: 2, column: 6, message: 'no such key: b' },
    });
  });

  it('data nested deeper than the stack ends the evaluation, not the process', () => {
    const nest = (depth: number) => {
      let v: unknown = 1;
      for (let i = 0; i < depth; i++) v = [v];
      return v;
    };
    const x = { a: nest(200_000), b: nest(200_000) };
    expect(evaluate('x.a == x.b', x).kind).toBe('exhausted');
    expect(evaluate('x.a.flatten(1000000) == []', x).kind).toBe('exhausted');
    expect(evaluate('"%s".format([x.a]) == ""', x).kind).toBe('exhausted');
    expect(evaluate('x.a.isSorted()', x).kind).toBe('exhausted');
    expect(evaluate('size(x.a)', x)).toMatchObject({ kind: 'value', value: 1 });
  });

  it('data is not changed', () => {
    const x = Object.freeze({ list: Object.freeze([3, 1, 2]), map: Object.freeze({ a: 1 }) });
    for (const text of [
      'x.list.sort()',
      'x.list + [4]',
      'x.list.reverse()',
      'x.list.map(e, e)',
      'x.map.transformMap(k, v, v + 1)',
    ]) {
      expect(evaluate(text, x).kind).toBe('value');
    }
    expect(x).toEqual({ list: [3, 1, 2], map: { a: 1 } });
  });
});
