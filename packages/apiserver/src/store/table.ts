// The committed objects of one resource, in key order: a sorted array of keys next to a map. With 100,000 objects an
// insert moves a few hundred kilobytes, which is cheaper than a balanced tree in JavaScript.

import type { Stored } from './stored.ts';

export class Table {
  readonly #byKey = new Map<string, Stored>();
  readonly #keys: string[] = [];
  /** Watches from before this revision are too old: the resource did not exist or its history was discarded. */
  floor: number;

  constructor(floor: number) {
    this.floor = floor;
  }

  get size(): number {
    return this.#keys.length;
  }

  get(key: string): Stored | undefined {
    return this.#byKey.get(key);
  }

  set(stored: Stored): void {
    if (!this.#byKey.has(stored.key)) this.#insertKey(stored.key);
    this.#byKey.set(stored.key, stored);
  }

  delete(key: string): void {
    if (!this.#byKey.delete(key)) return;
    this.#keys.splice(this.lowerBound(key), 1);
  }

  /** Index of the first key that is not less than `key`. */
  lowerBound(key: string): number {
    let low = 0;
    let high = this.#keys.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#keys[middle]! < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  keyAt(index: number): string | undefined {
    return this.#keys[index];
  }

  #insertKey(key: string): void {
    const last = this.#keys.at(-1);
    if (last === undefined || last < key) this.#keys.push(key);
    else this.#keys.splice(this.lowerBound(key), 0, key);
  }
}
