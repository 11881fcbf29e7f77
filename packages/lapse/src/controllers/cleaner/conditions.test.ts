import { describe, expect, test } from 'vitest';
import type { ConditionOutcome } from '#api/cleaner';
import { GUARDED_CONDITION, type RevisionGiven, revision, SEED_CONDITION } from './cleaner.testkit.ts';
import { ago, NOW, program } from './conditions.testkit.ts';
import { describeOutcomes, evaluate } from './conditions.ts';

describe('the condition of the proposal', () => {
  const routed: RevisionGiven = { routes: 'sfj-a,www', since: ago(400 * 3_600_000) };
  const active: RevisionGiven = { routes: 'sfj-a', active: 'True', since: ago(400 * 3_600_000) };
  const recent: RevisionGiven = { routes: 'sfj-a,preview-b', since: ago(359 * 3_600_000) };
  const edge: RevisionGiven = { routes: 'sfj-a', since: ago(360 * 3_600_000) };
  const idle: RevisionGiven = { routes: 'preview-a', since: ago(361 * 3_600_000) };
  const bare: RevisionGiven = { since: ago(361 * 3_600_000) };
  const bareRecent: RevisionGiven = { since: ago(1 * 3_600_000) };
  const rows: [string, RevisionGiven[], string, string][] = [
    ['is true without revisions', [], 'true', 'true'],
    ['is true for a revision that has been idle for long', [idle], 'true', 'true'],
    ['is true for a revision that has been idle for exactly 360h', [edge], 'true', 'true'],
    ['is false for a revision that became idle recently', [recent], 'false', 'false'],
    ['is false for a revision with a route of another service', [routed], 'false', 'false'],
    ['is false for an active revision', [active], 'false', 'false'],
    ['is false when one of many revisions has a route', [idle, idle, routed, idle], 'false', 'false'],
    ['is false when one of many revisions is active', [idle, active], 'false', 'false'],
    ['needs the guard for an idle revision without the routes annotation', [bare], 'error', 'true'],
    ['is false for a recently idle revision without the routes annotation', [bareRecent], 'false', 'false'],
    ['ignores an error in one revision when another decides the result', [bare, routed], 'false', 'false'],
  ];
  test.each(rows)('%s', async (_, given, raw, guarded) => {
    const revisions = { items: given.map((g, i) => revision(`r${i}`, g)) };
    const truth = async (text: string) =>
      (await evaluate([program(text, 'revisions')], { revisions }, NOW)).result;
    expect(await truth(SEED_CONDITION)).toBe(raw);
    expect(await truth(GUARDED_CONDITION)).toBe(guarded);
  });
});

describe('evaluation of conditions', () => {
  const judge = (texts: string[], bindings = {}) =>
    evaluate(
      texts.map((text) => program(text, ...Object.keys(bindings))),
      bindings,
      NOW,
    );

  test('is true without conditions', async () => {
    expect(await judge([])).toEqual({ outcomes: [], result: 'true' });
  });
  test('reports every condition independently, and never treats an error as true', async () => {
    expect(await judge(['true', '[1][5] == 1', 'false', 'o.x'], { o: { x: 5 } })).toEqual({
      result: 'error',
      outcomes: [
        { index: 0, outcome: 'true' },
        { index: 1, outcome: 'error', message: expect.stringContaining('index out of bounds') },
        { index: 2, outcome: 'false' },
        { index: 3, outcome: 'error', message: 'the result is not true or false' },
      ],
    });
  });
  test('reads integers in JSON as CEL ints', async () => {
    expect((await judge(['o.spec.replicas + 1 == 3'], { o: { spec: { replicas: 2 } } })).result).toBe('true');
  });
  test('uses the same time for all conditions', async () => {
    expect((await judge([`time == timestamp("2026-03-01T00:00:00Z")`, 'time == time'])).result).toBe('true');
  });
  test('reports a condition that exceeds its cost budget as an error and still evaluates the others', async () => {
    const items = Array.from({ length: 10_000 }, (_, i) => i);
    const nested = 'l.all(a, l.all(b, l.all(c, a + b + c >= 0)))';
    const conditionResult = await judge([nested, 'true'], { l: items });
    expect(conditionResult.result).toBe('budget');
    expect(conditionResult.outcomes.map(({ outcome }) => outcome)).toEqual(['error', 'true']);
  });
  test('yields to other work between sixteen expensive conditions', async () => {
    const items = Array.from({ length: 10_000 }, (_, i) => i);
    const nested = Array.from({ length: 16 }, (_, i) => `l.all(a, l.all(b, a + b + ${i} >= 0))`);
    let turns = 0;
    let over = false;
    const turn = () => {
      turns++;
      if (!over) setImmediate(turn);
    };
    setImmediate(turn);
    const conditionResult = await judge(nested, { l: items });
    over = true;
    expect(conditionResult.result).toBe('budget');
    expect(turns).toBeGreaterThanOrEqual(9);
  });

  test('never includes data of an object in a message', async () => {
    const secret = { a: 'hunter2', n: '4815.5' };
    const conditions = [
      'timestamp(s.a) == time',
      'int(s.a) == 1',
      '{"a": true}[s.a]',
      'duration(s.a) == duration("1s")',
      's[s.a]',
      's.a.matches(s.a + "(")',
      'time.getHours(s.a) == 1',
      'timestamp("2026-01-01T00:00:00Z").getDate(s.a) == 1',
      'quantity(s.a).isInteger()',
      'semver(s.a).major() == 1',
      'semver("1.2." + s.a).major() == 1',
      'url(s.a).getHost() == ""',
      'ip(s.a).family() == 4',
      'cidr(s.a).prefixLength() == 4',
      '"%d".format([s.a]) == ""',
      's.a.format([1]) == s.a && ("%" + s.a).format([1]) == ""',
      'base64.decode(s.a + "!") == b""',
      '{s.a: 1, s.a: 2}.size() == 2',
      's.a.charAt(100) == ""',
      's.a.substring(5, 2) == ""',
      'regex.replace(s.a, s.a + "(", "") == ""',
      'double(s.a) == 1.0',
      'bool(s.a)',
      'uint(s.a) == 1u',
      's.a + 1 == 2',
      's.a.b.c',
      '-s.a == 1',
      's.a < 1',
      '[s.a, 1].join() == ""',
      '[s.a].sum() == 1',
      'cel.bind(x, s.a, int(x)) == 1',
      'format.named(s.a).value().validate("") == optional.none()',
      's.a',
      '[1][dyn(double(s.n))] == 1',
    ];
    for (const condition of conditions) {
      const { outcomes } = await judge([condition], { s: secret });
      const [{ outcome, message = '' }] = outcomes as [(typeof outcomes)[number]];
      expect(message, condition).not.toMatch(/hunter|4815/);
      expect(outcome, condition).toBe('error');
    }
  });
});

describe('the message about conditions that are not all true', () => {
  const outcomes = (...given: ConditionOutcome['outcome'][]): ConditionOutcome[] =>
    given.map((outcome, index) => ({
      index,
      outcome,
      ...(outcome === 'error' ? { message: 'no such key' } : {}),
    }));
  test.each<[string, ConditionOutcome[], 'false' | 'error' | 'budget', string]>([
    ['describes a single condition', outcomes('false'), 'false', 'its condition is not true'],
    [
      'counts the conditions that are not true',
      outcomes('true', 'false', 'false', 'true', 'false'),
      'false',
      '3 of 5 conditions are not true',
    ],
    ['names the first error', outcomes('false', 'error', 'error'), 'error', 'condition 1: no such key'],
    [
      'names the first error beyond the budget',
      outcomes('error', 'true'),
      'budget',
      'condition 0: no such key',
    ],
    ['describes an error without a message', [{ index: 0, outcome: 'error' }], 'error', 'condition 0: error'],
    [
      'counts an error like the others when the result is false',
      outcomes('error', 'true'),
      'false',
      '1 of 2 conditions are not true',
    ],
    ['counts when no error is known', outcomes('false', 'true'), 'budget', '1 of 2 conditions are not true'],
  ])('%s', (_, given, result, expected) => {
    expect(describeOutcomes(given, result)).toBe(expected);
  });
});
