// The script of the page: one state, changed by the user, and shown by the timeline, the overview, the list and the
// details. Nothing is fetched: the plan is in the page.

import { makeControls, showControls } from './controls.ts';
import type { PageData } from './data.ts';
import { cardOf } from './describe.ts';
import { browser, byId, perFrame } from './dom.ts';
import { columnsOf } from './layout.ts';
import { type List, makeList } from './list.ts';
import {
  EVERYTHING,
  type Filter,
  filterItems,
  type Grouping,
  type Item,
  isInTime,
  itemsOf,
  type Lane,
  lanesOf,
  type Window,
} from './model.ts';
import { followOverview, paintOverview } from './overview.ts';
import { type Ink, readInk } from './paint.ts';
import { makePicture } from './picture.ts';
import { lengthInWords } from './times.ts';
import { around, isWhole, panned, showing, wholeOf, within, zoomed } from './view.ts';

export function start(): void {
  new Page(JSON.parse(byId('plan').textContent ?? '') as PageData).change({ ink: readInk() });
  // After the frame in which the first timeline is painted.
  browser.requestAnimationFrame(() => {
    browser.document.documentElement.dataset['ready'] = 'yes';
  });
}

interface State {
  readonly filter: Filter;
  readonly by: Grouping;
  readonly window: Window;
  readonly focused: Item | undefined;
  readonly ink: Ink;
}

class Page {
  readonly #data: PageData;
  readonly #items: readonly Item[];
  readonly #whole: Window;
  readonly #picture: ReturnType<typeof makePicture>;
  readonly #list: List;
  readonly #paintStrip: () => void;
  #state: State;
  #shown: readonly Item[];
  #lanes: readonly Lane[];

  constructor(data: PageData) {
    this.#data = data;
    this.#items = itemsOf(data);
    this.#whole = wholeOf(data.made, data.until);
    this.#state = {
      filter: EVERYTHING,
      by: 'kind',
      window: this.#whole,
      focused: undefined,
      ink: readInk(),
    };
    this.#shown = this.#items;
    this.#lanes = lanesOf(this.#shown, this.#state.by, data);
    this.#picture = this.#makePicture();
    this.#list = makeList(data, {
      onSelect: (item) => this.#select(item),
      onOpen: (item) => this.change({ focused: item, window: around([item], this.#whole) }),
    });
    this.#makeControls();
    this.#paintStrip = this.#makeOverview();
  }

  change(next: Partial<State>): void {
    this.#state = { ...this.#state, ...next };
    if (next.filter !== undefined) {
      this.#shown = filterItems(this.#items, this.#state.filter);
      const { focused } = this.#state;
      if (focused !== undefined && !this.#shown.includes(focused))
        this.#state = { ...this.#state, focused: undefined };
    }
    if (next.filter !== undefined || next.by !== undefined)
      this.#lanes = lanesOf(this.#shown, this.#state.by, this.#data);
    this.#show();
  }

  #makePicture(): ReturnType<typeof makePicture> {
    const whole = this.#whole;
    return makePicture(this.#data, {
      onZoom: (factor, share) => this.change({ window: zoomed(this.#state.window, factor, share, whole) }),
      onPan: (share) => this.change({ window: panned(this.#state.window, share, whole) }),
      onFocus: (item) => this.#select(item),
      onWhole: () => this.change({ window: whole }),
      onOpen: (mark) => {
        const [first, ...more] = mark.items;
        if (first === undefined || more.length === 0) return;
        if (isInTime(first.state)) this.change({ window: around(mark.items, whole) });
        else this.change({ filter: { ...this.#state.filter, state: first.state } });
      },
    });
  }

  #makeControls(): void {
    makeControls(this.#data, this.#items, {
      onFilter: (filter) => this.change({ filter: { ...this.#state.filter, ...filter } }),
      onGroup: (by) => this.change({ by }),
      onZoom: (factor) => this.change({ window: zoomed(this.#state.window, factor, 0.5, this.#whole) }),
      onWhole: () => this.change({ window: this.#whole }),
      onTheme: () => this.change({ ink: readInk() }),
    });
  }

  /** Returns the function that paints the strip below the timeline. */
  #makeOverview(): () => void {
    const whole = this.#whole;
    const columns = () => columnsOf(byId('picture').clientWidth, byId('picture').clientHeight, this.#lanes);
    const paint = perFrame(() =>
      paintOverview(
        { items: this.#shown, window: this.#state.window, whole, columns: columns() },
        this.#state.ink,
      ),
    );
    followOverview(columns, (share) => {
      const middle = whole.from + (whole.to - whole.from) * share;
      const half = (this.#state.window.to - this.#state.window.from) / 2;
      this.change({ window: within({ from: middle - half, to: middle + half }, whole) });
    });
    new browser.ResizeObserver(paint).observe(byId('picture'));
    return paint;
  }

  /** Selects an item everywhere: in the timeline, the list and the details. */
  #select(item: Item | undefined): void {
    const isComing = item?.at !== undefined && item.at !== null && isInTime(item.state);
    const window = isComing ? { window: showing(this.#state.window, item.at, this.#whole) } : {};
    this.change({ focused: item, ...window });
    if (item !== undefined) this.#list.reveal(item);
  }

  #show(): void {
    const { window, focused, ink, filter } = this.#state;
    this.#picture.show({ lanes: this.#lanes, window, focused, ink });
    this.#list.show(this.#shown, focused);
    showControls(filter, this.#shown.length, this.#items.length);
    byId('empty').hidden = this.#shown.length > 0;
    byId('empty-why').textContent =
      this.#items.length === 0 ? emptyWords(this.#data) : 'Nothing passes these filters.';
    byId('whole').disabled = isWhole(window, this.#whole);
    showDetails(this.#data, focused);
    this.#paintStrip();
  }
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
