// Time as a test or a simulation moves it: it stands still until told to advance, and then visits every due instant in
// order, so that what happens at 12:00 happens before what happens at 12:01, whatever the size of the step.

import type { Cancel, Clock } from './clock.ts';
import { type Instant, type Millis, millis, plus } from './instant.ts';

interface Wake {
  readonly at: Instant;
  readonly order: number;
  readonly fn: () => void;
}

/** 2026-01-01T00:00:00Z: a Thursday without history. */
export const VIRTUAL_START = 1_767_225_600_000 as Instant;

export class VirtualClock implements Clock {
  #now: Instant;
  readonly #start: Instant;
  #wakes: Wake[] = [];
  #order = 0;

  constructor(start: Instant = VIRTUAL_START) {
    this.#now = start;
    this.#start = start;
  }

  now(): Instant {
    return this.#now;
  }

  elapsed(): Millis {
    return millis(this.#now - this.#start);
  }

  wakeAt(at: Instant, fn: () => void): Cancel {
    const wake: Wake = { at, order: this.#order++, fn };
    this.#wakes.push(wake);
    return () => {
      this.#wakes = this.#wakes.filter((w) => w !== wake);
    };
  }

  /** The earliest wake that somebody waits for. */
  next(): Instant | undefined {
    return this.#earliest()?.at;
  }

  /** Moves to `until`, stopping at each due instant; `settle` lets everything that woke come to rest before time goes on. */
  async advanceTo(until: Instant, settle: () => Promise<void> = async () => {}): Promise<void> {
    await settle();
    for (;;) {
      const wake = this.#earliest();
      if (!wake || wake.at > until) break;
      if (wake.at > this.#now) this.#now = wake.at;
      this.#wakes = this.#wakes.filter((w) => w !== wake);
      wake.fn();
      await settle();
    }
    if (until > this.#now) this.#now = until;
  }

  advance(length: Millis, settle?: () => Promise<void>): Promise<void> {
    return this.advanceTo(plus(this.#now, length), settle);
  }

  #earliest(): Wake | undefined {
    let best: Wake | undefined;
    for (const w of this.#wakes) {
      if (!best || w.at < best.at || (w.at === best.at && w.order < best.order)) best = w;
    }
    return best;
  }
}
