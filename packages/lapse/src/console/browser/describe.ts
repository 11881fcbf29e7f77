// Describes one deletion or several at once: reason, rule, time and dependents. The same text is shown in the tooltip
// and below the list. `sentenceOf` is the text for screen readers.

import { COLOURS } from './colours.ts';
import type { PageData } from './data.ts';
import { type Element, h } from './dom.ts';
import { type Item, isInTime, type Mark } from './model.ts';
import { fromNow, lengthInWords, longTime, shortTime } from './times.ts';

const NAMED_IN_CARD = 8;
const KINDS_IN_CARD = 6;
const FIRST_OF_CROWD = 4;

export function whenOf(item: Item, made: number): string {
  if (item.state === 'held') return item.at === null ? 'held' : `held until ${shortTime(item.at)}`;
  if (item.at === null) return 'at an unknown time';
  if (item.state === 'changes') return `changes ${fromNow(item.at, made)}`;
  return item.state === 'overdue' ? `overdue by ${lengthInWords(made - item.at)}` : fromNow(item.at, made);
}

export const placeOf = (item: Item, data: PageData): string =>
  item.namespace === 0
    ? data.kinds[item.kind]!
    : `${data.kinds[item.kind]} · ${data.namespaces[item.namespace]}`;

/** The mark of an item beside its name: a dot, a diamond when overdue, a ring when held. */
export const dotOf = (item: Item): Element =>
  h('span', { class: `dot ${item.state} c${item.kind % COLOURS}`, 'aria-hidden': 'true' });

const TIMES = { coming: 'Ends', overdue: 'Ends', held: 'Until', changes: 'Changes' } as const;

/** One item as a card. */
export function cardOf(item: Item, data: PageData): Element {
  const facts: (readonly [string, string])[] = [];
  if (item.at !== null) facts.push([TIMES[item.state], longTime(item.at)]);
  facts.push(['Rule', data.rules[item.rule]!], ['Controller', data.families[item.family]!]);
  if (item.propagation !== undefined) facts.push(['Deletion', item.propagation]);
  return h(
    'div',
    { class: 'card-body' },
    h(
      'div',
      { class: 'card-head' },
      dotOf(item),
      h('bdi', { class: 'card-name' }, item.name),
      h('span', { class: `when ${item.state}` }, whenOf(item, data.made)),
    ),
    h('div', { class: 'place' }, h('bdi', {}, placeOf(item, data))),
    h('p', { class: 'because', dir: 'auto' }, item.because),
    h('dl', {}, ...facts.flatMap(([term, text]) => [h('dt', {}, term), h('dd', {}, h('bdi', {}, text))])),
    ...cascadeOf(item, data),
  );
}

/** What the garbage collector deletes too, as an indented list under a count per kind. */
function cascadeOf(item: Item, data: PageData): Element[] {
  const dependents = item.dependents ?? [];
  const total = dependents.length + (item.moreDependents ?? 0);
  if (total === 0) return [];
  const rows = dependents.slice(0, NAMED_IN_CARD).map(([kind, , name, depth]) => {
    const row = h(
      'li',
      {},
      h('span', { class: 'dependent-kind' }, data.kinds[kind]!),
      ' ',
      h('bdi', {}, name),
    );
    row.style.setProperty('--depth', String(Math.min(depth, 6) - 1));
    return row;
  });
  const left = total - rows.length;
  if (left > 0) rows.push(h('li', { class: 'quiet' }, `and ${left.toLocaleString('en')} more`));
  return [
    h('div', { class: 'cascade-title' }, `Dependents: ${total.toLocaleString('en')}`),
    h('ul', { class: 'cascade' }, ...rows),
  ];
}

/** Several deletions: how many, which kinds, from when to when. */
export function crowdOf(mark: Mark, data: PageData): Element {
  const { items } = mark;
  const [first] = items;
  const counts = new Map<number, number>();
  for (const { kind } of items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const kinds = [...counts].sort((a, b) => b[1] - a[1]);
  const rows = kinds
    .slice(0, KINDS_IN_CARD)
    .map(([kind, count]) =>
      h('li', {}, h('b', {}, count.toLocaleString('en')), ' ', h('bdi', {}, data.kinds[kind]!)),
    );
  if (kinds.length > KINDS_IN_CARD)
    rows.push(h('li', { class: 'quiet' }, `and ${kinds.length - KINDS_IN_CARD} more kinds`));
  return h(
    'div',
    { class: 'card-body' },
    h(
      'div',
      { class: 'card-head' },
      h('span', { class: 'card-name' }, headOf(items)),
      h('span', { class: `when ${first!.state}` }, spanOf(items, data.made)),
    ),
    h('ul', { class: 'crowd' }, ...rows),
    h('ul', { class: 'first' }, ...items.slice(0, FIRST_OF_CROWD).map((item) => firstOf(item, data))),
    h(
      'div',
      { class: 'quiet' },
      isInTime(first!.state) ? 'Click or Enter: zoom in' : 'Click or Enter: list them',
    ),
  );
}

const firstOf = (item: Item, data: PageData): Element =>
  h(
    'li',
    {},
    dotOf(item),
    h('bdi', {}, item.name),
    h('span', { class: `when ${item.state}` }, whenOf(item, data.made)),
  );

function headOf(items: readonly Item[]): string {
  const count = items.length.toLocaleString('en');
  const { state } = items[0]!;
  if (state === 'held') return `${count} held`;
  if (state === 'changes') return `${count} changes`;
  return state === 'overdue'
    ? `${count} overdue`
    : `${count} ${items.length === 1 ? 'deletion' : 'deletions'}`;
}

function spanOf(items: readonly Item[], made: number): string {
  const first = items[0]!;
  const last = items.at(-1)!;
  if (first.at === null || last.at === null || first.state === 'held') return '';
  if (first.state === 'overdue') return `the oldest by ${lengthInWords(made - first.at)}`;
  const from = shortTime(first.at);
  const to = shortTime(last.at);
  return from === to ? from : `${from} – ${to}`;
}

/** For screen readers: the content of a card in one sentence. */
export function sentenceOf(mark: Mark, lane: string, data: PageData): string {
  const [item] = mark.items;
  if (mark.items.length > 1)
    return [`${lane}: ${headOf(mark.items)}`, spanOf(mark.items, data.made)].filter(Boolean).join(', ');
  const dependents = (item!.dependents?.length ?? 0) + (item!.moreDependents ?? 0);
  const also = dependents === 0 ? '' : `. Dependents: ${dependents}`;
  return `${placeOf(item!, data)} ${item!.name}, ${whenOf(item!, data.made)}. ${item!.because}${also}`;
}
