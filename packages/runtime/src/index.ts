// A cache index: finds objects by a value other than their key, such as the Pods of a node or the dependents of an owner.
// Most values have one object, so a single id is stored as a number instead of a set.

import type { KeyId } from './interner.ts';

/**
 * Returns the index values of an object, any number of them. Pure. Declared as a method because the compiler compares
 * method parameters bivariantly: a list may then hold sources of different object types.
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

  /** Number of values with at least one object. */
  get size(): number {
    return this.#ids.size;
  }
}
