import { hours, type Instant, instant, millis, minutes, plus, seconds } from '@lapse/base/instant';
import {
  compile,
  conditionEnvironment,
  DYN,
  millisFromTimestamp,
  type Program,
  Timestamp,
} from '@lapse/cel/cel';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ConditionOutcome } from '#api/cleaner';
import { GUARDED_CONDITION, type RevisionGiven, revision, SEED_CONDITION } from './cleaner.testkit.ts';
import { computeFirstTrue, computeNextLook, describeOutcomes, evaluate } from './conditions.ts';

const NOW = instant(Date.parse('2026-03-01T00:00:00Z'));
const DAY = 86_400_000;
const program = (text: string, ...variables: string[]): Program => {
  const compiled = compile(text, conditionEnvironment(Object.fromEntries(variables.map((v) => [v, DYN]))));
  if (compiled.kind === 'invalid') throw new Error(compiled.message);
  return compiled.program;
};
const ago = (length: number) => new Date(NOW - length).toISOString().replace('.000', '');

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

describe('the next evaluation', () => {
  const PERIOD = hours(5);
  const look = (text: string, bindings: Record<string, unknown> = {}, more = {}) =>
    computeNextLook([program(text, ...Object.keys(bindings))], bindings, NOW, {
      period: PERIOD,
      monotonic: true,
      ...more,
    });
  const at = (length: number): Instant => plus(NOW, millis(length));

  test('is one period from now when the conditions are not declared monotonic', () => {
    expect(look('false', {}, { monotonic: false })).toEqual({
      at: at(PERIOD),
      why: 'period',
      evaluations: 0,
    });
  });
  test('is exactly at a change in fifteen days', () => {
    const found = look(`time > timestamp("${ago(-15 * DAY)}")`);
    expect(found).toMatchObject({ why: 'found', at: at(15 * DAY + 1) });
  });
  test('is exact for the condition of the proposal, for the last of the revisions', () => {
    const revisions = {
      items: [300, 100, 359].map((h, i) => revision(`r${i}`, { routes: 'sfj-a', since: ago(h * 3_600_000) })),
    };
    const found = look(SEED_CONDITION, { revisions });
    expect(found).toMatchObject({ why: 'found', at: at(260 * 3_600_000) });
  });
  test('is one period from now when the condition never becomes true or fails', () => {
    expect(look('time < time')).toMatchObject({ why: 'period', at: at(PERIOD) });
    expect(look('time > timestamp("2026-03-05T00:00:00Z") && [1][5] == 1')).toMatchObject({
      why: 'period',
      at: at(PERIOD),
    });
  });
  test('is not later than the sleep limit', () => {
    const flip = `time > timestamp("${ago(-15 * DAY)}")`;
    expect(look(flip, {}, { maxSleep: hours(24) })).toMatchObject({
      why: 'sleep limit',
      at: at(DAY),
      trueAt: at(15 * DAY + 1),
    });
    expect(look(flip, {}, { maxSleep: hours(24 * 30) })).toMatchObject({ why: 'found' });
    expect(look(flip, {}, { maxSleep: millis(15 * DAY + 1) })).toMatchObject({ why: 'found' });
    expect(look(flip, {}, { maxSleep: millis(15 * DAY) })).toMatchObject({ why: 'sleep limit' });
  });
  test('is not hurried for a change within the second', () => {
    expect(look(`time > timestamp("2026-03-01T00:00:00.2Z")`)).toMatchObject({ at: at(1000), why: 'found' });
  });
  test('is one period from now when the evaluation budget is exhausted', () => {
    const l = Array.from({ length: 10_000 }, () => 1);
    const found = look(`l.all(x, x > 0) && time.getFullYear() >= 2030`, { l });
    expect(found).toMatchObject({ why: 'period', at: at(PERIOD) });
  });

  /**
   * Hides the time from the analysis of the CEL engine, so that the search itself is tested: seconds since the
   * epoch.
   */
  const SECOND = 'int(time)';

  test('finds the final change of a condition that is also true in an earlier window', () => {
    const start = NOW / 1000;
    const window = `(${SECOND} > ${start + 3600} && ${SECOND} < ${start + 1_400_000}) || ${SECOND} > ${start + 200_000_000}`;
    const found = look(window);
    expect(found).toMatchObject({ why: 'not monotonic', at: at(PERIOD) });
    expect(found.evaluations).toBeLessThanOrEqual(64);
  });

  test('is within a second after the change for random monotonic conditions, in at most 64 evaluations', () => {
    const tenYears = 10 * 365 * 86_400;
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: tenYears }),
        fc.integer({ min: 1, max: 400_000 }),
        fc.boolean(),
        (flip, period, analysable) => {
          const second = NOW / 1000 + flip;
          const text = analysable ? `time >= timestamp(${second})` : `${SECOND} >= ${second}`;
          const found = look(text, {}, { period: seconds(period) });
          expect(found.why).toBe('found');
          expect(found.evaluations).toBeLessThanOrEqual(64);
          expect(found.at - second * 1000).toBeGreaterThanOrEqual(0);
          expect(found.at - second * 1000).toBeLessThanOrEqual(1000);
        },
      ),
      { numRuns: 150 },
    );
  });

  test('is later than now for every condition', () => {
    const comparison = fc.tuple(
      fc.constantFrom('<', '>=', '==', '!='),
      fc.integer({ min: -100_000, max: 400_000_000 }),
    );
    const tree = fc.array(comparison, { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(tree, fc.boolean(), fc.integer({ min: 1, max: 100_000 }), (parts, any, period) => {
        const text = parts
          .map(([op, s]) => `(${SECOND} ${op} ${NOW / 1000 + s})`)
          .join(any ? ' || ' : ' && ');
        const found = look(text, {}, { period: seconds(period) });
        expect(found.at).toBeGreaterThanOrEqual(NOW + Math.min(1000, period * 1000));
        expect(found.evaluations).toBeLessThanOrEqual(64);
        // Later than the period only if the condition is true at that time.
        if (found.at > plus(NOW, seconds(period))) {
          const [p] = [program(text)];
          const there = p!.evaluate({ time: timestampOf(found.at) });
          expect(there).toMatchObject({ kind: 'value', value: true });
        }
      }),
      { numRuns: 150 },
    );
  });

  test('minutes and instants agree with the CEL engine', () => {
    expect(millisFromTimestamp(timestampOf(plus(NOW, minutes(1))))).toBe(NOW + 60_000);
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

describe('the first evaluation that finds all conditions true', () => {
  const PERIOD = hours(5);
  const firstTrue = (text: string, monotonic: boolean) =>
    computeFirstTrue([program(text)], {}, NOW, { period: PERIOD, monotonic });
  const flip = (hour: number) => `time >= timestamp("${ago(-hour * 3_600_000)}")`;
  const trueAfter = (hour: number) => ({ kind: 'true', at: NOW + hour * 3_600_000 });
  test.each<[string, string, boolean, object]>([
    ['is now when they are true now', 'true', true, trueAfter(0)],
    ['is at the flip when the conditions are monotonic', flip(12), true, trueAfter(12)],
    ['is a whole number of periods from now when they are not', flip(12), false, trueAfter(15)],
    ['is at the flip when it is at the end of a period', flip(10), false, trueAfter(10)],
    [
      'is unknown when no time makes them true',
      'time < time',
      true,
      { kind: 'unknown', conditionResult: { result: 'false' } },
    ],
    [
      'does not exist when a condition has an error',
      '[1][5] == 1',
      true,
      { kind: 'broken', conditionResult: { result: 'error' } },
    ],
    [
      'is found period by period when the conditions are true only for a while',
      `(int(time) >= ${NOW / 1000 + 36_000} && int(time) < ${NOW / 1000 + 1_400_000}) || int(time) > ${NOW / 1000 + 200_000_000}`,
      true,
      trueAfter(10),
    ],
  ])('%s', async (_, text, monotonic, expected) => {
    expect(await firstTrue(text, monotonic)).toMatchObject(expected);
  });
});

const timestampOf = (at: Instant) => new Timestamp(Math.floor(at / 1000), (at % 1000) * 1_000_000);
