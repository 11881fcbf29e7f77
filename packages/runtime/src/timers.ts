// All deadlines of the process, with a single armed timer. Each user has a lane: a heap of key ids with at most one
// deadline per key. Due keys are delivered earliest first, across all lanes.

import type { Cancel, Clock } from '@lapse/base/clock';
import { type Instant, instant } from '@lapse/base/instant';
import { TimerHeap } from '@lapse/base/timerHeap';
import type { KeyId } from './interner.ts';

// Yields to the event loop after this many keys, so that a million equal deadlines do not block sockets.
const BATCH = 4096;
const END_OF_TIME = instant(Number.POSITIVE_INFINITY);

export interface Lane {
  readonly size: number;
  get(id: KeyId): Instant | undefined;
  /** Sets the deadline unless an earlier one is set. */
  setEarlier(id: KeyId, at: Instant): void;
  delete(id: KeyId): boolean;
  /** While paused, deadlines are kept but not delivered. */
  pause(): void;
  resume(): void;
  /** Removes the lane and all its deadlines. */
  close(): void;
}

interface Row {
  readonly heap: TimerHeap;
  readonly onDue: (id: KeyId) => void;
  paused: boolean;
}

export class Timers {
  readonly #clock: Clock;
  #rows: Row[] = [];
  #armedAt: Instant | undefined;
  #disarm: Cancel | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Number of deadlines in all lanes. */
  get pending(): number {
    return this.#rows.reduce((sum, row) => sum + row.heap.size, 0);
  }

  /** Bytes held by the heaps. */
  get bytes(): number {
    return this.#rows.reduce((sum, row) => sum + row.heap.bytes, 0);
  }

  /** Calls `onDue` with each key at or after its deadline. The deadline is removed before the call. */
  lane(onDue: (id: KeyId) => void): Lane {
    const row: Row = { heap: new TimerHeap(), onDue, paused: false };
    const { heap } = row;
    this.#rows.push(row);
    return {
      get size() {
        return heap.size;
      },
      get: (id) => heap.get(id),
      setEarlier: (id, at) => {
        if (heap.setEarlier(id, at)) this.#armFor(row, at);
      },
      delete: (id) => heap.delete(id),
      pause: () => {
        row.paused = true;
      },
      resume: () => {
        row.paused = false;
        this.#arm();
      },
      close: () => {
        this.#rows = this.#rows.filter((other) => other !== row);
      },
    };
  }

  /**
   * Delivers all keys, due or not. Used after the wall clock was set back, because short pauses have become long. The
   * receiver decides again when the key is due.
   */
  deliverAll(): void {
    for (const { heap, onDue, paused } of this.#rows) {
      if (paused) continue;
      // Collects all ids first, because `onDue` sets new deadlines.
      const ids: KeyId[] = [];
      for (let id = heap.popDue(END_OF_TIME); id !== undefined; id = heap.popDue(END_OF_TIME))
        ids.push(id as KeyId);
      for (const id of ids) onDue(id);
    }
  }

  /** Removes all deadlines and disarms the timer, so that it does not keep the process alive. */
  close(): void {
    this.#rows = [];
    this.#disarm?.();
    this.#disarm = undefined;
    this.#armedAt = undefined;
  }

  #armFor(row: Row, at: Instant): void {
    if (!row.paused && (this.#armedAt === undefined || at < this.#armedAt)) this.#armAt(at);
  }

  #arm(): void {
    const at = this.#earliest()?.heap.peek();
    if (at !== undefined && (this.#armedAt === undefined || at < this.#armedAt)) this.#armAt(at);
  }

  // Deleting a deadline leaves the timer armed: an unneeded wake-up is cheaper than re-arming on every change.
  #armAt(at: Instant): void {
    this.#disarm?.();
    this.#armedAt = at;
    this.#disarm = this.#clock.wakeAt(at, () => this.#fire());
  }

  #fire(): void {
    this.#armedAt = undefined;
    this.#disarm = undefined;
    const now = this.#clock.now();
    for (let delivered = 0; delivered < BATCH; delivered++) {
      const row = this.#earliest();
      const id = row?.heap.popDue(now);
      if (row === undefined || id === undefined) break;
      row.onDue(id as KeyId);
    }
    this.#arm();
  }

  /** The lane with the earliest deadline. Ties go to the lane that was created first. */
  #earliest(): Row | undefined {
    let best: Row | undefined;
    for (const row of this.#rows) {
      const at = row.paused ? undefined : row.heap.peek();
      if (at !== undefined && (best === undefined || at < best.heap.peek()!)) best = row;
    }
    return best;
  }
}
