// The visible time window: its limits, and zooming around a point. Pure.

import type { Item, Window } from './model.ts';

/** At least ten seconds are visible, because Kubernetes timestamps have a resolution of one second. */
const CLOSEST = 10_000;
const MARGIN = 0.02;

/** The whole plan with a margin on both sides. */
export function wholeOf(made: number, until: number): Window {
  const length = Math.max(until - made, CLOSEST);
  return { from: made - length * MARGIN, to: made + length * (1 + MARGIN) };
}

/** Limits the window to the whole plan and to the minimum length. */
export function within(window: Window, whole: Window): Window {
  const length = Math.min(Math.max(window.to - window.from, CLOSEST), whole.to - whole.from);
  const middle = (window.from + window.to) / 2;
  const from = Math.min(Math.max(middle - length / 2, whole.from), whole.to - length);
  return { from, to: from + length };
}

/** `factor` 0.5 shows half as much time. The time at `share` (0 left, 1 right) keeps its position. */
export function zoomed(window: Window, factor: number, share: number, whole: Window): Window {
  const length = window.to - window.from;
  const next = Math.min(Math.max(length * factor, CLOSEST), whole.to - whole.from);
  const from = window.from + length * share - next * share;
  return within({ from, to: from + next }, whole);
}

/** Moves by a share of its length, to the right if positive. */
export function panned(window: Window, share: number, whole: Window): Window {
  const by = (window.to - window.from) * share;
  return within({ from: window.from + by, to: window.to + by }, whole);
}

/** Shows all these items with a margin. */
export function around(items: readonly Item[], whole: Window): Window {
  const times = items.flatMap(({ at }) => (at === null ? [] : [at]));
  const first = times.reduce((least, at) => Math.min(least, at), Number.POSITIVE_INFINITY);
  const last = times.reduce((most, at) => Math.max(most, at), Number.NEGATIVE_INFINITY);
  if (first > last) return whole;
  const air = Math.max((last - first) * 0.15, CLOSEST / 2);
  return within({ from: first - air, to: last + air }, whole);
}

/** The same window, moved as little as possible to show the time. */
export function showing(window: Window, at: number, whole: Window): Window {
  if (at >= window.from && at <= window.to) return window;
  const length = window.to - window.from;
  return within({ from: at - length / 2, to: at + length / 2 }, whole);
}

export const isWhole = (window: Window, whole: Window): boolean =>
  window.to - window.from >= (whole.to - whole.from) * 0.999;
