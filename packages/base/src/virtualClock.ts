// Time as a test or a simulation moves it: it stands still until told to advance, and then visits every due instant in
// order, so that what happens at 12:00 happens before what happens at 12:01, whatever the size of the step.

import type { Cancel, Clock } from './clock.ts';
import { type Instant, type Millis, millis, plus } from './instant.ts';

interface Wake {
  readonly at: Instant;
  readonly order: number;
  /** Undefined once it was cancelled, or taken. */
  fn: (() => void) | undefined;
}

/** 2026-01-01T00:00:00Z: a Thursday without history. */
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

  /** The earliest wake that somebody waits for. */
  next(): Instant | undefined {
    return this.#wakes.peek()?.at;
  }

  /** Moves to `until`, stopping at each due instant; `settle` lets everything that woke come to rest before time goes on. */
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

// Most wakes are time-outs of requests, cancelled soon after: when half of the heap is cancelled, it is built anew.
const LEAST_SWEPT = 64;

/** Wakes by instant, those of one instant in the order they were asked for. Cancelled ones are dropped on the way. */
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
    if (this.#cancelled < LEAST_SWEPT || this.#cancelled * 2 < this.#items.length) return;
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

  /** Takes the wake that `peek` has just shown. Cancelling it later does nothing. */
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
