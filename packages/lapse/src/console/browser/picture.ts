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

export function makePicture(data: PageData, events: PictureEvents): { show(scene: Scene): void } {
  const box = byId('picture');
  const canvas = canvasById('canvas');
  const card = byId('card');
  let scene: Scene | undefined;
  let columns: Columns = columnsOf(800, 400, []);
  let marks: Placed[] = [];
  let hovered: Item | undefined;
  let dragging: { x: number; moved: boolean } | undefined;

  const paint = perFrame(() => {
    if (scene === undefined) return;
    const { lanes, window, focused, ink } = scene;
    const [width, height] = [box.clientWidth, box.clientHeight];
    columns = columnsOf(width, height, lanes);
    const { laneHeight } = columns;
    marks = lanes.flatMap((lane, index) => placeLane(lane, index, columns, window));
    byId('spacer').style.setProperty(
      'height',
      `${Math.max(0, AXIS_HEIGHT + lanes.length * laneHeight - height)}px`,
    );
    const scroll = box.scrollTop;
    const seen = marks.filter(
      (mark) =>
        isSeen(mark, columns) && mark.y > scroll - laneHeight && mark.y < scroll + height + laneHeight,
    );
    const picture = {
      columns,
      lanes,
      marks: seen,
      window,
      made: data.made,
      height,
      scroll,
      hovered,
      focused,
    };
    paintPicture(penOf(canvas, width, height), picture, ink);
    placeCard();
  });

  /** A hovered mark takes precedence over a focused one. Without either, the card is hidden. */
  function placeCard(): void {
    const isFocused = browser.document.activeElement === box;
    const item = hovered ?? (isFocused ? scene?.focused : undefined);
    const mark = item === undefined ? undefined : markOf(marks, item);
    card.hidden = mark === undefined || dragging?.moved === true;
    if (mark === undefined || card.hidden) return;
    card.replaceChildren(mark.items.length === 1 ? cardOf(mark.items[0]!, data) : crowdOf(mark, data));
    const { left, top } = box.getBoundingClientRect();
    const x = Math.min(
      Math.max(left + mark.x - card.offsetWidth / 2, 8),
      browser.innerWidth - card.offsetWidth - 8,
    );
    const y = top + mark.y - box.scrollTop;
    const below = y + mark.radius + 12;
    const fits = below + card.offsetHeight < browser.innerHeight - 8;
    card.style.setProperty('left', `${x}px`);
    card.style.setProperty(
      'top',
      `${fits ? below : Math.max(8, y - mark.radius - 12 - card.offsetHeight)}px`,
    );
  }

  function pointAt(event: Happening): { x: number; mark: Placed | undefined } {
    const { left, top } = box.getBoundingClientRect();
    const [x, y] = [event.clientX - left, event.clientY - top];
    const seen = marks.filter((mark) => isSeen(mark, columns));
    return { x, mark: y < AXIS_HEIGHT ? undefined : markAt(seen, x, y + box.scrollTop) };
  }

  function hover(item: Item | undefined): void {
    if (item === hovered) return;
    hovered = item;
    box.dataset['over'] = item === undefined ? '' : 'mark';
    paint();
  }

  const shareAt = (x: number) => Math.min(Math.max((x - columns.from) / (columns.to - columns.from), 0), 1);

  box.addEventListener(
    'wheel',
    (event) => {
      const { x } = pointAt(event);
      // Over the labels, the wheel scrolls the lanes.
      if (x < columns.labels && !event.ctrlKey) return;
      event.preventDefault();
      const unit = event.deltaMode === 1 ? 30 : 1;
      const across = event.shiftKey && event.deltaX === 0 ? event.deltaY : event.deltaX;
      if (Math.abs(across) > Math.abs(event.deltaY) || event.shiftKey)
        events.onPan((across * unit) / (columns.to - columns.from));
      else events.onZoom(Math.exp(Math.min(Math.max(event.deltaY * unit, -300), 300) * 0.002), shareAt(x));
    },
    { passive: false },
  );
  box.addEventListener('pointerdown', (event) => {
    if (event.button === 0) dragging = { x: event.clientX, moved: false };
  });
  box.addEventListener('pointermove', (event) => {
    if (dragging === undefined) return hover(pointAt(event).mark?.items[0]);
    const by = dragging.x - event.clientX;
    if (!dragging.moved && Math.abs(by) < 4) return;
    if (!dragging.moved) box.setPointerCapture(event.pointerId);
    dragging = { x: event.clientX, moved: true };
    events.onPan(by / (columns.to - columns.from));
  });
  box.addEventListener('pointerup', (event) => {
    const wasDrag = dragging?.moved ?? false;
    dragging = undefined;
    const { mark } = pointAt(event);
    if (wasDrag || event.button !== 0) return paint();
    events.onFocus(mark?.items[0]);
    if (mark !== undefined) events.onOpen(mark);
  });
  box.addEventListener('pointercancel', () => {
    dragging = undefined;
  });
  box.addEventListener('pointerleave', () => hover(undefined));
  box.addEventListener('scroll', paint, { passive: true });
  box.addEventListener('focus', () => {
    if (scene?.focused === undefined && box.matches(':focus-visible')) step(0, 0);
    paint();
  });
  box.addEventListener('blur', paint);
  box.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]!(event.shiftKey);
  });
  new browser.ResizeObserver(paint).observe(box);

  const keys: Record<string, (isShifted: boolean) => void> = {
    ArrowLeft: (isShifted) => (isShifted ? events.onPan(-0.2) : step(0, -1)),
    ArrowRight: (isShifted) => (isShifted ? events.onPan(0.2) : step(0, 1)),
    ArrowUp: () => step(-1, 0),
    ArrowDown: () => step(1, 0),
    '+': () => events.onZoom(0.5, focusShare()),
    '=': () => events.onZoom(0.5, focusShare()),
    '-': () => events.onZoom(2, focusShare()),
    _: () => events.onZoom(2, focusShare()),
    '0': () => events.onWhole(),
    Home: () => events.onWhole(),
    Escape: () => events.onFocus(undefined),
    Enter: open,
    ' ': open,
  };

  function open(): void {
    const mark = scene?.focused && markOf(marks, scene.focused);
    if (mark) events.onOpen(mark);
  }

  function focusShare(): number {
    const mark = scene?.focused && markOf(marks, scene.focused);
    return mark && isSeen(mark, columns) && isInTime(mark.items[0]!.state) ? shareAt(mark.x) : 0.5;
  }

  /** Moves to the next mark in the lane, or to the nearest one in another lane. */
  function step(down: number, across: number): void {
    const now = scene?.focused && markOf(marks, scene.focused);
    const next = now === undefined ? marks.find((mark) => isSeen(mark, columns)) : nextOf(now, down, across);
    if (next === undefined) return;
    const { laneHeight } = columns;
    if (next.y - laneHeight < box.scrollTop + AXIS_HEIGHT) box.scrollTop = next.y - laneHeight - AXIS_HEIGHT;
    else if (next.y + laneHeight > box.scrollTop + box.clientHeight)
      box.scrollTop = next.y + laneHeight - box.clientHeight;
    events.onFocus(next.items[0]);
    byId('spoken').textContent = sentenceOf(next, scene!.lanes[next.lane]!.label, data);
  }

  function nextOf(now: Placed, down: number, across: number): Placed | undefined {
    if (down === 0) {
      const row = marks.filter(({ lane }) => lane === now.lane);
      return row[row.indexOf(now) + across];
    }
    return marks
      .filter(({ lane }) => lane === now.lane + down)
      .reduce<Placed | undefined>(
        (best, mark) => (best && Math.abs(best.x - now.x) <= Math.abs(mark.x - now.x) ? best : mark),
        undefined,
      );
  }

  return {
    show(next) {
      scene = next;
      paint();
    },
  };
}
