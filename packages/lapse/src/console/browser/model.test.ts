// The timeline without a screen: filters, lanes, marks, the axis, and the limits of the time window.

import { describe, expect, test } from 'vitest';
import { pageData } from '../data.ts';
import { at, end, held, MADE, manyEnds, plan } from '../plan.testkit.ts';
import { columnsOf, isSeen, markAt, placeLane } from './layout.ts';
import {
  EVERYTHING,
  type Filter,
  filterItems,
  histogramOf,
  itemsOf,
  lanesOf,
  marksOf,
  radiusOf,
} from './model.ts';
import { fromNow, lengthInWords, longTime, ticksOf } from './times.ts';
import { around, panned, showing, wholeOf, within, zoomed } from './view.ts';

const DAY = 86_400_000;
const pod = { apiVersion: 'v1', kind: 'Pod', namespace: 'web', name: 'cache', uid: 'x' };
const data = pageData(
  plan([end('build', 2), end('late', -1), end('cache', 1, { object: pod, rule: 'TTLPolicy web/pods' })], {
    held: [held('stuck', { until: at(3) })],
  }),
);
const items = itemsOf(data);
const names = (filter: Partial<Filter>) =>
  filterItems(items, { ...EVERYTHING, ...filter }).map((it) => it.name);

test('overdue items come first, held ones last', () => {
  expect(items.map(({ name, state }) => `${name} ${state}`)).toEqual([
    'late overdue',
    'cache coming',
    'build coming',
    'stuck held',
  ]);
});

test('an item due at the time of the plan is overdue, a millisecond later it is not', () => {
  const { rows, ...rest } = data;
  const row = (time: number) => ({ ...rows[0]!, at: time });
  expect(itemsOf({ ...rest, rows: [row(MADE), row(MADE + 1)] }).map(({ state }) => state)).toEqual([
    'overdue',
    'coming',
  ]);
});

test.each<[string, Partial<Filter>, string[]]>([
  ['no filter', {}, ['late', 'cache', 'build', 'stuck']],
  ['a state', { state: 'held' }, ['stuck']],
  ['a kind', { kind: data.kinds.indexOf('Pod') }, ['cache', 'stuck']],
  ['a namespace', { namespace: data.namespaces.indexOf('web') }, ['cache']],
  ['a rule', { rule: data.rules.indexOf('TTLPolicy web/pods') }, ['cache']],
  ['a word of the reason, in any case', { text: 'FINALIZER' }, ['stuck']],
  ['two words that both match', { text: ' job  build ' }, ['build']],
  ['regular expression characters are literal', { text: '.*' }, []],
])('the filter: %s', (_, filter, left) => expect(names(filter)).toEqual(left));

test('an item that only changes has a place in time, separate from deletions', () => {
  const { propagation: _, dependents: __, moreDependents: ___, ...change } = end('pool', 2);
  const both = pageData(plan([end('build', 2)], { changes: [change] }));
  const [lane] = lanesOf(itemsOf(both), 'kind', both);
  const placed = placeLane(lane!, 0, columnsOf(1000, 500, [lane!]), wholeOf(MADE, MADE + DAY));
  expect(placed.map(({ items: [item] }) => item!.state)).toEqual(['coming', 'changes']);
});

test('lanes are sorted by size, with each state separate', () => {
  const lanes = lanesOf(items, 'namespace', data);
  expect(lanes.map((it) => [it.label, it.coming.length, it.overdue.length, it.held.length])).toEqual([
    ['ci', 1, 1, 1],
    ['web', 1, 0, 0],
  ]);
});

describe('marks', () => {
  const many = itemsOf(pageData(manyEnds(10_000))).filter(({ state }) => state === 'coming');
  const whole = wholeOf(MADE, MADE + 7 * DAY);

  test('distant deletions have separate marks, close ones share a mark', () => {
    const window = { from: MADE, to: MADE + 10 * DAY };
    const three = itemsOf(pageData(plan([end('a', 24), end('b', 24.1), end('c', 48)])));
    expect(marksOf(three, window, 1000).map((mark) => mark.items.map(({ name }) => name))).toEqual([
      ['a', 'b'],
      ['c'],
    ]);
    expect(marksOf(three, { from: MADE + DAY, to: MADE + DAY + 3_600_000 }, 1000)).toHaveLength(3);
  });

  test.each([300, 1000, 3000])('no item is lost and no marks overlap at %d pixels', (width) => {
    const marks = marksOf(many, whole, width);
    expect(marks.flatMap((mark) => mark.items)).toEqual(many);
    for (const [index, mark] of marks.entries()) {
      const before = marks[index - 1];
      if (before) expect(mark.x - before.x).toBeGreaterThanOrEqual(mark.radius + before.radius - 1e-6);
    }
  });

  test('the same items have the same positions every time', () => {
    expect(marksOf(many, whole, 800)).toEqual(marksOf(many, whole, 800));
  });

  test('the size of a mark grows with its number of items, up to a limit', () => {
    const sizes = [1, 2, 10, 100, 10_000, 10_000_000].map(radiusOf);
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(sizes.at(-1)).toBeLessThanOrEqual(17);
  });

  test('overdue and held marks are beside the time column and are found at their position', () => {
    const lanes = lanesOf(items, 'namespace', data);
    const columns = columnsOf(1000, 500, lanes);
    const placed = placeLane(lanes[0]!, 0, columns, whole);
    expect(placed.map((mark) => mark.items[0]!.state)).toEqual(['overdue', 'coming', 'held']);
    expect(placed[0]!.x).toBeLessThan(columns.from);
    expect(placed[2]!.x).toBeGreaterThan(columns.to);
    for (const mark of placed) expect(markAt(placed, mark.x + 3, mark.y - 3)).toBe(mark);
    expect(markAt(placed, 5, 5)).toBeUndefined();
    const later = placeLane(lanes[0]!, 0, columns, { from: MADE + 3 * DAY, to: MADE + 4 * DAY });
    expect(later.map((mark) => isSeen(mark, columns))).toEqual([true, false, true]);
  });

  test('the overview counts every future deletion', () => {
    expect(histogramOf(many, whole, 120).reduce((a, b) => a + b)).toBe(many.length);
  });
});

describe('the axis', () => {
  test.each([
    ['a week', 7 * DAY, ['Tue 17 Nov', 'Wed 18 Nov', 'Thu 19 Nov']],
    ['a day', DAY, ['09:00', '12:00', '15:00']],
    ['ten seconds', 10_000, ['06:30:00', '06:30:01', '06:30:02']],
  ])('%s', (_, length, first) => {
    const labels = ticksOf(MADE, MADE + length, 1000).map(({ label }) => label.replace(',', ''));
    expect(labels.slice(0, 3)).toEqual(first);
    expect(labels.length).toBeLessThan(14);
  });

  test('a range of centuries has a limited number of ticks', () => {
    expect(ticksOf(MADE, MADE + 300 * 365 * DAY, 1000).length).toBeLessThan(40);
  });

  test.each([
    [0, '0 s'],
    [999, '1 s'],
    [61_000, '1 min 1 s'],
    [3_600_000, '1 h'],
    [DAY + 4 * 3_600_000 + 60_000, '1 d 4 h'],
    [400 * DAY, '1 y 35 d'],
  ])('%d ms are %s', (length, words) => expect(lengthInWords(length)).toBe(words));

  test('before and after', () => {
    expect([fromNow(MADE + 1000, MADE), fromNow(MADE - 120_000, MADE)]).toEqual(['in 1 s', '2 min ago']);
    expect([longTime(MADE), longTime(1e300)]).toEqual(['Mon, 16 Nov 2026, 06:30:00 UTC', 'never UTC']);
  });
});

describe('the window', () => {
  const whole = { from: 0, to: 1_000_000 };

  test('zooming keeps the time under the pointer', () => {
    const next = zoomed({ from: 0, to: 1_000_000 }, 0.5, 0.3, whole);
    expect(next).toEqual({ from: 150_000, to: 650_000 });
    expect(next.from + 0.3 * (next.to - next.from)).toBe(300_000);
  });

  test('stays inside the plan and shows at least ten seconds', () => {
    expect(zoomed(whole, 2, 0.5, whole)).toEqual(whole);
    expect(panned({ from: 0, to: 500_000 }, -1, whole)).toEqual({ from: 0, to: 500_000 });
    expect(panned({ from: 0, to: 500_000 }, 5, whole)).toEqual({ from: 500_000, to: 1_000_000 });
    const closest = zoomed(whole, 1e-9, 0.5, whole);
    expect(closest.to - closest.from).toBe(10_000);
    expect(within({ from: -5, to: 9e9 }, whole)).toEqual(whole);
  });

  test('shows all items of a mark and follows a single one', () => {
    expect(around([], whole)).toEqual(whole);
    expect(showing({ from: 0, to: 100_000 }, 500_000, whole)).toEqual({ from: 450_000, to: 550_000 });
    expect(showing({ from: 0, to: 100_000 }, 5, whole)).toEqual({ from: 0, to: 100_000 });
  });

  test('has a length even if the plan has none', () => {
    const { from, to } = wholeOf(5, 5);
    expect(to).toBeGreaterThan(from);
  });
});
