// All caches of the process, reference-counted. Equal sources share one watch and one store, which stops when the last
// handle is released. Sources can be added and removed at run time.

import type { Clock } from '@lapse/base/clock';
import type { Random } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Client } from '@lapse/kube/client/client';
import { Cache, type CacheListener, type CacheReader } from './cache.ts';
import type { Interner } from './interner.ts';
import type { Liveness } from './liveness.ts';
import { Reflector } from './reflector.ts';
import type { Problem, ReflectorStatus } from './reflectorTypes.ts';
import { describeSource, type Projection, type Source, whole } from './source.ts';

export interface CachesOptions {
  readonly client: Pick<Client, 'watch' | 'pages'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly interner: Interner;
  /** Unset: dead connections are not detected (in process). */
  readonly liveness?: Liveness;
  readonly listBy?: 'stream' | 'pages';
  /** See ReflectorOptions. */
  readonly bookmarks?: boolean;
  /** Freeze cached objects; for tests. */
  readonly freeze?: boolean;
  /** A source's status changed. */
  readonly onStatus?: (source: string, status: CacheStatus) => void;
  /** A projection, index or listener threw. */
  readonly onError?: (source: string, error: unknown) => void;
}

export interface CacheStatus {
  readonly state: ReflectorStatus['state'];
  readonly synced: boolean;
  readonly problem?: Problem;
}

/** A reference-counted handle on a cache. */
export interface CacheHandle<T extends KubeObject> {
  /** The name of the source, as returned by `statuses`. */
  readonly source: string;
  readonly reader: CacheReader<T>;
  readonly status: CacheStatus;
  /** Whether the cache has not seen this version yet. */
  isBehind(version: string): boolean;
  /** Calls the listener with all cached objects (as initial changes), then with every change. */
  listen(listener: CacheListener<T>): void;
  /** Calls the listener with all cached objects, as initial changes. */
  replay(listener: CacheListener<T>): void;
  /** Called after each change of `status`, until released. */
  onStatus(listener: (status: CacheStatus) => void): void;
  /** Releases the handle. Idempotent. Releasing the last handle stops the watch. */
  release(): void;
}

interface Entry<T extends KubeObject> {
  readonly name: string;
  readonly projection: Projection<T>;
  readonly cache: Cache<T>;
  readonly reflector: Reflector<T>;
  readonly statusListeners: Set<(status: CacheStatus) => void>;
  shares: number;
}

export class Caches {
  readonly #options: CachesOptions;
  // Entries of different object types; each handle knows its own type.
  readonly #entries = new Set<Entry<KubeObject>>();
  readonly #stopping = new Set<Promise<void>>();

  constructor(options: CachesOptions) {
    this.#options = options;
  }

  acquire<T extends KubeObject>(source: Source<T>): CacheHandle<T> {
    const entry = this.#find(source) ?? this.#open(source);
    entry.shares++;
    for (const [name, values] of Object.entries(source.indexes ?? {}))
      entry.cache.store.addIndex(name, values);
    return this.#handle(entry);
  }

  /** Every source that has a handle. */
  *statuses(): Generator<{ source: string; size: number; status: CacheStatus }> {
    for (const entry of this.#entries)
      yield { source: entry.name, size: entry.cache.size, status: statusOf(entry) };
  }

  /** Number of caches that are processing items (see Reflector.busy) or stopping. */
  get busy(): number {
    let busy = this.#stopping.size;
    for (const { reflector } of this.#entries) if (reflector.busy) busy++;
    return busy;
  }

  /** Ends all watches. */
  async close(): Promise<void> {
    for (const entry of [...this.#entries]) this.#close(entry);
    await Promise.all(this.#stopping);
  }

  #find<T extends KubeObject>(source: Source<T>): Entry<T> | undefined {
    const name = describeSource(source);
    const projection = source.projection ?? whole;
    for (const entry of this.#entries)
      if (entry.name === name && entry.projection === projection) return entry as unknown as Entry<T>;
    return undefined;
  }

  #open<T extends KubeObject>(source: Source<T>): Entry<T> {
    const { onError, interner, freeze = false, ...shared } = this.#options;
    const name = describeSource(source);
    const cache = new Cache<T>(source, { interner, freeze, onError: (error) => onError?.(name, error) });
    const reflector = new Reflector<T>({
      ...shared,
      source,
      sink: cache,
      onStatus: () => this.#notifyStatus(entry),
    });
    const projection = source.projection ?? (whole as unknown as Projection<T>);
    const entry: Entry<T> = { name, projection, cache, reflector, statusListeners: new Set(), shares: 0 };
    this.#entries.add(entry as unknown as Entry<KubeObject>);
    reflector.start();
    return entry;
  }

  #notifyStatus<T extends KubeObject>(entry: Entry<T>): void {
    const status = statusOf(entry);
    this.#options.onStatus?.(entry.name, status);
    for (const listener of [...entry.statusListeners]) listener(status);
  }

  #handle<T extends KubeObject>(entry: Entry<T>): CacheHandle<T> {
    const unsubscribe: (() => void)[] = [];
    let released = false;
    return {
      source: entry.name,
      reader: entry.cache,
      get status() {
        return statusOf(entry);
      },
      isBehind: (version) => entry.cache.isBehind(version),
      listen: (listener) => {
        unsubscribe.push(entry.cache.listen(listener));
      },
      replay: (listener) => entry.cache.replay(listener),
      onStatus: (listener) => {
        entry.statusListeners.add(listener);
        unsubscribe.push(() => entry.statusListeners.delete(listener));
      },
      release: () => {
        if (released) return;
        released = true;
        for (const fn of unsubscribe) fn();
        if (--entry.shares === 0) this.#close(entry as unknown as Entry<KubeObject>);
      },
    };
  }

  #close(entry: Entry<KubeObject>): void {
    if (!this.#entries.delete(entry)) return;
    const stopped = entry.reflector.stop().then(() => {
      entry.cache.close();
      this.#stopping.delete(stopped);
    });
    this.#stopping.add(stopped);
  }
}

function statusOf<T extends KubeObject>({ cache, reflector }: Entry<T>): CacheStatus {
  return { ...reflector.status, synced: cache.synced };
}
