// The overview above the timeline: the number of deletions over the whole plan, and the visible part. A click or drag
// moves the window.

import { byId, canvasById, type Pen } from './dom.ts';
import type { Columns } from './layout.ts';
import { histogramOf, type Item, type Window } from './model.ts';
import { FONT, type Ink, line, penOf } from './paint.ts';

export const STRIP_HEIGHT = 48;
const BAR = 6;

export interface Overview {
  readonly items: readonly Item[];
  readonly window: Window;
  readonly whole: Window;
  /** Aligned with the time column of the timeline. */
  readonly columns: Columns;
}

export function paintOverview({ items, window, whole, columns }: Overview, ink: Ink): void {
  const pen = penOf(canvasById('overview'), columns.width, STRIP_HEIGHT);
  const width = columns.to - columns.from;
  const x = (time: number) => columns.from + ((time - whole.from) / (whole.to - whole.from)) * width;
  const [left, right] = [x(window.from), x(window.to)];
  pen.font = `12px ${FONT}`;
  pen.fillStyle = ink.quiet;
  pen.fillText('Whole plan', 16, STRIP_HEIGHT / 2);
  paintBars(
    pen,
    histogramOf(items, whole, Math.max(1, Math.floor(width / BAR))),
    { columns, left, right },
    ink,
  );
  line(pen, columns.from, STRIP_HEIGHT - 2, columns.to, STRIP_HEIGHT - 2, ink.line);
  if (right - left > width - 1) return;
  pen.strokeStyle = ink.accent;
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.roundRect(left + 0.75, 0.75, Math.max(3, right - left - 1.5), STRIP_HEIGHT - 3, 5);
  pen.stroke();
}

interface Frame {
  readonly columns: Columns;
  readonly left: number;
  readonly right: number;
}

/** The square root keeps single deletions visible beside thousands. */
function paintBars(pen: Pen, counts: readonly number[], { columns, left, right }: Frame, ink: Ink): void {
  const most = counts.reduce((a, b) => Math.max(a, b), 1);
  const wide = (columns.to - columns.from) / counts.length;
  pen.fillStyle = ink.accent;
  counts.forEach((count, bar) => {
    if (count === 0) return;
    const reach = Math.max(2, Math.floor(Math.sqrt(count / most) * (STRIP_HEIGHT - 10)));
    const middle = columns.from + (bar + 0.5) * wide;
    pen.globalAlpha = middle >= left && middle <= right ? 0.85 : 0.3;
    pen.beginPath();
    pen.roundRect(middle - 2, STRIP_HEIGHT - reach - 2, 4, reach, 2);
    pen.fill();
  });
  pen.globalAlpha = 1;
}

/** `share`: 0 at the start of the plan, 1 at its end. */
export function followOverview(columns: () => Columns, moveTo: (share: number) => void): void {
  const box = byId('strip');
  let isDown = false;
  const follow = (x: number) => {
    const { from, to } = columns();
    moveTo((x - box.getBoundingClientRect().left - from) / (to - from));
  };
  box.addEventListener('pointerdown', (event) => {
    isDown = true;
    box.setPointerCapture(event.pointerId);
    follow(event.clientX);
  });
  box.addEventListener('pointermove', (event) => isDown && follow(event.clientX));
  box.addEventListener('pointerup', () => {
    isDown = false;
  });
}
