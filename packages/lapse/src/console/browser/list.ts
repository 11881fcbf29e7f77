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

export const makeList = (data: PageData, events: ListEvents): List => new ListView(data, events);

class ListView implements List {
  readonly #data: PageData;
  readonly #events: ListEvents;
  readonly #box = byId('list');
  readonly #rows = byId('rows');
  readonly #paint = perFrame(() => this.#paintNow());
  #items: readonly Item[] = [];
  #selected: Item | undefined;

  constructor(data: PageData, events: ListEvents) {
    this.#data = data;
    this.#events = events;
    const box = this.#box;
    box.addEventListener('scroll', this.#paint, { passive: true });
    new browser.ResizeObserver(this.#paint).observe(box);
    box.addEventListener('click', (event) => indexAt(event) >= 0 && this.#select(indexAt(event)));
    box.addEventListener(
      'dblclick',
      (event) => indexAt(event) >= 0 && events.onOpen(this.#items[indexAt(event)]!),
    );
    box.addEventListener('keydown', (event) => this.#press(event));
    box.addEventListener(
      'focus',
      () => this.#selected === undefined && box.matches(':focus-visible') && this.#select(0),
    );
  }

  show(items: readonly Item[], selected: Item | undefined): void {
    if (items === this.#items && selected === this.#selected) return;
    if (items !== this.#items) this.#box.scrollTop = Math.min(this.#box.scrollTop, items.length * ROW_HEIGHT);
    this.#items = items;
    this.#selected = selected;
    this.#paint();
  }

  reveal(item: Item): void {
    const box = this.#box;
    const top = this.#items.indexOf(item) * ROW_HEIGHT;
    if (top < 0) return;
    if (top < box.scrollTop) box.scrollTop = top;
    else if (top + ROW_HEIGHT > box.scrollTop + box.clientHeight)
      box.scrollTop = top + ROW_HEIGHT - box.clientHeight;
    this.#paint();
  }

  #paintNow(): void {
    const { scrollTop, clientHeight } = this.#box;
    const first = Math.max(0, Math.floor(scrollTop / ROW_HEIGHT) - SPARE);
    const last = Math.min(this.#items.length, Math.ceil((scrollTop + clientHeight) / ROW_HEIGHT) + SPARE);
    this.#rows.style.setProperty('height', `${this.#items.length * ROW_HEIGHT}px`);
    const made: Element[] = [];
    for (let index = first; index < last; index += 1) made.push(this.#rowOf(index));
    this.#rows.replaceChildren(...made);
    if (this.#selected === undefined) this.#box.removeAttribute('aria-activedescendant');
    else this.#box.setAttribute('aria-activedescendant', idOf(this.#selected));
  }

  #rowOf(index: number): Element {
    const item = this.#items[index]!;
    const isSelected = item === this.#selected;
    const row = h(
      'div',
      {
        class: isSelected ? 'row selected' : 'row',
        id: idOf(item),
        role: 'option',
        'aria-selected': String(isSelected),
        'aria-posinset': String(index + 1),
        'aria-setsize': String(this.#items.length),
        title: item.at === null ? '' : longTime(item.at),
        'data-index': String(index),
      },
      dotOf(item),
      h('bdi', { class: 'row-name' }, item.name),
      h('span', { class: `when ${item.state}` }, whenOf(item, this.#data.made)),
      h('bdi', { class: 'row-place' }, placeOf(item, this.#data)),
      h('bdi', { class: 'row-rule' }, this.#data.rules[item.rule]!),
    );
    row.style.setProperty('top', `${index * ROW_HEIGHT}px`);
    return row;
  }

  #select(index: number): void {
    const item = this.#items[Math.min(Math.max(index, 0), this.#items.length - 1)];
    if (item === undefined) return;
    this.reveal(item);
    this.#events.onSelect(item);
  }

  #press(event: Happening): void {
    const at = this.#selected === undefined ? -1 : this.#items.indexOf(this.#selected);
    const page = Math.max(1, Math.floor(this.#box.clientHeight / ROW_HEIGHT) - 1);
    const next: Record<string, number> = {
      ArrowDown: at + 1,
      ArrowUp: Math.max(at - 1, 0),
      PageDown: at + page,
      PageUp: at - page,
      Home: 0,
      End: this.#items.length - 1,
    };
    if (Object.hasOwn(next, event.key)) this.#select(next[event.key]!);
    else if (event.key === 'Enter' && this.#selected !== undefined) this.#events.onOpen(this.#selected);
    else return;
    event.preventDefault();
  }
}

const indexAt = ({ target }: Happening): number => {
  const index = target?.closest('[data-index]')?.dataset['index'];
  return index === undefined ? -1 : Number(index);
};

const idOf = (item: Item): string => `row-${item.id}`;
