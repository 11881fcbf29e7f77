// The timeline: one line per outcome, ordered by time and then by object, without uids and versions, so that equal runs
// give equal texts. tell.ts decides the content of a line; this file stores and formats it.

import { type Instant, type Millis, millis, minus } from '@lapse/base/instant';

export interface Line {
  readonly at: Instant;
  /** `job/report`. */
  readonly ref: string;
  /** `deleted`. */
  readonly action: string;
  /** `lag=0s`; may be empty. */
  readonly detail: string;
}

export class Timeline {
  readonly #start: Instant;
  #lines: Line[] = [];
  /** The last lines of an object, all at the same instant. */
  readonly #lastOf = new Map<string, Line[]>();
  readonly #retracted = new Set<Line>();

  constructor(start: Instant) {
    this.#start = start;
  }

  /** Adds a line. Ignores a duplicate at the same instant. */
  add(line: Line): void {
    const last = this.#lastOf.get(line.ref);
    const isNew = last === undefined || last[0]!.at !== line.at;
    if (!isNew && textOf(last.at(-1)!) === textOf(line)) return;
    if (isNew) this.#lastOf.set(line.ref, [line]);
    else last.push(line);
    this.#lines.push(line);
  }

  /** Removes the lines of an object at this instant, starting at the first with that action. Returns that first line. */
  retract(ref: string, at: Instant, action: string): Line | undefined {
    const last = this.#lastOf.get(ref);
    const from = last?.[0]?.at === at ? last.findIndex((line) => line.action === action) : -1;
    if (last === undefined || from === -1) return undefined;
    const taken = last.splice(from);
    for (const line of taken) this.#retracted.add(line);
    if (last.length === 0) this.#lastOf.delete(ref);
    return taken[0];
  }

  /** Sorted by time, then by object. Lines of one object at one instant keep their order. */
  lines(): Line[] {
    if (this.#retracted.size > 0) this.#lines = this.#lines.filter((line) => !this.#retracted.has(line));
    this.#retracted.clear();
    return this.#lines
      .map((line, order) => ({ line, order }))
      .sort((a, b) => a.line.at - b.line.at || compare(a.line.ref, b.line.ref) || a.order - b.order)
      .map(({ line }) => line);
  }

  /** The timeline as text in columns. */
  text(): string {
    const lines = this.lines();
    const widest = (column: (line: Line) => string) =>
      Math.max(0, ...lines.map((line) => column(line).length));
    const refs = widest(({ ref }) => ref);
    const actions = widest(({ action }) => action);
    return lines
      .map(({ at, ref, action, detail }) =>
        `${this.stamp(at)}  ${ref.padEnd(refs)}    ${action.padEnd(actions)}    ${detail}`.trimEnd(),
      )
      .join('\n');
  }

  /** `+mm:ss` since the start, without fractions of a second. */
  stamp(at: Instant): string {
    return stampOf(minus(at, this.#start));
  }
}

const textOf = ({ action, detail }: Line): string => `${action} ${detail}`;
const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const two = (n: number): string => String(n).padStart(2, '0');

export function stampOf(since: Millis): string {
  const sign = since < 0 ? '-' : '+';
  const whole = Math.floor(Math.abs(since) / 1000);
  return `${sign}${two(Math.floor(whole / 60))}:${two(whole % 60)}`;
}

/** A duration in the largest units that fit: `0s`, `1.5s`, `10m`, `1h30m`, `30d`. */
export function lengthText(length: Millis): string {
  if (length < 0) return `-${lengthText(millis(-length))}`;
  const units: [string, number][] = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['m', 60_000],
  ];
  let rest: number = length;
  let text = '';
  for (const [unit, size] of units) {
    const count = Math.floor(rest / size);
    rest -= count * size;
    if (count > 0) text += `${count}${unit}`;
  }
  if (rest === 0 && text !== '') return text;
  return `${text}${Number((rest / 1000).toFixed(3))}s`;
}

/** For comparisons: trims lines, separates columns by two spaces and removes empty lines. */
export const normalize = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim().replace(/ {2,}/g, '  '))
    .filter((line) => line !== '')
    .join('\n');
