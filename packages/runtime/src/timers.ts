// Every deadline of the process, and one armed wake of the Clock for all of them. Each user has a lane: a heap over the
// shared key ids, with at most one deadline per key. Whatever is due is handed out earliest first.

import type { Cancel, Clock } from '@lapse/base/clock';
import { type Instant, instant } from '@lapse/base/instant';
import { TimerHeap } from '@lapse/base/timerHeap';
import type { KeyId } from './interner.ts';

// A million deadlines at one instant must not keep sockets waiting: after this many, others have a turn.
const BATCH = 4096;
const END_OF_TIME = instant(Number.POSITIVE_INFINITY);

export interface Lane {
  readonly size: number;
  get(id: KeyId): Instant | undefined;
  /** Sets the deadline unless an earlier one stands. */
  setEarlier(id: KeyId, at: Instant): void;
  delete(id: KeyId): boolean;
  /** While paused nothing is handed out; deadlines are kept. */
  pause(): void;
  resume(): void;
  /** Forgets everything and leaves. */
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

  /** Deadlines of all lanes. */
  get pending(): number {
    return this.#rows.reduce((sum, row) => sum + row.heap.size, 0);
  }

  /** Bytes held by the heaps. */
  get bytes(): number {
    return this.#rows.reduce((sum, row) => sum + row.heap.bytes, 0);
  }

  /** `onDue` is called with each key at or after its deadline; the deadline is forgotten before the call. */
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
   * Hands everything out, due or not: after the wall clock was set back, pauses that were meant to be short have become
   * long. Whoever is woken decides anew.
   */
  lookAgain(): void {
    for (const { heap, onDue, paused } of this.#rows) {
      if (paused) continue;
      // All first: those who are woken set new deadlines.
      const ids: KeyId[] = [];
      for (let id = heap.popDue(END_OF_TIME); id !== undefined; id = heap.popDue(END_OF_TIME))
        ids.push(id as KeyId);
      for (const id of ids) onDue(id);
    }
  }

  /** Forgets everything; no wake stays armed to keep a process alive. */
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

  // A deadline that is deleted leaves the wake armed: waking for nothing is cheaper than re-arming for every change.
  #armAt(at: Instant): void {
    this.#disarm?.();
    this.#armedAt = at;
    this.#disarm = this.#clock.wakeAt(at, () => this.#fire());
  }

  #fire(): void {
    this.#armedAt = undefined;
    this.#disarm = undefined;
    const now = this.#clock.now();
    for (let handed = 0; handed < BATCH; handed++) {
      const row = this.#earliest();
      const id = row?.heap.popDue(now);
      if (row === undefined || id === undefined) break;
      row.onDue(id as KeyId);
    }
    this.#arm();
  }

  /** The lane whose earliest deadline is the earliest of all; of equals the first that was made. */
  #earliest(): Row | undefined {
    let best: Row | undefined;
    for (const row of this.#rows) {
      const at = row.paused ? undefined : row.heap.peek();
      if (at !== undefined && (best === undefined || at < best.heap.peek()!)) best = row;
    }
    return best;
  }
}
