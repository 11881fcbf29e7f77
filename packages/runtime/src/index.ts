// Finding objects by a value other than their key: the Pods of a node, what an owner owns. Most values have one object,
// so a lone id is kept as a number and not as a set of one.

import type { KeyId } from './interner.ts';

/**
 * The values under which an object is found. Pure; an object may have none or several. Written as a method, whose
 * parameter the compiler compares loosely: sources of different object types stand side by side in one list.
 */
export type IndexFunction<T> = { values(object: T): readonly string[] }['values'];

export class Index<T> {
  readonly values: IndexFunction<T>;
  readonly #ids = new Map<string, KeyId | Set<KeyId>>();

  constructor(values: IndexFunction<T>) {
    this.values = values;
  }

  add(id: KeyId, object: T): void {
    for (const value of this.values(object)) {
      const found = this.#ids.get(value);
      if (found === undefined) this.#ids.set(value, id);
      else if (typeof found !== 'number') found.add(id);
      else if (found !== id) this.#ids.set(value, new Set([found, id]));
    }
  }

  remove(id: KeyId, object: T): void {
    for (const value of this.values(object)) {
      const found = this.#ids.get(value);
      if (found === id) this.#ids.delete(value);
      else if (found instanceof Set && found.delete(id) && found.size === 0) this.#ids.delete(value);
    }
  }

  get(value: string): Iterable<KeyId> {
    const found = this.#ids.get(value);
    if (found === undefined) return [];
    return typeof found === 'number' ? [found] : found;
  }

  /** How many values lead somewhere. */
  get size(): number {
    return this.#ids.size;
  }
}
