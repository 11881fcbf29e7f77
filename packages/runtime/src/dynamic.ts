// Sources that are watched at run time for the keys that need them. Each key declares its sources (level-triggered).
// Equal sources share one cache handle, which is released when the last key drops it.

import type { KubeObject } from '@lapse/kube/api/object';
import type { CacheChange } from './cache.ts';
import type { CacheHandle, Caches } from './caches.ts';
import type { Interner, KeyId } from './interner.ts';
import type { DynamicView } from './reconcileContext.ts';
import { describeSource, type Projection, type Source } from './source.ts';

interface Entry {
  readonly source: Source;
  readonly handle: CacheHandle<KubeObject>;
  readonly users: Set<KeyId>;
}

export interface DynamicWatchesOptions {
  readonly caches: Caches;
  readonly interner: Interner;
  readonly onChange: (change: CacheChange<KubeObject>, source: Source) => void;
  /** Called when the status of the source changed: it is synced or has a problem. */
  readonly onStatus: (user: KeyId) => void;
}

export class DynamicWatches {
  readonly #options: DynamicWatchesOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #needs = new Map<KeyId, readonly Entry[]>();
  /** A number for each projection. Weak: unreferenced projections can be collected. */
  readonly #projections = new WeakMap<Projection<KubeObject>, number>();
  #numbered = 0;

  constructor(options: DynamicWatchesOptions) {
    this.#options = options;
  }

  /** Number of watched sources. */
  get size(): number {
    return this.#entries.size;
  }

  declare(user: KeyId, sources: readonly Source[]): readonly DynamicView[] {
    const before = this.#needs.get(user) ?? [];
    const needed = sources.map((source) => this.#entry(source));
    for (const entry of needed) entry.users.add(user);
    this.#keep(user, needed);
    for (const entry of before) if (!needed.includes(entry)) this.#leave(entry, user);
    return needed.map(({ source, handle }) => ({ source, reader: handle.reader, status: handle.status }));
  }

  /** The object of the key was removed, or needs no sources. */
  drop(user: KeyId): void {
    if (this.#needs.has(user)) this.declare(user, []);
  }

  /** Releases all sources. */
  clear(): void {
    for (const { handle } of this.#entries.values()) handle.release();
    for (const user of this.#needs.keys()) this.#options.interner.release(user);
    this.#entries.clear();
    this.#needs.clear();
  }

  #keep(user: KeyId, needed: readonly Entry[]): void {
    const { interner } = this.#options;
    const known = this.#needs.has(user);
    if (needed.length > 0) {
      this.#needs.set(user, needed);
      if (!known) interner.hold(user);
    } else if (this.#needs.delete(user)) interner.release(user);
  }

  #entry(source: Source): Entry {
    const id = this.#idOf(source);
    const known = this.#entries.get(id);
    if (known !== undefined) return known;
    const handle = this.#options.caches.acquire(source);
    const entry: Entry = { source, handle, users: new Set() };
    this.#entries.set(id, entry);
    handle.listen((change) => this.#options.onChange(change, source));
    handle.onStatus(() => {
      for (const user of [...entry.users]) this.#options.onStatus(user);
    });
    return entry;
  }

  #leave(entry: Entry, user: KeyId): void {
    entry.users.delete(user);
    if (entry.users.size > 0) return;
    this.#entries.delete(this.#idOf(entry.source));
    entry.handle.release();
  }

  #idOf(source: Source): string {
    const { projection } = source;
    if (projection === undefined) return describeSource(source);
    let number = this.#projections.get(projection);
    if (number === undefined) {
      number = this.#numbered++;
      this.#projections.set(projection, number);
    }
    return `${describeSource(source)} as ${number}`;
  }
}
