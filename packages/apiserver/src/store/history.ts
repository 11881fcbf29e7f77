// Recent committed changes, oldest first. Kept for a limited time so that watches can resume and later pages of a
// list can read the revision of the first page.

import { type Instant, type Millis, minutes } from '@lapse/base/instant';
import type { Stored } from './stored.ts';

export interface Change {
  readonly revision: number;
  readonly resource: string;
  readonly key: string;
  readonly at: Instant;
  /** The previous version; absent for a creation. */
  readonly prev: Stored | undefined;
  /** The new version; absent for a deletion. */
  readonly next: Stored | undefined;
}

export interface HistoryLimits {
  revisions: number;
  age: Millis;
  /** Limit in bytes: a large object that changes often must not fill the memory. */
  bytes?: number;
}

export const DEFAULT_HISTORY: HistoryLimits = { revisions: 100_000, age: minutes(10), bytes: 512 << 20 };

export class History {
  #changes: Change[] = [];
  #start = 0;
  #bytes = 0;
  /** All changes after this revision are kept; older ones are discarded. */
  floor: number;
  readonly #limits: HistoryLimits;

  constructor(floor: number, limits: HistoryLimits = DEFAULT_HISTORY) {
    this.floor = floor;
    this.#limits = limits;
  }

  push(change: Change): void {
    this.#changes.push(change);
    this.#bytes += sizeOf(change);
    this.#trim(change.at);
  }

  /** Changes with a revision greater than `revision`, oldest first. */
  *after(revision: number): Iterable<Change> {
    for (let i = this.#indexAfter(revision); i < this.#changes.length; i++) yield this.#changes[i]!;
  }

  /** Discards everything up to and including `revision`, like a compaction. */
  compact(revision: number): void {
    const end = this.#indexAfter(revision);
    while (this.#start < end) this.#drop();
    this.floor = Math.max(this.floor, revision);
    this.#squeeze();
  }

  #drop(): void {
    const change = this.#changes[this.#start++]!;
    this.#bytes -= sizeOf(change);
    this.floor = change.revision;
  }

  #indexAfter(revision: number): number {
    let low = this.#start;
    let high = this.#changes.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#changes[middle]!.revision <= revision) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #trim(now: Instant): void {
    const { revisions, age, bytes = Infinity } = this.#limits;
    const oldest = now - age;
    while (
      this.#start < this.#changes.length &&
      (this.#changes.length - this.#start > revisions ||
        this.#bytes > bytes ||
        this.#changes[this.#start]!.at < oldest)
    )
      this.#drop();
    this.#squeeze();
  }

  #squeeze(): void {
    if (this.#start < 1024 || this.#start * 2 < this.#changes.length) return;
    this.#changes = this.#changes.slice(this.#start);
    this.#start = 0;
  }
}

const sizeOf = ({ next }: Change): number => next?.size ?? 0;
