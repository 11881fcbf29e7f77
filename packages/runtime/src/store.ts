// The objects of one source by key, with their indexes. Independent of lists and watches. Each write returns the change.

import type { ObjectKey } from '@lapse/kube/api/kind';
import { keyOf } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { deepFreeze } from './freeze.ts';
import { Index, type IndexFunction } from './index.ts';
import { type Interner, type KeyId, keyText } from './interner.ts';

/** At least one of `before` and `after` is set. */
export interface Change<T> {
  readonly id: KeyId;
  readonly before: T | undefined;
  readonly after: T | undefined;
}

export class Store<T extends KubeObject> {
  readonly #interner: Interner;
  readonly #freeze: boolean;
  readonly #objects = new Map<KeyId, T>();
  readonly #indexes = new Map<string, Index<T>>();

  constructor(options: { interner: Interner; freeze?: boolean }) {
    this.#interner = options.interner;
    this.#freeze = options.freeze ?? false;
  }

  get size(): number {
    return this.#objects.size;
  }

  get(key: ObjectKey): T | undefined {
    const id = this.#interner.find(keyText(key));
    return id === undefined ? undefined : this.#objects.get(id);
  }

  getById(id: KeyId): T | undefined {
    return this.#objects.get(id);
  }

  values(): Iterable<T> {
    return this.#objects.values();
  }

  entries(): Iterable<[KeyId, T]> {
    return this.#objects.entries();
  }

  /** Adds an index over current and future objects. Adding the same name again requires the same function. */
  addIndex(name: string, values: IndexFunction<T>): void {
    const known = this.#indexes.get(name);
    if (known !== undefined) {
      if (known.values !== values) throw new Error(`index ${name} is already defined with another function`);
      return;
    }
    const index = new Index(values);
    for (const [id, object] of this.#objects) index.add(id, object);
    this.#indexes.set(name, index);
  }

  /** The objects with this value in the index. */
  byIndex(name: string, value: string): T[] {
    const index = this.#indexes.get(name);
    if (index === undefined) throw new Error(`index ${name} does not exist`);
    const found: T[] = [];
    for (const id of index.get(value)) found.push(this.#objects.get(id)!);
    return found;
  }

  /** Replaces the object. The previous object is not modified, so existing references stay valid. */
  put(object: T): Change<T> {
    const text = keyText(keyOf(object));
    const known = this.#interner.find(text);
    const before = known === undefined ? undefined : this.#objects.get(known);
    const id = before === undefined ? this.#interner.intern(text) : known!;
    const after = this.#freeze ? deepFreeze(object) : object;
    for (const index of this.#indexes.values()) {
      if (before !== undefined) index.remove(id, before);
      index.add(id, after);
    }
    this.#objects.set(id, after);
    return { id, before, after };
  }

  /** The id is valid until `emit` returns. The store then releases it. */
  remove(id: KeyId, emit: (change: Change<T>) => void): void {
    const before = this.#objects.get(id);
    if (before === undefined) return;
    for (const index of this.#indexes.values()) index.remove(id, before);
    this.#objects.delete(id);
    try {
      emit({ id, before, after: undefined });
    } finally {
      this.#interner.release(id);
    }
  }

  find(key: ObjectKey): KeyId | undefined {
    const id = this.#interner.find(keyText(key));
    return id !== undefined && this.#objects.has(id) ? id : undefined;
  }

  /** Removes all objects without emitting changes. */
  clear(): void {
    for (const id of this.#objects.keys()) this.#interner.release(id);
    this.#objects.clear();
    for (const [name, { values }] of [...this.#indexes]) this.#indexes.set(name, new Index(values));
  }
}
