// The live timeline: one line per outcome, in the format of the simulator. On a terminal a burst is shortened, with a
// note. A file or another program gets every line.

import type { Clock } from '@lapse/base/clock';
import { type Instant, seconds, toDate } from '@lapse/base/instant';
import { wakeAfter } from '@lapse/base/monotonic';
import { type Line, Timeline } from '@lapse/simulation/timeline';
import { cut } from './panel.ts';

export interface LiveOptions {
  /** The clock of the events. */
  readonly clock: Clock;
  /** The clock of the reader. Differs from `clock` if time runs faster. Default: `clock`. */
  readonly reader?: Clock;
  /** Width of the terminal. Longer lines and bursts are shortened. Undefined: everything is written. */
  readonly columns?: () => number;
  readonly write: (text: string) => void;
  /** Colours a word by its meaning. Default: plain text. */
  readonly paint?: (action: string, text: string) => string;
}

/** Lines per second that a reader can follow. */
const MOST_PER_SECOND = 40;
const DAY = 86_400_000;
/** `Ready=True`, `phase=Running`. */
const STATE = /^\w+=/;

export class LiveTimeline extends Timeline {
  readonly #options: LiveOptions;
  #shown = 0;
  #hidden = 0;
  #armed = false;
  #left: 'states' | 'waiting' | undefined;
  /** The widest content per column so far, with a limit. */
  readonly #widths = { ref: 24, action: 12 };

  constructor(options: LiveOptions) {
    super(options.clock.now());
    this.#options = options;
  }

  /**
   * `states`: hides condition changes of other writers, but not finished or deleted objects. `waiting`: hides waits
   * that end before they could be read.
   */
  without(what: 'states' | 'waiting', tell: () => void): void {
    this.#left = what;
    tell();
    this.#left = undefined;
  }

  override add(line: Line): void {
    if (this.#left === 'states' && STATE.test(line.action)) return;
    if (this.#left === 'waiting' && line.action === 'waiting') return;
    this.#arm();
    if (this.#options.columns !== undefined && this.#shown >= MOST_PER_SECOND) {
      this.#hidden++;
      return;
    }
    this.#shown++;
    this.#options.write(this.#text(line));
  }

  /** Printed lines cannot be removed. */
  override retract(): undefined {
    return undefined;
  }

  /** The time of day, with the date on another day. At high speed, with the day of the week. */
  override stamp(at: Instant): string {
    const { clock, reader = clock } = this.#options;
    const date = toDate(at);
    const time = date.toTimeString().slice(0, 8);
    const away = Math.abs(at - clock.now());
    if (reader !== clock && away < 6 * DAY) return `${date.toDateString().slice(0, 3)} ${time}`;
    if (away < DAY / 2) return time;
    const two = (n: number) => String(n).padStart(2, '0');
    return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ${time}`;
  }

  /** Prints how many lines were omitted. */
  flush(): void {
    if (this.#hidden > 0) this.#options.write(`          … and ${this.#hidden} more\n`);
    this.#hidden = 0;
    this.#shown = 0;
  }

  #arm(): void {
    if (this.#armed) return;
    this.#armed = true;
    const { clock, reader = clock } = this.#options;
    wakeAfter(reader, seconds(1), () => {
      this.#armed = false;
      this.flush();
    });
  }

  #text({ at, ref, action, detail }: Line): string {
    const { paint = (_, text) => text, columns } = this.#options;
    const widths = this.#widths;
    const width = columns?.() ?? Number.POSITIVE_INFINITY;
    widths.ref = Math.min(width < 100 ? 28 : 48, Math.max(widths.ref, ref.length));
    widths.action = Math.min(width < 100 ? 14 : 24, Math.max(widths.action, action.length));
    const stamp = this.stamp(at);
    const what = action.padEnd(widths.action);
    const named = width === Number.POSITIVE_INFINITY ? ref : cut(ref, widths.ref);
    const left = width - 1 - stamp.length - widths.ref - what.length - 6;
    const shownDetail = left <= 0 ? '' : cut(detail, left);
    return `${stamp}  ${named.padEnd(widths.ref)}  ${paint(action, what)}  ${shownDetail}`
      .trimEnd()
      .concat('\n');
  }
}
