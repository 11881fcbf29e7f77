// The timeline as it happens: one line per outcome, in the words of the simulator. On a terminal a burst is shortened, and
// said to be; a file or another program gets every line.

import type { Clock } from '@lapse/base/clock';
import { type Instant, seconds, toDate } from '@lapse/base/instant';
import { wakeAfter } from '@lapse/base/monotonic';
import { type Line, Timeline } from '@lapse/simulation/timeline';
import { cut } from './panel.ts';

export interface LiveOptions {
  /** The time of what is told. */
  readonly clock: Clock;
  /** The time of whoever reads; `clock` unless it runs faster than life. */
  readonly reader?: Clock;
  /** Width of the terminal; longer lines are cut, and bursts. Unset: nobody has to keep up with it, and all is written. */
  readonly columns?: () => number;
  readonly write: (text: string) => void;
  /** Colours a word by what it means; plain text unless told. */
  readonly paint?: (action: string, text: string) => string;
}

/** Lines per second that somebody can still follow. */
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
  /** The longest of each column so far, within reason. */
  readonly #widths = { ref: 24, action: 12 };

  constructor(options: LiveOptions) {
    super(options.clock.now());
    this.#options = options;
  }

  /**
   * Without the states: what others do to conditions is theirs; that something finishes or ends is told whoever did it.
   * Without the waiting: it is over before anybody has read of it.
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

  /** What was shown cannot be taken back. */
  override retract(): undefined {
    return undefined;
  }

  /** The time of the day; with the date when it is another day. Where days fly by, with the day of the week. */
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

  /** What was kept back, in a line. */
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
    const told = left <= 0 ? '' : cut(detail, left);
    return `${stamp}  ${named.padEnd(widths.ref)}  ${paint(action, what)}  ${told}`.trimEnd().concat('\n');
  }
}
