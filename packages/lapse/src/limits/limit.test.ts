import { formatTime, hours, type Instant, instant, minutes, plus } from '@lapse/base/instant';
import { describe, expect, test } from 'vitest';
import type { LimitsStatus } from '#api/limits';
import {
  allowedIn,
  describeExceeded,
  type Limit,
  parseLimit,
  reserve,
  ruleArgument,
  type Situation,
} from './limit.ts';

const START = instant(1_750_000_000_000);
const limit = (more: Partial<Limit> = {}): Limit => ({ from: 'spec', per: hours(1), text: '1h', ...more });
const situation = (more: Partial<Situation> = {}): Situation => ({
  limits: [limit({ maxDeletions: 100 })],
  now: START,
  generation: 3,
  selected: 1000,
  due: 300,
  ...more,
});
const windowAt = (deletions: number, startedAt: Instant = START, selected = 1000): LimitsStatus => ({
  windows: [{ from: 'spec', startedAt: formatTime(startedAt), selected, deletions }],
});

describe('parseLimit reports field paths', () => {
  test.each([
    [{ per: '1h' }, 'spec.limits'],
    [{ maxDeletions: 0, per: '1h' }, 'spec.limits.maxDeletions'],
    [{ maxDeletions: 1.5, per: '1h' }, 'spec.limits.maxDeletions'],
    [{ maxPercent: 101, per: '1h' }, 'spec.limits.maxPercent'],
    [{ maxDeletions: 1, per: '' }, 'spec.limits.per'],
    [{ maxDeletions: 1, per: '1 day' }, 'spec.limits.per'],
    [{ maxDeletions: 1, per: '999ms' }, 'spec.limits.per'],
  ])('%j', (spec, field) => {
    const { limit, errors } = parseLimit(spec, 'spec.limits');
    expect(limit).toBeUndefined();
    expect(errors.map((error) => error.field)).toEqual([field]);
  });

  test('a valid limit, and no limit', () => {
    const spec = { maxDeletions: 5, maxPercent: 20, per: '30m' };
    expect(parseLimit(spec, 'spec.limits').limit).toEqual({
      ...limit({ maxDeletions: 5, maxPercent: 20 }),
      per: minutes(30),
      text: '30m',
    });
    expect(parseLimit(undefined, 'spec.limits')).toEqual({ errors: [] });
  });
});

describe('allowedIn', () => {
  test.each([
    [{ maxDeletions: 100 }, 1000, { limit: 'maxDeletions', allowed: 100 }],
    [{ maxPercent: 20 }, 1000, { limit: 'maxPercent', allowed: 200 }],
    [{ maxDeletions: 100, maxPercent: 20 }, 1000, { limit: 'maxDeletions', allowed: 100 }],
    [{ maxDeletions: 100, maxPercent: 20 }, 200, { limit: 'maxPercent', allowed: 40 }],
    // Rounded up: a policy that selects three objects can still delete one.
    [{ maxPercent: 20 }, 3, { limit: 'maxPercent', allowed: 1 }],
    [{ maxPercent: 20 }, 11, { limit: 'maxPercent', allowed: 3 }],
    [{ maxPercent: 100 }, 7, { limit: 'maxPercent', allowed: 7 }],
  ])('%j of %i objects', (limits, selected, expected) => {
    expect(allowedIn(limit(limits), { selected })).toEqual(expected);
  });
});

describe('reserve', () => {
  test('counts a block of a tenth of the limit before it is sent', () => {
    const first = reserve({}, situation());
    expect(first).toEqual({ kind: 'reserved', count: 10, until: plus(START, hours(1)), state: windowAt(10) });
  });

  test.each([
    ['no more than are due', windowAt(0), { due: 3 }, 3],
    ['at least one', windowAt(0), { limits: [limit({ maxDeletions: 5 })] }, 1],
    ['no more than are left', windowAt(96), {}, 4],
    ['the last one', windowAt(99), {}, 1],
  ])('reserves %s', (_, state, more, count) => {
    expect(reserve(state, situation(more))).toMatchObject({ kind: 'reserved', count });
  });

  test('the deletion after the last allowed one exceeds the limit, with the numbers', () => {
    const state = windowAt(100);
    const exceeded = {
      limit: 'maxDeletions',
      from: 'spec',
      allowed: 100,
      deletions: 100,
      due: 300,
      at: formatTime(START),
      generation: 3,
      since: formatTime(START),
      per: '1h',
    };
    expect(reserve(state, situation())).toEqual({
      kind: 'exceeded',
      state: { ...state, state: 'Exceeded', exceeded },
    });
  });

  test('percent counts the objects at the begin of the window, not those of now', () => {
    const limits = [limit({ maxPercent: 10 })];
    const selected = 50;
    expect(reserve(windowAt(99, START, 1000), situation({ limits, selected }))).toMatchObject({ count: 1 });
    const after = reserve(windowAt(100, START, 1000), situation({ limits, selected }));
    expect(after).toMatchObject({
      kind: 'exceeded',
      state: { exceeded: { limit: 'maxPercent', allowed: 100 } },
    });
  });

  test('a millisecond before its end the window still counts; at its end the next one begins', () => {
    const end = plus(START, hours(1));
    expect(reserve(windowAt(100), situation({ now: instant(end - 1) })).kind).toBe('exceeded');
    expect(reserve(windowAt(100), situation({ now: end, selected: 700 }))).toMatchObject({
      kind: 'reserved',
      state: windowAt(10, end, 700),
    });
  });

  test('a clock that is set back does not begin a new window', () => {
    expect(reserve(windowAt(100), situation({ now: instant(START - hours(5)) })).kind).toBe('exceeded');
  });

  test('a rule that is stopped stays stopped after the window', () => {
    const { state } = reserve(windowAt(100), situation());
    const later = situation({ now: plus(START, hours(50)), limits: [limit({ maxDeletions: 5000 })] });
    expect(reserve(state, later)).toEqual({ kind: 'exceeded', state });
  });

  test('the limit of the configuration counts beside the limit of the spec, in its own window', () => {
    const limits = [
      limit({ maxDeletions: 100 }),
      limit({ maxDeletions: 15, per: minutes(1), from: 'configuration' }),
    ];
    const first = reserve({}, situation({ limits }));
    expect(first).toMatchObject({ count: 1, until: plus(START, minutes(1)) });
    const state: LimitsStatus = {
      windows: [
        { from: 'spec', startedAt: formatTime(START), selected: 1000, deletions: 15 },
        { from: 'configuration', startedAt: formatTime(START), selected: 1000, deletions: 15 },
      ],
    };
    expect(reserve(state, situation({ limits }))).toMatchObject({
      kind: 'exceeded',
      state: { exceeded: { from: 'configuration', allowed: 15 } },
    });
    const next = reserve(state, situation({ limits, now: plus(START, minutes(1)) }));
    expect(next).toMatchObject({
      kind: 'reserved',
      state: { windows: [{ deletions: 16 }, { deletions: 1 }] },
    });
  });

  test('deletions of an approval count in no window; after the last one the limits count again', () => {
    const approved = { generation: 3, deletions: 250, used: 240 };
    expect(reserve({ approved }, situation())).toMatchObject({
      count: 10,
      state: { approved: { used: 250 } },
    });
    expect(reserve({ approved: { ...approved, used: 250 } }, situation())).toMatchObject({
      count: 10,
      state: windowAt(10),
    });
  });

  test('an approval of another generation does not count', () => {
    const approved = { generation: 2, deletions: 250, used: 0 };
    expect(reserve({ ...windowAt(100), approved }, situation()).kind).toBe('exceeded');
  });
});

test('the message has the numbers and the command', () => {
  const { state } = reserve(windowAt(100), situation());
  const rule = ruleArgument('TTLPolicy', { namespace: 'ci', name: 'runs' });
  expect(describeExceeded(state.exceeded!, 300, rule)).toBe(
    'stopped at its limit: 100 deletions, spec.limits.maxDeletions allows 100 per 1h (since 2025-06-15T15:06:40Z); 300 more objects are due; nothing is deleted before: lapse approve ttlpolicy/runs -n ci',
  );
});
