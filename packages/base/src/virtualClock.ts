// A Clock for tests and simulations. Time stands still until the caller advances it. An advance stops at every due
// instant in order, so a timer at 12:00 fires before a timer at 12:01, whatever the size of the step.

import type { Cancel, Clock } from './clock.ts';
import { type Instant, type Millis, millis, plus } from './instant.ts';

interface Wake {
  readonly at: Instant;
  readonly order: number;
  /** Undefined after the timer was cancelled or fired. */
  fn: (() => void) | undefined;
}

/** 2026-01-01T00:00:00Z, a Thursday. */
export const VIRTUAL_START = 1_767_225_600_000 as Instant;

export class VirtualClock implements Clock {
  #now: Instant;
  readonly #start: Instant;
  readonly #wakes = new WakeHeap();
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
    return () => this.#wakes.cancel(wake);
  }

  /** The earliest instant of all pending timers. */
  next(): Instant | undefined {
    return this.#wakes.peek()?.at;
  }

  /**
   * Advances to `until`, stopping at each due instant. `settle` waits for all triggered work before time advances
   * further.
   */
  async advanceTo(until: Instant, settle: () => Promise<void> = async () => {}): Promise<void> {
    await settle();
    for (;;) {
      const wake = this.#wakes.peek();
      if (!wake || wake.at > until) break;
      const fn = this.#wakes.pop();
      if (wake.at > this.#now) this.#now = wake.at;
      fn();
      await settle();
    }
    if (until > this.#now) this.#now = until;
  }

  advance(length: Millis, settle?: () => Promise<void>): Promise<void> {
    return this.advanceTo(plus(this.#now, length), settle);
  }
}

// Most timers are request timeouts that are cancelled soon. The heap is rebuilt when half of it is cancelled.
const MIN_SWEEP = 64;

/** Timers by instant, then by order of registration. Cancelled timers are dropped when they reach the top. */
class WakeHeap {
  #items: Wake[] = [];
  #cancelled = 0;

  push(wake: Wake): void {
    this.#items.push(wake);
    this.#up(this.#items.length - 1);
  }

  cancel(wake: Wake): void {
    if (wake.fn === undefined) return;
    wake.fn = undefined;
    this.#cancelled++;
    if (this.#cancelled < MIN_SWEEP || this.#cancelled * 2 < this.#items.length) return;
    this.#items = this.#items.filter(({ fn }) => fn !== undefined).sort((a, b) => (isBefore(a, b) ? -1 : 1));
    this.#cancelled = 0;
  }

  peek(): Wake | undefined {
    for (;;) {
      const first = this.#items[0];
      if (first === undefined || first.fn !== undefined) return first;
      this.#cancelled--;
      this.#removeFirst();
    }
  }

  /** Removes the timer that `peek` has just returned. Cancelling it later has no effect. */
  pop(): () => void {
    const wake = this.#items[0]!;
    const fn = wake.fn!;
    this.#removeFirst();
    wake.fn = undefined;
    return fn;
  }

  #removeFirst(): void {
    const last = this.#items.pop()!;
    if (this.#items.length === 0) return;
    this.#items[0] = last;
    this.#down(0);
  }

  #up(i: number): void {
    const items = this.#items;
    while (i > 0) {
      const parent = (i - 1) >> 1;
      if (!isBefore(items[i]!, items[parent]!)) return;
      [items[i], items[parent]] = [items[parent]!, items[i]!];
      i = parent;
    }
  }

  #down(i: number): void {
    const items = this.#items;
    for (;;) {
      let least = 2 * i + 1;
      if (least >= items.length) return;
      if (least + 1 < items.length && isBefore(items[least + 1]!, items[least]!)) least++;
      if (!isBefore(items[least]!, items[i]!)) return;
      [items[i], items[least]] = [items[least]!, items[i]!];
      i = least;
    }
  }
}

const isBefore = (a: Wake, b: Wake): boolean => a.at < b.at || (a.at === b.at && a.order < b.order);
