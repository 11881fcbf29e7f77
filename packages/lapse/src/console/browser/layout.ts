// The layout of the timeline: columns (labels, overdue, time, held), lanes, and marks. Pure. paint.ts draws it. Mouse
// and keyboard handlers look up marks in it.

import { heapOf, type Item, isInTime, type Lane, type Mark, marksOf, type Window } from './model.ts';

export const AXIS_HEIGHT = 36;
const LANE_HEIGHT = { least: 46, most: 72 };
const GUTTER = 76;

export interface Columns {
  readonly width: number;
  /** Right edge of the labels, where the overdue column (if any) starts. */
  readonly labels: number;
  /** Left and right edge of the time column. */
  readonly from: number;
  readonly to: number;
  readonly hasOverdue: boolean;
  readonly hasHeld: boolean;
  /** Lanes are higher if there are few, so that the timeline fills its frame. */
  readonly laneHeight: number;
}

export function columnsOf(width: number, height: number, lanes: readonly Lane[]): Columns {
  const labels = Math.round(Math.min(250, Math.max(96, width * 0.21)));
  const hasOverdue = lanes.some(({ overdue }) => overdue.length > 0);
  const hasHeld = lanes.some(({ held }) => held.length > 0);
  const from = labels + (hasOverdue ? GUTTER : 0);
  const to = Math.max(from + 50, width - (hasHeld ? GUTTER : 0));
  const share = Math.floor((height - AXIS_HEIGHT) / Math.max(1, lanes.length));
  const laneHeight = Math.min(LANE_HEIGHT.most, Math.max(LANE_HEIGHT.least, share));
  return { width, labels, from, to, hasOverdue, hasHeld, laneHeight };
}

export interface Placed extends Mark {
  readonly lane: number;
  /** The centre, in pixels without scrolling. `x` is in pixels too. */
  readonly y: number;
}

/** Marks of one lane from left to right, including those outside of the window. */
export function placeLane(lane: Lane, index: number, columns: Columns, window: Window): Placed[] {
  const y = AXIS_HEIGHT + (index + 0.5) * columns.laneHeight;
  const place = (mark: Mark, x: number): Placed => ({ ...mark, x, lane: index, y });
  const inTime = (items: readonly Item[]): Placed[] =>
    marksOf(items, window, columns.to - columns.from).map((mark) => place(mark, columns.from + mark.x));
  const overdue = heapOf(lane.overdue, columns.from - GUTTER / 2);
  const held = heapOf(lane.held, columns.to + GUTTER / 2);
  return [
    ...(overdue ? [place(overdue, overdue.x)] : []),
    ...[...inTime(lane.coming), ...inTime(lane.changes)].sort((one, other) => one.x - other.x),
    ...(held ? [place(held, held.x)] : []),
  ];
}

/** False for a deletion outside of the window. The overdue and held marks are always visible. */
export const isSeen = (mark: Placed, columns: Columns): boolean =>
  !isInTime(mark.items[0]!.state) ||
  (mark.x >= columns.from - mark.radius && mark.x <= columns.to + mark.radius);

/** The mark under a point, or the nearest one a few pixels away. */
export function markAt(marks: readonly Placed[], x: number, y: number): Placed | undefined {
  let best: Placed | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const mark of marks) {
    const distance = Math.hypot(mark.x - x, mark.y - y) - mark.radius;
    if (distance < least) [least, best] = [distance, mark];
  }
  return least <= 5 ? best : undefined;
}

/** The mark that contains an item. */
export const markOf = (marks: readonly Placed[], item: Item): Placed | undefined =>
  marks.find((mark) => mark.items.includes(item));
