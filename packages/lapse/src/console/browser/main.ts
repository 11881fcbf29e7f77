// The script of the page: one state, changed by the user, and shown by the timeline, the overview, the list and the
// details. Nothing is fetched: the plan is in the page.

import { makeControls, showControls } from './controls.ts';
import type { PageData } from './data.ts';
import { cardOf } from './describe.ts';
import { browser, byId, perFrame } from './dom.ts';
import { columnsOf } from './layout.ts';
import { makeList } from './list.ts';
import {
  EVERYTHING,
  type Filter,
  filterItems,
  type Grouping,
  type Item,
  isInTime,
  itemsOf,
  lanesOf,
} from './model.ts';
import { followOverview, paintOverview } from './overview.ts';
import { readInk } from './paint.ts';
import { makePicture } from './picture.ts';
import { lengthInWords } from './times.ts';
import { around, isWhole, panned, showing, wholeOf, within, zoomed } from './view.ts';

export function start(): void {
  const data = JSON.parse(byId('plan').textContent ?? '') as PageData;
  const items = itemsOf(data);
  const whole = wholeOf(data.made, data.until);
  const state = {
    filter: EVERYTHING as Filter,
    by: 'kind' as Grouping,
    window: whole,
    focused: undefined as Item | undefined,
    ink: readInk(),
  };
  let shown = items;
  let lanes = lanesOf(shown, state.by, data);

  function change(next: Partial<typeof state>): void {
    Object.assign(state, next);
    if (next.filter !== undefined) {
      shown = filterItems(items, state.filter);
      if (state.focused !== undefined && !shown.includes(state.focused)) state.focused = undefined;
    }
    if (next.filter !== undefined || next.by !== undefined) lanes = lanesOf(shown, state.by, data);
    show();
  }

  const picture = makePicture(data, {
    onZoom: (factor, share) => change({ window: zoomed(state.window, factor, share, whole) }),
    onPan: (share) => change({ window: panned(state.window, share, whole) }),
    onFocus: (item) => select(item),
    onWhole: () => change({ window: whole }),
    onOpen(mark) {
      if (mark.items.length > 1 && isInTime(mark.items[0]!.state))
        change({ window: around(mark.items, whole) });
      else if (mark.items.length > 1) change({ filter: { ...state.filter, state: mark.items[0]!.state } });
    },
  });
  const list = makeList(data, {
    onSelect: (item) => select(item),
    onOpen: (item) => change({ focused: item, window: around([item], whole) }),
  });
  makeControls(data, items, {
    onFilter: (filter) => change({ filter: { ...state.filter, ...filter } }),
    onGroup: (by) => change({ by }),
    onZoom: (factor) => change({ window: zoomed(state.window, factor, 0.5, whole) }),
    onWhole: () => change({ window: whole }),
    onTheme: () => change({ ink: readInk() }),
  });

  /** Selects an item everywhere: in the timeline, the list and the details. */
  function select(item: Item | undefined): void {
    const isComing = item?.at !== undefined && item.at !== null && isInTime(item.state);
    change({ focused: item, ...(isComing ? { window: showing(state.window, item.at, whole) } : {}) });
    if (item !== undefined) list.reveal(item);
  }

  const columns = () => columnsOf(byId('picture').clientWidth, byId('picture').clientHeight, lanes);
  const paintStrip = perFrame(() =>
    paintOverview({ items: shown, window: state.window, whole, columns: columns() }, state.ink),
  );
  followOverview(columns, (share) => {
    const middle = whole.from + (whole.to - whole.from) * share;
    const half = (state.window.to - state.window.from) / 2;
    change({ window: within({ from: middle - half, to: middle + half }, whole) });
  });
  new browser.ResizeObserver(paintStrip).observe(byId('picture'));

  function show(): void {
    picture.show({ lanes, window: state.window, focused: state.focused, ink: state.ink });
    list.show(shown, state.focused);
    showControls(state.filter, shown.length, items.length);
    byId('empty').hidden = shown.length > 0;
    byId('empty-why').textContent = items.length === 0 ? emptyWords(data) : 'Nothing passes these filters.';
    byId('whole').disabled = isWhole(state.window, whole);
    showDetails(data, state.focused);
    paintStrip();
  }

  change({ ink: readInk() });
  // After the frame in which the first timeline is painted.
  browser.requestAnimationFrame(() => {
    browser.document.documentElement.dataset['ready'] = 'yes';
  });
}

const emptyWords = ({ made, until, more }: PageData): string =>
  `Nothing is deleted in the next ${lengthInWords(until - made)}${more > 0 ? `; ${more.toLocaleString('en')} later` : ''}.`;

function showDetails(data: PageData, item: Item | undefined): void {
  const details = byId('details');
  details.hidden = item === undefined;
  if (item !== undefined && details.dataset['item'] !== String(item.id))
    details.replaceChildren(cardOf(item, data));
  details.dataset['item'] = item === undefined ? '' : String(item.id);
}
