// The timeline on the page: owns the canvas, turns wheel, drag, hover and keys into callbacks (zoom, pan, select),
// and places the card beside the selected mark.

import type { PageData } from './data.ts';
import { cardOf, crowdOf, sentenceOf } from './describe.ts';
import { browser, byId, canvasById, type Happening, perFrame } from './dom.ts';
import {
  AXIS_HEIGHT,
  type Columns,
  columnsOf,
  isSeen,
  markAt,
  markOf,
  type Placed,
  placeLane,
} from './layout.ts';
import { type Item, isInTime, type Lane, type Window } from './model.ts';
import { type Ink, paintPicture, penOf } from './paint.ts';

export interface Scene {
  readonly lanes: readonly Lane[];
  readonly window: Window;
  readonly focused: Item | undefined;
  readonly ink: Ink;
}

export interface PictureEvents {
  /** `share`: 0 at the left edge of the time column, 1 at the right. */
  onZoom(factor: number, share: number): void;
  /** As a share of the window. */
  onPan(share: number): void;
  onFocus(item: Item | undefined): void;
  onOpen(mark: Placed): void;
  onWhole(): void;
}

export const makePicture = (data: PageData, events: PictureEvents): { show(scene: Scene): void } =>
  new Picture(data, events);

class Picture {
  readonly #data: PageData;
  readonly #events: PictureEvents;
  readonly #box = byId('picture');
  readonly #canvas = canvasById('canvas');
  readonly #card = byId('card');
  readonly #paint = perFrame(() => this.#paintNow());
  #scene: Scene | undefined;
  #columns: Columns = columnsOf(800, 400, []);
  #marks: Placed[] = [];
  #hovered: Item | undefined;
  #dragging: { x: number; moved: boolean } | undefined;

  constructor(data: PageData, events: PictureEvents) {
    this.#data = data;
    this.#events = events;
    const box = this.#box;
    box.addEventListener('wheel', (event) => this.#turnWheel(event), { passive: false });
    box.addEventListener('pointerdown', (event) => {
      if (event.button === 0) this.#dragging = { x: event.clientX, moved: false };
    });
    box.addEventListener('pointermove', (event) => this.#movePointer(event));
    box.addEventListener('pointerup', (event) => this.#releasePointer(event));
    box.addEventListener('pointercancel', () => {
      this.#dragging = undefined;
    });
    box.addEventListener('pointerleave', () => this.#hover(undefined));
    box.addEventListener('scroll', this.#paint, { passive: true });
    box.addEventListener('focus', () => {
      if (this.#scene?.focused === undefined && box.matches(':focus-visible')) this.#step(0, 0);
      this.#paint();
    });
    box.addEventListener('blur', this.#paint);
    box.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(this.#keys, event.key)) return;
      event.preventDefault();
      this.#keys[event.key]!(event.shiftKey);
    });
    new browser.ResizeObserver(this.#paint).observe(box);
  }

  show(next: Scene): void {
    this.#scene = next;
    this.#paint();
  }

  #paintNow(): void {
    if (this.#scene === undefined) return;
    const { lanes, window, focused, ink } = this.#scene;
    const [width, height] = [this.#box.clientWidth, this.#box.clientHeight];
    this.#columns = columnsOf(width, height, lanes);
    const { laneHeight } = this.#columns;
    this.#marks = lanes.flatMap((lane, index) => placeLane(lane, index, this.#columns, window));
    byId('spacer').style.setProperty(
      'height',
      `${Math.max(0, AXIS_HEIGHT + lanes.length * laneHeight - height)}px`,
    );
    const scroll = this.#box.scrollTop;
    const seen = this.#marks.filter(
      (mark) =>
        isSeen(mark, this.#columns) && mark.y > scroll - laneHeight && mark.y < scroll + height + laneHeight,
    );
    const picture = {
      columns: this.#columns,
      lanes,
      marks: seen,
      window,
      made: this.#data.made,
      height,
      scroll,
      hovered: this.#hovered,
      focused,
    };
    paintPicture(penOf(this.#canvas, width, height), picture, ink);
    this.#placeCard();
  }

  /** A hovered mark takes precedence over a focused one. Without either, the card is hidden. */
  #placeCard(): void {
    const isFocused = browser.document.activeElement === this.#box;
    const item = this.#hovered ?? (isFocused ? this.#scene?.focused : undefined);
    const mark = item === undefined ? undefined : markOf(this.#marks, item);
    this.#card.hidden = mark === undefined || this.#dragging?.moved === true;
    if (mark === undefined || this.#card.hidden) return;
    this.#card.replaceChildren(
      mark.items.length === 1 ? cardOf(mark.items[0]!, this.#data) : crowdOf(mark, this.#data),
    );
    const { left, top } = this.#box.getBoundingClientRect();
    const x = Math.min(
      Math.max(left + mark.x - this.#card.offsetWidth / 2, 8),
      browser.innerWidth - this.#card.offsetWidth - 8,
    );
    const y = top + mark.y - this.#box.scrollTop;
    const below = y + mark.radius + 12;
    const fits = below + this.#card.offsetHeight < browser.innerHeight - 8;
    this.#card.style.setProperty('left', `${x}px`);
    this.#card.style.setProperty(
      'top',
      `${fits ? below : Math.max(8, y - mark.radius - 12 - this.#card.offsetHeight)}px`,
    );
  }

  #pointAt(event: Happening): { x: number; mark: Placed | undefined } {
    const { left, top } = this.#box.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const seen = this.#marks.filter((mark) => isSeen(mark, this.#columns));
    return { x, mark: y < AXIS_HEIGHT ? undefined : markAt(seen, x, y + this.#box.scrollTop) };
  }

  #hover(item: Item | undefined): void {
    if (item === this.#hovered) return;
    this.#hovered = item;
    this.#box.dataset['over'] = item === undefined ? '' : 'mark';
    this.#paint();
  }

  #shareAt(x: number): number {
    const { from, to } = this.#columns;
    return Math.min(Math.max((x - from) / (to - from), 0), 1);
  }

  #turnWheel(event: Happening): void {
    const { x } = this.#pointAt(event);
    // Over the labels, the wheel scrolls the lanes.
    if (x < this.#columns.labels && !event.ctrlKey) return;
    event.preventDefault();
    const unit = event.deltaMode === 1 ? 30 : 1;
    const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
    if (Math.abs(across) > Math.abs(event.deltaY) || event.shiftKey)
      this.#events.onPan((across * unit) / (this.#columns.to - this.#columns.from));
    else
      this.#events.onZoom(
        Math.exp(Math.min(Math.max(event.deltaY * unit, -300), 300) * 0.002),
        this.#shareAt(x),
      );
  }

  #movePointer(event: Happening): void {
    if (this.#dragging === undefined) {
      this.#hover(this.#pointAt(event).mark?.items[0]);
      return;
    }
    const by = this.#dragging.x - event.clientX;
    if (!this.#dragging.moved && Math.abs(by) < 4) return;
    if (!this.#dragging.moved) this.#box.setPointerCapture(event.pointerId);
    this.#dragging = { x: event.clientX, moved: true };
    this.#events.onPan(by / (this.#columns.to - this.#columns.from));
  }

  #releasePointer(event: Happening): void {
    const wasDrag = this.#dragging?.moved ?? false;
    this.#dragging = undefined;
    const { mark } = this.#pointAt(event);
    if (wasDrag || event.button !== 0) {
      this.#paint();
      return;
    }
    this.#events.onFocus(mark?.items[0]);
    if (mark !== undefined) this.#events.onOpen(mark);
  }

  readonly #keys: Record<string, (isShifted: boolean) => void> = {
    ArrowLeft: (isShifted) => (isShifted ? this.#events.onPan(-0.2) : this.#step(0, -1)),
    ArrowRight: (isShifted) => (isShifted ? this.#events.onPan(0.2) : this.#step(0, 1)),
    ArrowUp: () => this.#step(-1, 0),
    ArrowDown: () => this.#step(1, 0),
    '+': () => this.#events.onZoom(0.5, this.#focusShare()),
    '=': () => this.#events.onZoom(0.5, this.#focusShare()),
    '-': () => this.#events.onZoom(2, this.#focusShare()),
    _: () => this.#events.onZoom(2, this.#focusShare()),
    '0': () => this.#events.onWhole(),
    Home: () => this.#events.onWhole(),
    Escape: () => this.#events.onFocus(undefined),
    Enter: () => this.#open(),
    ' ': () => this.#open(),
  };

  #open(): void {
    const mark = this.#scene?.focused && markOf(this.#marks, this.#scene.focused);
    if (mark) this.#events.onOpen(mark);
  }

  #focusShare(): number {
    const mark = this.#scene?.focused && markOf(this.#marks, this.#scene.focused);
    return mark && isSeen(mark, this.#columns) && isInTime(mark.items[0]!.state)
      ? this.#shareAt(mark.x)
      : 0.5;
  }

  /** Moves to the next mark in the lane, or to the nearest one in another lane. */
  #step(down: number, across: number): void {
    const now = this.#scene?.focused && markOf(this.#marks, this.#scene.focused);
    const next =
      now === undefined
        ? this.#marks.find((mark) => isSeen(mark, this.#columns))
        : this.#nextOf(now, down, across);
    if (next === undefined) return;
    const { laneHeight } = this.#columns;
    if (next.y - laneHeight < this.#box.scrollTop + AXIS_HEIGHT)
      this.#box.scrollTop = next.y - laneHeight - AXIS_HEIGHT;
    else if (next.y + laneHeight > this.#box.scrollTop + this.#box.clientHeight)
      this.#box.scrollTop = next.y + laneHeight - this.#box.clientHeight;
    this.#events.onFocus(next.items[0]);
    byId('spoken').textContent = sentenceOf(next, this.#scene!.lanes[next.lane]!.label, this.#data);
  }

  #nextOf(now: Placed, down: number, across: number): Placed | undefined {
    if (down === 0) {
      const row = this.#marks.filter(({ lane }) => lane === now.lane);
      return row[row.indexOf(now) + across];
    }
    return this.#marks
      .filter(({ lane }) => lane === now.lane + down)
      .reduce<Placed | undefined>(
        (best, mark) => (best && Math.abs(best.x - now.x) <= Math.abs(mark.x - now.x) ? best : mark),
        undefined,
      );
  }
}
