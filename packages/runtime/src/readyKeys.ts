// The ready keys of a queue: FIFO within a priority, `normal` before `low`. Keys of an initial list have low priority.
// Every 16th take prefers a low key, so that a busy cluster cannot starve them.

import { Ring } from '@lapse/base/ring';
import type { KeyId } from './interner.ts';

export type Priority = 'normal' | 'low';

/** One in this many takes prefers the low keys. */
const LOW_SHARE = 16;
/** Up to this many stale entries are tolerated before a sweep. */
const STALE_ALLOWANCE = 1024;

/** Entries cannot be removed individually. The caller decides at the take which are still valid (`isReady`). */
export class ReadyKeys {
  readonly #normal = new Ring();
  readonly #low = new Ring();
  readonly #isReady: (id: KeyId, priority: Priority) => boolean;
  #untilLow = LOW_SHARE;

  constructor(isReady: (id: KeyId, priority: Priority) => boolean) {
    this.#isReady = isReady;
  }

  /** Number of entries, including stale ones. */
  get size(): number {
    return this.#normal.size + this.#low.size;
  }

  push(id: KeyId, priority: Priority): void {
    (priority === 'normal' ? this.#normal : this.#low).push(id);
  }

  shift(): KeyId | undefined {
    if (--this.#untilLow <= 0) {
      this.#untilLow = LOW_SHARE;
      return this.#from('low') ?? this.#from('normal');
    }
    return this.#from('normal') ?? this.#from('low');
  }

  /** Removes stale entries once they greatly outnumber the `wanted` (valid) ones. */
  tidy(wanted: number): void {
    if (this.size < 2 * wanted + STALE_ALLOWANCE) return;
    this.#sweep(this.#normal, 'normal');
    this.#sweep(this.#low, 'low');
  }

  #sweep(ring: Ring, priority: Priority): void {
    const kept = new Set<number>();
    for (let left = ring.size; left > 0; left--) {
      const id = ring.shift()!;
      if (kept.has(id) || !this.#isReady(id as KeyId, priority)) continue;
      kept.add(id);
      ring.push(id);
    }
  }

  #from(priority: Priority): KeyId | undefined {
    const ring = priority === 'normal' ? this.#normal : this.#low;
    for (let id = ring.shift(); id !== undefined; id = ring.shift())
      if (this.#isReady(id as KeyId, priority)) return id as KeyId;
    return undefined;
  }
}
