// One resource at a revision. Reading the current revision costs nothing extra. Reading an older one undoes later
// changes, so a page costs its length plus the number of changes. A view is only valid until the event loop
// continues; a streaming caller collects the (shared) objects first.

import type { Change } from './history.ts';
import type { Stored } from './stored.ts';
import type { Table } from './table.ts';

export class View {
  readonly revision: number;
  readonly #table: Table;
  /** Keys that changed since `revision`, with their values at that revision. */
  readonly #then: ReadonlyMap<string, Stored | undefined>;
  readonly #changedKeys: readonly string[];

  constructor(table: Table, revision: number, since: Iterable<Change>) {
    this.#table = table;
    this.revision = revision;
    const then = new Map<string, Stored | undefined>();
    for (const change of since) if (!then.has(change.key)) then.set(change.key, change.prev);
    this.#then = then;
    this.#changedKeys = [...then.keys()].sort();
  }

  /** Objects whose key starts with `prefix` and is greater than `after`, in key order. */
  *entries(prefix: string, after = ''): Generator<Stored> {
    const start = after > prefix ? after : prefix;
    let index = this.#table.lowerBound(start);
    let changed = lowerBound(this.#changedKeys, start);
    for (;;) {
      const present = this.#table.keyAt(index);
      const past = this.#changedKeys[changed];
      const key = smaller(past, present);
      if (key === undefined || !key.startsWith(prefix)) return;
      if (key === present) index++;
      if (key === past) changed++;
      if (key === after) continue;
      const stored = this.#get(key);
      if (stored) yield stored;
    }
  }

  #get(key: string): Stored | undefined {
    return this.#then.has(key) ? this.#then.get(key) : this.#table.get(key);
  }

  /** The number of objects with keys that start with `prefix` and are greater than `after`. */
  count(prefix: string, after = ''): number {
    const start = after > prefix ? `${after}\0` : prefix;
    const end = `${prefix}\u{10ffff}`;
    let count = this.#table.lowerBound(end) - this.#table.lowerBound(start);
    for (const [key, past] of this.#then) {
      if (key < start || !key.startsWith(prefix)) continue;
      count += (past ? 1 : 0) - (this.#table.get(key) ? 1 : 0);
    }
    return count;
  }
}

/** The smaller key; a missing one is the greatest. */
function smaller(a: string | undefined, b: string | undefined): string | undefined {
  return a !== undefined && (b === undefined || a <= b) ? a : b;
}

function lowerBound(keys: readonly string[], key: string): number {
  let low = 0;
  let high = keys.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (keys[middle]! < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
