import { hours, type Instant, millis, minutes, plus, seconds } from '@lapse/base/instant';
import { millisFromTimestamp, Timestamp } from '@lapse/cel/cel';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { revision, SEED_CONDITION } from './cleaner.testkit.ts';
import { ago, NOW, program } from './conditions.testkit.ts';
import { computeFirstTrue, computeNextLook } from './conditions.ts';

const DAY = 86_400_000;

const timestampOf = (at: Instant) => new Timestamp(Math.floor(at / 1000), (at % 1000) * 1_000_000);

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
