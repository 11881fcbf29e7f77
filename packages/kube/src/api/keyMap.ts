// A map by namespace and name. It shares the strings of its keys with the objects they come from, to save memory.

import type { ObjectKey } from './kind.ts';

export class KeyMap<V> {
  readonly #namespaces = new Map<string, Map<string, V>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  get({ namespace = '', name }: ObjectKey): V | undefined {
    return this.#namespaces.get(namespace)?.get(name);
  }

  set({ namespace = '', name }: ObjectKey, value: V): void {
    let names = this.#namespaces.get(namespace);
    if (names === undefined) {
      names = new Map();
      this.#namespaces.set(namespace, names);
    }
    if (!names.has(name)) this.#size++;
    names.set(name, value);
  }

  /** Returns false if the key is not in the map. */
  delete({ namespace = '', name }: ObjectKey): boolean {
    const names = this.#namespaces.get(namespace);
    if (names?.delete(name) !== true) return false;
    this.#size--;
    if (names.size === 0) this.#namespaces.delete(namespace);
    return true;
  }

  // Not a generator: a scrape visits up to a million entries.
  forEach(visit: (value: V, namespace: string, name: string) => void): void {
    for (const [namespace, names] of this.#namespaces)
      for (const [name, value] of names) visit(value, namespace, name);
  }
}
