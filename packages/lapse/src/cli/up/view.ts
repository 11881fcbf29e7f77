// The output of `lapse up`: lines into a pipe; on a terminal the same lines, with the live view below them.

import { type Clock, realClock } from '@lapse/base/clock';
import { millis } from '@lapse/base/instant';
import { sleep } from '@lapse/base/sleep';
import { styles } from '../colour.ts';
import { LiveTimeline } from './liveTimeline.ts';
import type { LocalCluster } from './localCluster.ts';
import { panelLines } from './panel.ts';
import { PinnedLines } from './pinnedLines.ts';
import { paint } from './screen.ts';

/** The used part of process.stdout. */
export interface Output {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
  write(text: string): unknown;
}

export interface ViewOptions {
  readonly output: Output;
  /** The clock of the events. */
  readonly clock: Clock;
  readonly speed: number;
  /** The clock of the reader. */
  readonly reader?: Clock;
  /** Default: colours on a terminal. */
  readonly colour?: boolean;
}

type Overseen = Pick<LocalCluster, 'overview'>;

const REFRESH = millis(250);

export class View {
  readonly timeline: LiveTimeline;
  readonly isColourful: boolean;
  readonly #isLive: boolean;
  readonly #options: ViewOptions;
  readonly #pinned: PinnedLines;
  readonly #over = new AbortController();

  constructor(options: ViewOptions) {
    const { output, clock, speed, reader = realClock } = options;
    this.#options = options;
    this.#isLive = output.isTTY === true;
    this.isColourful = this.#isLive && options.colour !== false;
    this.#pinned = new PinnedLines(
      (text) => void output.write(text),
      () => output.columns ?? 80,
    );
    this.timeline = new LiveTimeline({
      clock,
      ...(speed === 1 ? {} : { reader }),
      ...(this.#isLive ? { columns: () => output.columns ?? 80 } : {}),
      write: (text) => this.say(text),
      paint: paint(this.isColourful),
    });
  }

  /** Whole lines. */
  say(text: string): void {
    this.#pinned.scroll(text);
  }

  /** Updates the live view until the end. Does nothing without a terminal. */
  follow(everything: Overseen): void {
    if (!this.#isLive) return;
    const { signal } = this.#over;
    const { reader = realClock } = this.#options;
    void (async () => {
      while (!signal.aborted) {
        await this.#draw(everything);
        await sleep(reader, REFRESH, signal);
      }
    })();
  }

  /** Removes the view and keeps the printed lines. */
  end(): void {
    this.#over.abort();
    this.#pinned.pin([]);
    this.timeline.flush();
  }

  async #draw(everything: Overseen): Promise<void> {
    const { output, speed } = this.#options;
    // During shutdown the overview may fail.
    const overview = await everything.overview().catch(() => undefined);
    if (overview === undefined || this.#over.signal.aborted) return;
    const { columns = 80, rows = 24 } = output;
    const stamp = this.timeline.stamp.bind(this.timeline);
    const [rule = '', head = '', ...rest] = panelLines(overview, {
      columns,
      rows,
      speed,
      stamp,
    });
    const { dim, bold } = styles(this.isColourful);
    this.#pinned.pin([dim(rule), bold(head), ...rest]);
  }
}
