// Draws the timeline: lanes of marks under an axis, overdue marks left of the time column and held ones right of it.
// layout.ts computes the positions.

import { COLOURS } from './colours.ts';
import { browser, type Canvas, type Pen } from './dom.ts';
import { AXIS_HEIGHT, type Columns, type Placed } from './layout.ts';
import { type Item, isInTime, type Lane, type State, sizeOf, type Window } from './model.ts';
import { ticksOf } from './times.ts';

export interface Ink {
  readonly text: string;
  readonly quiet: string;
  readonly line: string;
  readonly stripe: string;
  readonly surface: string;
  readonly accent: string;
  readonly overdue: string;
  readonly kinds: readonly string[];
}

/** The current colours of the style sheet. */
export function readInk(): Ink {
  const style = browser.getComputedStyle(browser.document.documentElement);
  const read = (name: string) => style.getPropertyValue(name).trim();
  return {
    text: read('--text'),
    quiet: read('--quiet'),
    line: read('--line'),
    stripe: read('--stripe'),
    surface: read('--surface'),
    accent: read('--accent'),
    overdue: read('--overdue'),
    kinds: Array.from({ length: COLOURS }, (_, index) => read(`--c${index}`)),
  };
}

/** A cleared drawing context in CSS pixels, scaled for the device resolution. */
export function penOf(canvas: Canvas, width: number, height: number): Pen {
  const ratio = browser.devicePixelRatio || 1;
  const [w, hgt] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== w || canvas.height !== hgt) {
    canvas.width = w;
    canvas.height = hgt;
    canvas.style.setProperty('width', `${width}px`);
    canvas.style.setProperty('height', `${height}px`);
  }
  const pen = canvas.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, width, height);
  pen.textBaseline = 'middle';
  return pen;
}

export interface Picture {
  readonly columns: Columns;
  readonly lanes: readonly Lane[];
  readonly marks: readonly Placed[];
  readonly window: Window;
  readonly made: number;
  readonly height: number;
  readonly scroll: number;
  readonly hovered: Item | undefined;
  readonly focused: Item | undefined;
}

export const FONT = 'system-ui, sans-serif';

export function paintPicture(pen: Pen, picture: Picture, ink: Ink): void {
  paintLanes(pen, picture, ink);
  paintTime(pen, picture, ink);
  clipped(pen, [0, AXIS_HEIGHT, picture.columns.width, picture.height], () => {
    const { from, to } = picture.columns;
    const inTime = picture.marks.filter(({ items }) => isInTime(items[0]!.state));
    clipped(pen, [from, 0, to - from, picture.height], () => paintMarks(pen, picture, inTime, ink));
    paintMarks(
      pen,
      picture,
      picture.marks.filter(({ items }) => !isInTime(items[0]!.state)),
      ink,
    );
  });
}

function clipped(pen: Pen, box: readonly [number, number, number, number], draw: () => void): void {
  pen.save();
  pen.beginPath();
  pen.rect(...box);
  pen.clip();
  draw();
  pen.restore();
}

function paintLanes(pen: Pen, { lanes, columns, scroll, height }: Picture, ink: Ink): void {
  const { laneHeight } = columns;
  clipped(pen, [0, AXIS_HEIGHT, columns.width, height], () => {
    const first = Math.floor(scroll / laneHeight);
    const last = Math.min(lanes.length, Math.ceil((scroll + height) / laneHeight));
    for (let index = first; index < last; index += 1) {
      const lane = lanes[index]!;
      const top = AXIS_HEIGHT + index * laneHeight - scroll;
      if (index % 2 === 0) {
        pen.fillStyle = ink.stripe;
        pen.fillRect(0, top, columns.width, laneHeight);
      }
      const middle = top + laneHeight / 2;
      pen.font = `500 13px ${FONT}`;
      pen.textAlign = 'left';
      pen.fillStyle = ink.text;
      pen.fillText(shortened(pen, lane.label, columns.labels - 66), 16, middle);
      pen.font = `12px ${FONT}`;
      pen.textAlign = 'right';
      pen.fillStyle = ink.quiet;
      pen.fillText(sizeOf(lane).toLocaleString('en'), columns.labels - 12, middle);
      line(pen, columns.from, middle, columns.to, middle, ink.line);
    }
  });
}

/** Truncated to fit. Uses a binary search, because names may be very long. */
function shortened(pen: Pen, text: string, width: number): string {
  if (pen.measureText(text).width <= width) return text;
  const letters = [...text.slice(0, 300)];
  let [fits, tooMany] = [0, letters.length];
  while (tooMany - fits > 1) {
    const half = (fits + tooMany) >> 1;
    if (pen.measureText(`${letters.slice(0, half).join('')}…`).width <= width) fits = half;
    else tooMany = half;
  }
  return `${letters.slice(0, fits).join('')}…`;
}

export function line(pen: Pen, x1: number, y1: number, x2: number, y2: number, colour: string): void {
  pen.strokeStyle = colour;
  pen.lineWidth = 1;
  pen.beginPath();
  pen.moveTo(Math.round(x1) + 0.5, Math.round(y1) + 0.5);
  pen.lineTo(Math.round(x2) + 0.5, Math.round(y2) + 0.5);
  pen.stroke();
}

/** The axis, its grid, the columns beside it and the time of the plan. */
function paintTime(pen: Pen, picture: Picture, ink: Ink): void {
  const { columns, window, made, height } = picture;
  const { from, to } = columns;
  const at = (time: number) => from + ((time - window.from) / (window.to - window.from)) * (to - from);
  clipped(pen, [from, 0, to - from, height], () => {
    pen.textAlign = 'left';
    const ticks = ticksOf(window.from, window.to, to - from);
    for (const tick of ticks) {
      const x = at(tick.at);
      line(pen, x, AXIS_HEIGHT - 10, x, height, ink.line);
      pen.font = `${tick.strong ? 600 : 400} 12px ${FONT}`;
      pen.fillStyle = tick.strong ? ink.text : ink.quiet;
      if (x + 10 + pen.measureText(tick.label).width < to) pen.fillText(tick.label, x + 6, AXIS_HEIGHT / 2);
    }
    pen.setLineDash([3, 4]);
    line(pen, at(made), AXIS_HEIGHT - 10, at(made), height, ink.accent);
    pen.setLineDash([]);
    pen.font = `600 12px ${FONT}`;
    pen.fillStyle = ink.accent;
    const isFree = ticks.every((tick) => Math.abs(at(tick.at) - at(made)) > 48);
    if (isFree) pen.fillText('now', at(made) + 6, AXIS_HEIGHT / 2);
  });
  pen.font = `600 12px ${FONT}`;
  pen.textAlign = 'center';
  if (columns.hasOverdue) {
    pen.fillStyle = ink.overdue;
    pen.fillText('Overdue', (columns.labels + from) / 2, AXIS_HEIGHT / 2);
    line(pen, from, 0, from, height, ink.line);
  }
  if (columns.hasHeld) {
    pen.fillStyle = ink.quiet;
    pen.fillText('Held', (to + columns.width) / 2, AXIS_HEIGHT / 2);
    line(pen, to, 0, to, height, ink.line);
  }
  line(pen, columns.labels, AXIS_HEIGHT, columns.labels, height, ink.line);
  line(pen, 0, AXIS_HEIGHT, columns.width, AXIS_HEIGHT, ink.line);
}

function paintMarks(pen: Pen, picture: Picture, marks: readonly Placed[], ink: Ink): void {
  const { focused, hovered, scroll } = picture;
  for (const mark of marks) {
    const y = mark.y - scroll;
    paintMark(pen, mark, y, ink);
    if (focused !== undefined && mark.items.includes(focused)) ring(pen, mark, y, ink.accent, 3);
    else if (hovered !== undefined && mark.items.includes(hovered)) ring(pen, mark, y, ink.quiet, 1.5);
  }
}

function paintMark(pen: Pen, mark: Placed, y: number, ink: Ink): void {
  const { state } = mark.items[0]!;
  const isHollow = state === 'held' || state === 'changes';
  const colour = state === 'overdue' ? ink.overdue : colourOf(mark.items, ink);
  if (takesAlong(mark)) halo(pen, mark, y, colour);
  outline(pen, mark.x, y, mark.radius, state);
  pen.fillStyle = isHollow ? ink.surface : colour;
  pen.fill();
  pen.strokeStyle = isHollow ? colour : ink.surface;
  pen.lineWidth = isHollow ? 2 : 1.5;
  pen.stroke();
  if (mark.items.length === 1) return;
  pen.font = `600 ${mark.items.length < 10 ? 10 : 11}px ${FONT}`;
  pen.textAlign = 'center';
  pen.fillStyle = isHollow ? ink.text : ink.surface;
  pen.fillText(shortCount(mark.items.length), mark.x, y + 0.5);
}

/** A mark with several items has the colour of their most frequent kind. */
function colourOf(items: readonly Item[], ink: Ink): string {
  const [first] = items;
  const last = items.at(-1)!;
  if (first!.kind === last.kind) return ink.kinds[first!.kind % COLOURS]!;
  const counts = new Map<number, number>();
  for (const { kind } of items) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  const [most] = [...counts].sort((a, b) => b[1] - a[1])[0]!;
  return ink.kinds[most % COLOURS]!;
}

const takesAlong = ({ items }: Placed): boolean =>
  items.length === 1 && ((items[0]!.dependents?.length ?? 0) > 0 || (items[0]!.moreDependents ?? 0) > 0);

function halo(pen: Pen, mark: Placed, y: number, colour: string): void {
  pen.globalAlpha = 0.22;
  pen.fillStyle = colour;
  pen.beginPath();
  pen.arc(mark.x, y, mark.radius + 5, 0, Math.PI * 2);
  pen.fill();
  pen.globalAlpha = 1;
}

/** A circle, a diamond for an overdue item, a square for an item that only changes. */
function outline(pen: Pen, x: number, y: number, radius: number, state: State): void {
  pen.beginPath();
  if (state === 'changes') {
    pen.roundRect(x - radius, y - radius, radius * 2, radius * 2, 2);
    return;
  }
  if (state !== 'overdue') {
    pen.arc(x, y, radius, 0, Math.PI * 2);
    return;
  }
  const reach = radius * 1.4;
  pen.moveTo(x, y - reach);
  pen.lineTo(x + reach, y);
  pen.lineTo(x, y + reach);
  pen.lineTo(x - reach, y);
  pen.closePath();
}

function ring(pen: Pen, mark: Placed, y: number, colour: string, width: number): void {
  pen.beginPath();
  pen.arc(mark.x, y, mark.radius + 5, 0, Math.PI * 2);
  pen.strokeStyle = colour;
  pen.lineWidth = width;
  pen.stroke();
}

/** At most three characters fit into a mark. */
const shortCount = (count: number): string => {
  if (count < 1000) return String(count);
  return count < 10_000 ? `${(count / 1000).toFixed(1)}k` : `${Math.floor(count / 1000)}k`;
};
