import { type Instant, instant } from '@lapse/base/instant';
import { describe, expect, it } from 'vitest';
import {
  type Bindings,
  compile,
  conditionEnvironment,
  DYN,
  type Program,
  type WhenTrue,
  whenTrue,
} from './cel.ts';

const env = conditionEnvironment({ x: DYN });
const at = (text: string): Instant => instant(Date.parse(text));
const FROM = at('2026-01-01T00:00:00Z');
const HORIZON = at('2036-01-01T00:00:00Z');

function program(text: string): Program {
  const compiled = compile(text, env);
  if (compiled.kind === 'invalid') throw new Error(compiled.message);
  return compiled.program;
}

const ask = (text: string | string[], x: Bindings[string] = {}): WhenTrue =>
  whenTrue([text].flat().map(program), { x }, { from: FROM, horizon: HORIZON });

const shown = (r: WhenTrue): string =>
  r.kind === 'at' ? `${new Date(r.at).toISOString()} ${r.exact ? 'exact' : 'searched'}` : r.kind;

const CREATED = { created: '2025-12-31T12:00:00Z' };

describe('whenTrue computes the instant', () => {
  it.each<[rule: string, condition: string | string[], answer: string]>([
    [
      'an age above a limit is true directly after it',
      'time - timestamp(x.created) > duration("24h")',
      '2026-01-01T12:00:00.001Z exact',
    ],
    [
      'an age that reaches a limit is true at it',
      'time - timestamp(x.created) >= duration("24h")',
      '2026-01-01T12:00:00.000Z exact',
    ],
    [
      'a sum on the left',
      'time + duration("1h") >= timestamp("2026-01-02T00:00:00Z")',
      '2026-01-01T23:00:00.000Z exact',
    ],
    [
      'a difference on the left',
      'time - duration("1h") > timestamp("2026-01-02T00:00:00Z")',
      '2026-01-02T01:00:00.001Z exact',
    ],
    ['time on the right', 'timestamp("2026-03-01T00:00:00Z") <= time', '2026-03-01T00:00:00.000Z exact'],
    [
      'time subtracted',
      'timestamp("2026-03-01T00:00:00Z") - time < duration("1h")',
      '2026-02-28T23:00:00.001Z exact',
    ],
    ['negated', '!(time - timestamp(x.created) < duration("24h"))', '2026-01-01T12:00:00.000Z exact'],
    [
      'through a binding',
      'cel.bind(age, time - timestamp(x.created), age >= duration("24h"))',
      '2026-01-01T12:00:00.000Z exact',
    ],
    [
      'in a ternary',
      'time > timestamp("2026-02-01T00:00:00Z") ? true : false',
      '2026-02-01T00:00:00.001Z exact',
    ],
    ['already true', 'time > timestamp("2020-01-01T00:00:00Z")', '2026-01-01T00:00:00.000Z exact'],
    ['never within the horizon', 'time > timestamp("2040-01-01T00:00:00Z")', 'never'],
    ['never at all', 'time < timestamp("2020-01-01T00:00:00Z")', 'never'],
    ['independent of time', 'x.created == "tomorrow"', 'never'],
    ['an error is not true', 'x.missing == 1', 'never'],
    [
      'a window that closes again, before a later and longer one',
      'time > timestamp("2026-01-01T10:00:00Z") && time < timestamp("2026-01-01T12:00:00Z") || time > timestamp("2027-02-05T00:00:00Z")',
      '2026-01-01T10:00:00.001Z exact',
    ],
    [
      'true for one instant only',
      'time == timestamp("2026-05-05T05:05:05Z")',
      '2026-05-05T05:05:05.000Z exact',
    ],
    [
      'several conditions: the last one decides',
      ['time > timestamp("2026-02-01T00:00:00Z")', 'time - timestamp(x.created) >= duration("2400h")'],
      '2026-04-10T12:00:00.000Z exact',
    ],
  ])('%s', (_, condition, answer) => {
    expect(shown(ask(condition, CREATED))).toBe(answer);
  });

  it('nanosecond precision, rounded up to the next millisecond', () => {
    const r = ask('time - timestamp(x.created) >= duration("24h")', {
      created: '2025-12-31T12:00:00.000000001Z',
    });
    expect(shown(r)).toBe('2026-01-01T12:00:00.001Z exact');
  });

  it('needs few evaluations', () => {
    const r = ask('time - timestamp(x.created) >= duration("24h")', CREATED);
    expect(r.evaluations).toBe(2);
  });

  it('finds the last of many instants, even if there are too many to check each', () => {
    const start = Date.parse('2026-01-01T00:00:00Z');
    const items = Array.from({ length: 500 }, (_, i) => new Date(start + i * 60_000).toISOString());
    const r = ask('!x.items.exists(i, time - timestamp(i) < duration("24h"))', { items });
    expect(shown(r)).toBe('2026-01-02T08:19:00.000Z searched');
    expect(r.evaluations).toBeLessThanOrEqual(64);
  });
});

describe('whenTrue searches if it cannot compute', () => {
  it('finds a calendar year to the second', () => {
    const r = ask('time.getFullYear() >= 2030');
    expect(r).toMatchObject({ kind: 'at', exact: false });
    const found = r.kind === 'at' ? r.at : 0;
    expect(found).toBeGreaterThanOrEqual(Date.parse('2030-01-01T00:00:00Z'));
    expect(found).toBeLessThan(Date.parse('2030-01-01T00:00:02Z'));
    expect(r.evaluations).toBeLessThanOrEqual(64);
  });

  it('needs one more evaluation if the condition is never true', () => {
    expect(ask('time.getFullYear() >= 2100')).toEqual({ kind: 'never', exact: false, evaluations: 2 });
  });

  it('detects that the condition does not stay true', () => {
    expect(ask('time.getDayOfWeek() == 2 || time.getFullYear() >= 2030').kind).toBe('notMonotonic');
  });

  it('gives up on a condition that exhausts the budget', () => {
    const items = Array.from({ length: 2000 }, (_, i) => i);
    expect(
      ask('x.items.all(a, x.items.all(b, a + b > -1)) && time.getFullYear() > 2030', { items }).kind,
    ).toBe('gaveUp');
  });

  it('returns no instant after the year 9999', () => {
    const span = { from: FROM, horizon: at('+012000-01-01T00:00:00Z') };
    const r = whenTrue(program('time.getFullYear() >= 9999'), {}, span, { maxEvaluations: 100 });
    expect(r.kind).toBe('at');
  });
});
