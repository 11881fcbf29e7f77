// The in-memory state of one source: a store that a reflector updates, with listeners. Readers see the newest version
// received from the API server. `isBehind` reports whether the cache is older than a known version.

import { growToIndex } from '@lapse/base/growToIndex';
import { keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { compareVersions } from '@lapse/kube/api/versions';
import type { Interner, KeyId } from './interner.ts';
import type { Sink } from './reflectorTypes.ts';
import { type Projection, type Source, whole } from './source.ts';
import { type Change, Store } from './store.ts';

export interface CacheChange<T> extends Change<T> {
  /** The object is part of the initial list. */
  readonly initial: boolean;
}

/** Called in the turn in which the event was read; must not block. An exception is reported to `onError`. */
export type CacheListener<T> = (change: CacheChange<T>) => void;

export interface CacheReader<T extends KubeObject> {
  get(key: ObjectKey): T | undefined;
  list(): Iterable<T>;
  byIndex(name: string, value: string): T[];
  readonly size: number;
  /** The initial list is complete. */
  readonly synced: boolean;
}

export interface CacheOptions {
  readonly interner: Interner;
  /** Freeze stored objects; for tests. */
  readonly freeze?: boolean;
  /** A projection, index or listener threw. */
  readonly onError?: (error: unknown) => void;
}

const bytes = (length: number) => new Uint8Array(length);

export class Cache<T extends KubeObject> implements CacheReader<T>, Sink<T> {
  readonly #store: Store<T>;
  readonly #projection: Projection<T>;
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<CacheListener<T>>();
  #synced = false;
  #version = '';
  /** By id, during a list: 1 for each object in the list. */
  #listed: Uint8Array | undefined;

  constructor(source: Source<T>, options: CacheOptions) {
    this.#store = new Store<T>(options);
    this.#projection = source.projection ?? (whole as unknown as Projection<T>);
    this.#onError = options.onError ?? (() => {});
    for (const [name, values] of Object.entries(source.indexes ?? {})) this.#store.addIndex(name, values);
  }

  get size(): number {
    return this.#store.size;
  }
  get synced(): boolean {
    return this.#synced;
  }
  /** The newest version received. */
  get version(): string {
    return this.#version;
  }
  get store(): Store<T> {
    return this.#store;
  }

  get(key: ObjectKey): T | undefined {
    return this.#store.get(key);
  }
  list(): Iterable<T> {
    return this.#store.values();
  }
  byIndex(name: string, value: string): T[] {
    return this.#store.byIndex(name, value);
  }

  /** Whether the cache has not seen `version` or a later one yet. Versions that cannot be compared count as seen. */
  isBehind(version: string): boolean {
    return compareVersions(this.#version, version) === -1;
  }

  /** Calls the listener with all cached objects, then with every change. Returns the unsubscribe function. */
  listen(listener: CacheListener<T>): () => void {
    this.replay(listener);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listener with all cached objects, as initial changes. */
  replay(listener: CacheListener<T>): void {
    for (const [id, after] of this.#store.entries())
      this.#notify(listener, { id, before: undefined, after, initial: true });
  }

  listBegins(): void {
    this.#listed = bytes(0);
  }

  listItem(object: T): void {
    const change = this.#put(object);
    // An object that cannot be projected still exists. The cache keeps its last valid state.
    const id = change?.id ?? this.#store.find(keyOf(object));
    if (id === undefined) return;
    this.#listed = growToIndex(this.#listed!, id, bytes);
    this.#listed[id] = 1;
    if (change === undefined || isSameVersion(change)) return;
    this.#emit({ ...change, initial: !this.#synced });
  }

  listEnds(version: string): void {
    const listed = this.#listed!;
    this.#listed = undefined;
    const gone: KeyId[] = [];
    for (const [id] of this.#store.entries()) if (listed[id] !== 1) gone.push(id);
    for (const id of gone) this.#remove(id);
    this.#version = version;
    this.#synced = true;
  }

  changed(object: T): void {
    const change = this.#put(object);
    if (change !== undefined) this.#emit({ ...change, initial: false });
  }

  removed(object: T): void {
    const id = this.#store.find(keyOf(object));
    if (id === undefined) return;
    // During a streaming list the id may be reused for another object before the list ends.
    if (this.#listed !== undefined && id < this.#listed.length) this.#listed[id] = 0;
    this.#remove(id);
  }

  reached(version: string): void {
    this.#version = version;
  }

  /** Drops all objects without notifying listeners. Remaining readers see `synced` as false. */
  close(): void {
    this.#synced = false;
    this.#listeners.clear();
    this.#store.clear();
  }

  #remove(id: KeyId): void {
    this.#store.remove(id, (change) => this.#emit({ ...change, initial: false }));
  }

  #put(object: T): Change<T> | undefined {
    try {
      const kept = this.#projection.project(object);
      checkKept(object, kept, this.#projection.name);
      return this.#store.put(kept);
    } catch (error) {
      this.#onError(error);
      return undefined;
    }
  }

  #emit(change: CacheChange<T>): void {
    for (const listener of this.#listeners) this.#notify(listener, change);
  }

  #notify(listener: CacheListener<T>, change: CacheChange<T>): void {
    try {
      listener(change);
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** Whether a relist returned the version that is already cached. */
const isSameVersion = <T extends KubeObject>({ before, after }: Change<T>): boolean =>
  before !== undefined &&
  before.metadata.uid === after!.metadata.uid &&
  before.metadata.resourceVersion === after!.metadata.resourceVersion;

/** Fields that a projection must keep: lookups and preconditions of deletes need them. */
const IDENTITY = ['name', 'namespace', 'uid', 'resourceVersion'] as const;

function checkKept(object: KubeObject, kept: KubeObject, projection: string): void {
  const { metadata } = kept;
  for (const field of IDENTITY)
    if (metadata[field] !== object.metadata[field])
      throw new Error(`the projection ${projection} does not keep metadata.${field}`);
}
