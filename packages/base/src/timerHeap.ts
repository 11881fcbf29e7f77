// A memory-efficient priority queue for many deadlines: a 4-ary heap in typed arrays. Entries are 32-bit ids chosen by
// the caller, each with at most one deadline. Moving or cancelling an id costs a few swaps, not a search.

import type { Instant } from './instant.ts';

const ARITY = 4;
const ABSENT = -1;

export class TimerHeap {
  #at: Float64Array;
  #ids: Int32Array;
  /** Position of an id in the heap, or ABSENT. Grows with the largest id. */
  #position: Int32Array;
  #size = 0;

  constructor(capacity = 1024) {
    this.#at = new Float64Array(capacity);
    this.#ids = new Int32Array(capacity);
    this.#position = new Int32Array(capacity).fill(ABSENT);
  }

  get size(): number {
    return this.#size;
  }

  /** The earliest deadline. */
  peek(): Instant | undefined {
    return this.#size === 0 ? undefined : (this.#at[0] as Instant);
  }

  /** The deadline of an id. */
  get(id: number): Instant | undefined {
    const position = this.#find(id);
    return position === ABSENT ? undefined : (this.#at[position] as Instant);
  }

  /** Sets the deadline of an id, later or earlier than before. */
  set(id: number, at: Instant): void {
    const position = this.#find(id);
    if (position === ABSENT) this.#push(id, at);
    else {
      const before = this.#at[position]!;
      this.#at[position] = at;
      if (at < before) this.#up(position);
      else this.#down(position);
    }
  }

  /** Sets the deadline unless the id already has an earlier one. True if it was set. */
  setEarlier(id: number, at: Instant): boolean {
    const position = this.#find(id);
    if (position !== ABSENT && this.#at[position]! <= at) return false;
    this.set(id, at);
    return true;
  }

  /** Removes an id. False if it had no deadline. */
  delete(id: number): boolean {
    const position = this.#find(id);
    if (position === ABSENT) return false;
    this.#removeAt(position);
    return true;
  }

  /**
   * Removes and returns the id with the earliest deadline if it is due at `now`. The order of equal deadlines is
   * unspecified.
   */
  popDue(now: Instant): number | undefined {
    if (this.#size === 0 || this.#at[0]! > now) return undefined;
    const id = this.#ids[0]!;
    this.#removeAt(0);
    return id;
  }

  /** Bytes held by the arrays. */
  get bytes(): number {
    return this.#at.byteLength + this.#ids.byteLength + this.#position.byteLength;
  }

  #find(id: number): number {
    return id < this.#position.length ? this.#position[id]! : ABSENT;
  }

  #push(id: number, at: Instant): void {
    if (this.#size === this.#at.length) this.#growHeap();
    if (id >= this.#position.length) this.#growPositions(id);
    this.#place(this.#size, id, at);
    this.#up(this.#size++);
  }

  #removeAt(position: number): void {
    this.#position[this.#ids[position]!] = ABSENT;
    const last = --this.#size;
    if (position === last) return;
    this.#place(position, this.#ids[last]!, this.#at[last]!);
    this.#up(position);
    this.#down(position);
  }

  #place(position: number, id: number, at: number): void {
    this.#at[position] = at;
    this.#ids[position] = id;
    this.#position[id] = position;
  }

  #up(start: number): void {
    const at = this.#at[start]!;
    const id = this.#ids[start]!;
    let position = start;
    while (position > 0) {
      const parent = (position - 1) >> 2;
      if (this.#at[parent]! <= at) break;
      this.#place(position, this.#ids[parent]!, this.#at[parent]!);
      position = parent;
    }
    if (position !== start) this.#place(position, id, at);
  }

  #down(start: number): void {
    const at = this.#at[start]!;
    const id = this.#ids[start]!;
    let position = start;
    for (;;) {
      const first = position * ARITY + 1;
      if (first >= this.#size) break;
      const end = Math.min(first + ARITY, this.#size);
      let least = first;
      for (let child = first + 1; child < end; child++)
        if (this.#at[child]! < this.#at[least]!) least = child;
      if (this.#at[least]! >= at) break;
      this.#place(position, this.#ids[least]!, this.#at[least]!);
      position = least;
    }
    if (position !== start) this.#place(position, id, at);
  }

  #growHeap(): void {
    const size = grown(this.#at.length);
    this.#at = copied(this.#at, new Float64Array(size));
    this.#ids = copied(this.#ids, new Int32Array(size));
  }

  #growPositions(id: number): void {
    const size = Math.max(id + 1, grown(this.#position.length));
    this.#position = copied(this.#position, new Int32Array(size).fill(ABSENT));
  }
}

// Grows by half instead of doubling: with ten million entries, the unused half would cost more than the entries.
const grown = (length: number) => Math.ceil(length * 1.5) + 16;

function copied<T extends Float64Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
