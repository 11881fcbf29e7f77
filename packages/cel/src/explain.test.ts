import { describe, expect, it } from 'vitest';
import { idleRevision, SEED_CONDITION } from '../../../test/cel/seed.ts';
import {
  type Bindings,
  compile,
  conditionEnvironment,
  DYN,
  explain,
  type Program,
  timestampFromMillis,
} from './cel.ts';

const env = conditionEnvironment({ x: DYN, revisions: DYN });

function program(text: string): Program {
  const compiled = compile(text, env);
  if (compiled.kind === 'invalid') throw new Error(compiled.message);
  return compiled.program;
}

const lines = (text: string, bindings: Bindings): string[] =>
  explain(program(text), bindings).because.map((r) => `${r.line}:${r.column} ${r.text} = ${r.value}`);

const X = { x: { n: 5, s: 'idle', list: [1, 7, 3], m: null } };

describe('explain returns the deciding parts', () => {
  it.each<[rule: string, text: string, because: string[]]>([
    ['a comparison with its operands', 'x.n > 3', ['1:1 x.n > 3 = true', '1:1 x.n = 5']],
    [
      'the false term of an and',
      'x.n > 3 && x.s == "busy"',
      ['1:12 x.s == "busy" = false', '1:12 x.s = "idle"'],
    ],
    ['the true term of an or', 'x.s == "busy" || x.n > 3', ['1:18 x.n > 3 = true', '1:18 x.n = 5']],
    [
      'every term when all had to be true',
      'x.n > 3 && x.s == "idle"',
      ['1:1 x.n > 3 = true', '1:1 x.n = 5', '1:12 x.s == "idle" = true', '1:12 x.s = "idle"'],
    ],
    ['through a negation', '!(x.n > 3)', ['1:3 x.n > 3 = true', '1:3 x.n = 5']],
    ['the element that matched', 'x.list.exists(i, i > 5)', ['1:18 i > 5 = true', '1:18 i = 7']],
    ['the element that did not match', 'x.list.all(i, i < 5)', ['1:15 i < 5 = false', '1:15 i = 7']],
    [
      'the list when no element matched',
      'x.list.exists(i, i > 9)',
      ['1:1 x.list.exists(i, i > 9) = false', '1:1 x.list = [1, 7, 3]'],
    ],
    ['the term that failed', 'x.n > 3 && x.zz', ['1:12 x.zz = error: no such key: zz']],
    ['no failed term if another term decided', 'x.zz || x.n > 3', ['1:9 x.n > 3 = true', '1:9 x.n = 5']],
    [
      'operands of operands',
      'size(x.list) + 1 == 4',
      [
        '1:1 size(x.list) + 1 == 4 = true',
        '1:1 size(x.list) + 1 = 4',
        '1:1 size(x.list) = 3',
        '1:6 x.list = [1, 7, 3]',
      ],
    ],
  ])('%s', (_, text, because) => {
    expect(lines(text, X)).toEqual(because);
  });

  it('explains why the seed condition is false', () => {
    const revisions = {
      items: [idleRevision('a', '2020-01-01T00:00:00Z'), idleRevision('b', '2026-01-01T00:00:00Z')],
    };
    const time = timestampFromMillis(Date.parse('2026-01-02T00:00:00Z'));
    expect(lines(SEED_CONDITION, { revisions, time })).toEqual([
      '8:38 time - timestamp(c.lastTransitionTime) < duration("360h") = true',
      '8:38 time - timestamp(c.lastTransitionTime) = duration("86400s")',
      '8:38 time = timestamp("2026-01-02T00:00:00Z")',
      '8:45 timestamp(c.lastTransitionTime) = timestamp("2026-01-01T00:00:00Z")',
      '8:55 c.lastTransitionTime = "2026-01-01T00:00:00Z"',
      '8:79 duration("360h") = duration("1296000s")',
    ]);
  });

  it('stays small on huge data', () => {
    const list = Array.from({ length: 50_000 }, (_, i) => `element number ${i}`);
    const { because } = explain(program('x.list.exists(e, e == "no such")'), { x: { list } });
    expect(because.length).toBe(2);
    for (const { value } of because) expect(value.length).toBeLessThan(140);
  });

  it('reports an exhausted budget instead of a result', () => {
    const list = Array.from({ length: 2000 }, (_, i) => i);
    const { outcome } = explain(
      program('x.list.all(a, x.list.all(b, a + b > -1))'),
      { x: { list } },
      { limit: 10_000 },
    );
    expect(outcome.kind).toBe('exhausted');
  });

  it('returns the same result as plain evaluation', () => {
    for (const text of ['x.n > 3', 'x.zz', 'x.list.map(i, i * 2)', 'x.m == null']) {
      const { outcome } = explain(program(text), X);
      expect(JSON.stringify(outcome)).toBe(JSON.stringify(program(text).evaluate(X)));
    }
  });
});
