// Keys that may be taken now: first come, first served within a priority, `normal` before `low`. Low keys are those of
// an initial list; every so often one of them goes first, so that a busy cluster cannot keep them out for ever.

import { Ring } from '@lapse/base/ring';
import type { KeyId } from './interner.ts';

export type Priority = 'normal' | 'low';

/** One take in this many looks at the low keys first. */
const LOW_SHARE = 16;
/** So many unwanted entries are not worth a sweep. */
const UNTIDY = 1024;

/** Entries are not removed from the middle: the caller says which are still wanted (`isStill`). */
export class ReadyKeys {
  readonly #normal = new Ring();
  readonly #low = new Ring();
  readonly #isStill: (id: KeyId, priority: Priority) => boolean;
  #untilLow = LOW_SHARE;

  constructor(isStill: (id: KeyId, priority: Priority) => boolean) {
    this.#isStill = isStill;
  }

  /** Entries, wanted or not. */
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

  /** Forgets entries that are not wanted, once they are many more than the `wanted` ones. */
  tidy(wanted: number): void {
    if (this.size < 2 * wanted + UNTIDY) return;
    this.#sweep(this.#normal, 'normal');
    this.#sweep(this.#low, 'low');
  }

  #sweep(ring: Ring, priority: Priority): void {
    const kept = new Set<number>();
    for (let left = ring.size; left > 0; left--) {
      const id = ring.shift()!;
      if (kept.has(id) || !this.#isStill(id as KeyId, priority)) continue;
      kept.add(id);
      ring.push(id);
    }
  }

  #from(priority: Priority): KeyId | undefined {
    const ring = priority === 'normal' ? this.#normal : this.#low;
    for (let id = ring.shift(); id !== undefined; id = ring.shift())
      if (this.#isStill(id as KeyId, priority)) return id as KeyId;
    return undefined;
  }
}
