// The model of timeline and list, independent of the screen: items, filters, lanes, and marks that stand for one
// deletion or for several close ones. Pure. The SVG of reports uses it too.

import type { PageData, Row } from './data.ts';

export type State = 'coming' | 'overdue' | 'held' | 'changes';
export const STATES: readonly State[] = ['coming', 'overdue', 'held', 'changes'];
export type Grouping = 'kind' | 'namespace' | 'rule';

export interface Item extends Row {
  readonly id: number;
  readonly state: State;
  /** Lower case, for the search. */
  readonly text: string;
}

export interface Filter {
  /** Indexes. -1 matches everything. */
  readonly kind: number;
  readonly namespace: number;
  readonly rule: number;
  readonly state: State | 'all';
  readonly text: string;
}

export const EVERYTHING: Filter = { kind: -1, namespace: -1, rule: -1, state: 'all', text: '' };

/** All deletions in the order of time, overdue ones first, then held objects. */
export function itemsOf(data: PageData): Item[] {
  const items = data.rows.map((row, id) => ({
    ...row,
    id,
    state: stateOf(row, data.made),
    text: [row.name, data.kinds[row.kind], data.namespaces[row.namespace], data.rules[row.rule], row.because]
      .join(' ')
      .toLowerCase(),
  }));
  return items.sort((a, b) => Number(a.held ?? false) - Number(b.held ?? false) || whenOf(a) - whenOf(b));
}

const whenOf = (row: Row): number => row.at ?? Number.MAX_SAFE_INTEGER;

function stateOf(row: Row, made: number): State {
  if (row.held) return 'held';
  if (row.changes) return 'changes';
  return row.at !== null && row.at <= made ? 'overdue' : 'coming';
}

export function filterItems(items: readonly Item[], filter: Filter): Item[] {
  const words = filter.text.toLowerCase().split(/\s+/).filter(Boolean);
  return items.filter(
    (item) =>
      (filter.state === 'all' || item.state === filter.state) &&
      (filter.kind < 0 || item.kind === filter.kind) &&
      (filter.namespace < 0 || item.namespace === filter.namespace) &&
      (filter.rule < 0 || item.rule === filter.rule) &&
      words.every((word) => item.text.includes(word)),
  );
}

/** Number of items per value of a field, by index. */
export function countBy(items: readonly Item[], field: Grouping): Map<number, number> {
  const counts = new Map<number, number>();
  for (const item of items) counts.set(item[field], (counts.get(item[field]) ?? 0) + 1);
  return counts;
}

export interface Lane {
  readonly key: number;
  readonly label: string;
  readonly coming: readonly Item[];
  readonly overdue: readonly Item[];
  readonly held: readonly Item[];
  readonly changes: readonly Item[];
}

/** `team-2` before `team-10`. */
export const NATURAL = new Intl.Collator('en', { numeric: true });

/** One lane per value, largest first, then by name. */
export function lanesOf(items: readonly Item[], by: Grouping, data: PageData): Lane[] {
  const lanes = new Map<number, Lane & Record<State, Item[]>>();
  for (const item of items) {
    let lane = lanes.get(item[by]);
    if (lane === undefined) {
      lane = {
        key: item[by],
        label: labelOf(item[by], by, data),
        coming: [],
        overdue: [],
        held: [],
        changes: [],
      };
      lanes.set(item[by], lane);
    }
    lane[item.state].push(item);
  }
  return [...lanes.values()].sort((a, b) => sizeOf(b) - sizeOf(a) || NATURAL.compare(a.label, b.label));
}

export const sizeOf = (lane: Lane): number => STATES.reduce((sum, state) => sum + lane[state].length, 0);

/** Drawn at its time. Other states have separate columns. */
export const isInTime = (state: State): boolean => state === 'coming' || state === 'changes';

const LISTS = { kind: 'kinds', namespace: 'namespaces', rule: 'rules' } as const;

export const labelOf = (index: number, by: Grouping, data: PageData): string => data[LISTS[by]][index] ?? '';

export interface Mark {
  /** In the order of time, at least one. */
  readonly items: readonly Item[];
  /** Pixels from the left edge of the window. */
  readonly x: number;
  readonly radius: number;
}

export interface Window {
  readonly from: number;
  readonly to: number;
}

export const SINGLE_RADIUS = 5;
const LARGEST_RADIUS = 17;

/** Grows with the logarithm: ten times as many deletions are about two thirds wider. */
export const radiusOf = (count: number): number =>
  count === 1 ? SINGLE_RADIUS : Math.min(LARGEST_RADIUS, SINGLE_RADIUS + 1.5 + 2.9 * Math.log10(count));

/** Marks of items in the order of time, in a window of `width` pixels. Overlapping marks are merged. */
export function marksOf(items: readonly Item[], window: Window, width: number): Mark[] {
  const scale = width / (window.to - window.from);
  const marks: Mark[] = [];
  for (const item of items) {
    if (item.at === null) continue;
    let mark: Mark = { items: [item], x: (item.at - window.from) * scale, radius: SINGLE_RADIUS };
    let before = marks.at(-1);
    while (before !== undefined && mark.x - before.x < mark.radius + before.radius) {
      marks.pop();
      mark = joined(before, mark);
      before = marks.at(-1);
    }
    marks.push(mark);
  }
  return marks;
}

function joined(left: Mark, right: Mark): Mark {
  const count = left.items.length + right.items.length;
  // The left list belongs to the mark and is extended in place, so that thousands of merges do not copy it.
  const items = left.items as Item[];
  for (const item of right.items) items.push(item);
  const x = (left.x * (count - right.items.length) + right.x * right.items.length) / count;
  return { items, x, radius: radiusOf(count) };
}

/** One mark for all items, at a fixed position. */
export const heapOf = (items: readonly Item[], x: number): Mark | undefined =>
  items.length === 0 ? undefined : { items, x, radius: radiusOf(items.length) };

/** Number of deletions per bar over the whole plan. */
export function histogramOf(items: readonly Item[], window: Window, bars: number): number[] {
  const counts = new Array<number>(bars).fill(0);
  const length = window.to - window.from;
  for (const { at, state } of items) {
    if (at === null || state !== 'coming') continue;
    const bar = Math.floor(((at - window.from) / length) * bars);
    if (bar >= 0 && bar < bars) counts[bar]! += 1;
  }
  return counts;
}
