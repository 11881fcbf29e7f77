// The bar above the timeline: grouping, filters, zoom. Updates the state and shows the number of matches per choice.

import type { PageData } from './data.ts';
import { browser, byId, type Element, h } from './dom.ts';
import { countBy, type Filter, type Grouping, type Item, NATURAL, STATES } from './model.ts';

export interface ControlEvents {
  onFilter(change: Partial<Filter>): void;
  onGroup(by: Grouping): void;
  onZoom(factor: number): void;
  onWhole(): void;
  onTheme(): void;
}

const FIELDS: readonly Grouping[] = ['kind', 'namespace', 'rule'];
const LISTS = { kind: 'kinds', namespace: 'namespaces', rule: 'rules' } as const;

export function makeControls(data: PageData, items: readonly Item[], events: ControlEvents): void {
  for (const field of FIELDS) {
    fillSelect(byId(`filter-${field}`), countBy(items, field), data[LISTS[field]]);
    byId(`filter-${field}`).addEventListener('change', ({ target }) =>
      events.onFilter({ [field]: Number(target!.value) }),
    );
    byId(`by-${field}`).addEventListener('change', () => events.onGroup(field));
  }
  const search = byId('search');
  search.addEventListener('input', () => events.onFilter({ text: search.value }));
  for (const state of ['all', ...STATES] as const)
    byId(`state-${state}`).addEventListener('click', () => events.onFilter({ state }));
  byId('zoom-in').addEventListener('click', () => events.onZoom(0.5));
  byId('zoom-out').addEventListener('click', () => events.onZoom(2));
  byId('whole').addEventListener('click', events.onWhole);
  byId('clear').addEventListener('click', () => clear(events));
  byId('theme').addEventListener('click', () => turnTheme(events));
  browser.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', events.onTheme);
  browser.document.addEventListener('keydown', (event) => {
    const isTyping = browser.document.activeElement?.matches('input, select') ?? false;
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    search.focus();
    search.select();
  });
}

function fillSelect(select: Element, counts: ReadonlyMap<number, number>, names: readonly string[]): void {
  const options = [...counts]
    .sort((a, b) => b[1] - a[1] || NATURAL.compare(names[a[0]]!, names[b[0]]!))
    .map(([index, count]) =>
      h('option', { value: String(index) }, `${names[index]} (${count.toLocaleString('en')})`),
    );
  select.append(...options);
  select.disabled = options.length < 2;
}

function clear(events: ControlEvents): void {
  byId('search').value = '';
  for (const field of FIELDS) byId(`filter-${field}`).value = '-1';
  events.onFilter({ kind: -1, namespace: -1, rule: -1, state: 'all', text: '' });
}

function turnTheme(events: ControlEvents): void {
  const root = browser.document.documentElement;
  const isDark = root.dataset['theme']
    ? root.dataset['theme'] === 'dark'
    : browser.matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset['theme'] = isDark ? 'light' : 'dark';
  events.onTheme();
}

export function showControls(filter: Filter, shown: number, all: number): void {
  for (const state of ['all', ...STATES] as const)
    byId(`state-${state}`).setAttribute('aria-pressed', String(filter.state === state));
  const isFiltered = shown !== all;
  byId('clear').hidden = !isFiltered && filter.text === '';
  byId('shown').textContent = isFiltered
    ? `${shown.toLocaleString('en')} of ${all.toLocaleString('en')}`
    : all.toLocaleString('en');
}
