// The list beside the timeline: all deletions that match the filter, in the order of time. Only visible rows are in
// the DOM, so ten thousand rows cost as much as twenty. Each row has its position for screen readers.

import type { PageData } from './data.ts';
import { dotOf, placeOf, whenOf } from './describe.ts';
import { browser, byId, type Element, type Happening, h, perFrame } from './dom.ts';
import type { Item } from './model.ts';
import { longTime } from './times.ts';

const ROW_HEIGHT = 58;
const SPARE = 4;

export interface List {
  show(items: readonly Item[], selected: Item | undefined): void;
  /** Scrolls to the item if it is not visible. */
  reveal(item: Item): void;
}

export interface ListEvents {
  onSelect(item: Item): void;
  onOpen(item: Item): void;
}

export function makeList(data: PageData, events: ListEvents): List {
  const box = byId('list');
  const rows = byId('rows');
  let items: readonly Item[] = [];
  let selected: Item | undefined;

  const paint = perFrame(() => {
    const first = Math.max(0, Math.floor(box.scrollTop / ROW_HEIGHT) - SPARE);
    const last = Math.min(items.length, Math.ceil((box.scrollTop + box.clientHeight) / ROW_HEIGHT) + SPARE);
    rows.style.setProperty('height', `${items.length * ROW_HEIGHT}px`);
    const made: Element[] = [];
    for (let index = first; index < last; index += 1) made.push(rowOf(index));
    rows.replaceChildren(...made);
    if (selected === undefined) box.removeAttribute('aria-activedescendant');
    else box.setAttribute('aria-activedescendant', idOf(selected));
  });

  function rowOf(index: number): Element {
    const item = items[index]!;
    const time = item.at === null ? '' : longTime(item.at);
    const row = h(
      'div',
      {
        class: item === selected ? 'row selected' : 'row',
        id: idOf(item),
        role: 'option',
        'aria-selected': String(item === selected),
        'aria-posinset': String(index + 1),
        'aria-setsize': String(items.length),
        title: time,
        'data-index': String(index),
      },
      dotOf(item),
      h('bdi', { class: 'row-name' }, item.name),
      h('span', { class: `when ${item.state}` }, whenOf(item, data.made)),
      h('bdi', { class: 'row-place' }, placeOf(item, data)),
      h('bdi', { class: 'row-rule' }, data.rules[item.rule]!),
    );
    row.style.setProperty('top', `${index * ROW_HEIGHT}px`);
    return row;
  }

  function select(index: number): void {
    const item = items[Math.min(Math.max(index, 0), items.length - 1)];
    if (item === undefined) return;
    reveal(item);
    events.onSelect(item);
  }

  function reveal(item: Item): void {
    const top = items.indexOf(item) * ROW_HEIGHT;
    if (top < 0) return;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW_HEIGHT > box.scrollTop + box.clientHeight)
      box.scrollTop = top + ROW_HEIGHT - box.clientHeight;
    paint();
  }

  const indexAt = ({ target }: Happening): number => {
    const index = target?.closest('[data-index]')?.dataset['index'];
    return index === undefined ? -1 : Number(index);
  };

  box.addEventListener('scroll', paint, { passive: true });
  new browser.ResizeObserver(paint).observe(box);
  box.addEventListener('click', (event) => indexAt(event) >= 0 && select(indexAt(event)));
  box.addEventListener('dblclick', (event) => indexAt(event) >= 0 && events.onOpen(items[indexAt(event)]!));
  box.addEventListener('keydown', (event) => {
    const at = selected === undefined ? -1 : items.indexOf(selected);
    const page = Math.max(1, Math.floor(box.clientHeight / ROW_HEIGHT) - 1);
    const next: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: Math.max(at - 1, 0),
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: items.length - 1,
    };
    if (Object.hasOwn(next, event.key)) select(next[event.key]!);
    else if (event.key === 'Enter' && selected !== undefined) events.onOpen(selected);
    else return;
    event.preventDefault();
  });
  box.addEventListener('focus', () => selected === undefined && box.matches(':focus-visible') && select(0));

  return {
    show(nextItems, nextSelected) {
      if (nextItems === items && nextSelected === selected) return;
      if (nextItems !== items) box.scrollTop = Math.min(box.scrollTop, nextItems.length * ROW_HEIGHT);
      items = nextItems;
      selected = nextSelected;
      paint();
    },
    reveal,
  };
}

const idOf = (item: Item): string => `row-${item.id}`;
