// The state of one source in memory: a store, kept by a reflector, with listeners. Readers see the newest object the
// server has told us about; `isBehind` tells whether that is older than something we know to exist.

import { withRoom } from '@lapse/base/growing';
import { keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { compareVersions } from '@lapse/kube/api/versions';
import type { Interner, KeyId } from './interner.ts';
import type { Sink } from './reflectorTypes.ts';
import { type Projection, type Source, whole } from './source.ts';
import { type Change, Store } from './store.ts';

export interface CacheChange<T> extends Change<T> {
  /** Part of what existed when we began to look. */
  readonly initial: boolean;
}

/** Called in the turn in which the event was read: it must not wait. What it throws is reported, and stops nobody. */
export type CacheListener<T> = (change: CacheChange<T>) => void;

export interface CacheReader<T extends KubeObject> {
  get(key: ObjectKey): T | undefined;
  list(): Iterable<T>;
  byIndex(name: string, value: string): T[];
  readonly size: number;
  /** Everything that existed when we began to look is here. */
  readonly synced: boolean;
}

export interface CacheOptions {
  readonly interner: Interner;
  /** Freeze what is stored; for tests. */
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
  /** By id, while a list is under way: 1 for what it mentioned. */
  #mentioned: Uint8Array | undefined;

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
  /** The newest version we have heard of. */
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

  /** Whether the cache has not yet seen `version` of an object (or something later). Unknown counts as seen. */
  isBehind(version: string): boolean {
    return compareVersions(this.#version, version) === -1;
  }

  /** The listener receives what is here already, then every change. */
  listen(listener: CacheListener<T>): () => void {
    this.replay(listener);
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** The listener receives what is here, as initial changes. */
  replay(listener: CacheListener<T>): void {
    for (const [id, after] of this.#store.entries())
      this.#tell(listener, { id, before: undefined, after, initial: true });
  }

  listBegins(): void {
    this.#mentioned = bytes(0);
  }

  listItem(object: T): void {
    const change = this.#put(object);
    // What could not be projected is still there: its last good state stays.
    const id = change?.id ?? this.#store.find(keyOf(object));
    if (id === undefined) return;
    this.#mentioned = withRoom(this.#mentioned!, id, bytes);
    this.#mentioned[id] = 1;
    if (change === undefined || isSameVersion(change)) return;
    this.#emit({ ...change, initial: !this.#synced });
  }

  listEnds(version: string): void {
    const mentioned = this.#mentioned!;
    this.#mentioned = undefined;
    const gone: KeyId[] = [];
    for (const [id] of this.#store.entries()) if (mentioned[id] !== 1) gone.push(id);
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
    // During a streaming list: the id may stand for another object before the list ends.
    if (this.#mentioned !== undefined && id < this.#mentioned.length) this.#mentioned[id] = 0;
    this.#remove(id);
  }

  reached(version: string): void {
    this.#version = version;
  }

  /** Forgets everything without a change; readers that are left see that nothing is synced. */
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
    for (const listener of this.#listeners) this.#tell(listener, change);
  }

  #tell(listener: CacheListener<T>, change: CacheChange<T>): void {
    try {
      listener(change);
    } catch (error) {
      this.#onError(error);
    }
  }
}

/** A relist that brings what we have is no news. */
const isSameVersion = <T extends KubeObject>({ before, after }: Change<T>): boolean =>
  before !== undefined &&
  before.metadata.uid === after!.metadata.uid &&
  before.metadata.resourceVersion === after!.metadata.resourceVersion;

/** Without these nobody could ask for the object, or delete exactly it. */
const IDENTITY = ['name', 'namespace', 'uid', 'resourceVersion'] as const;

function checkKept(object: KubeObject, kept: KubeObject, projection: string): void {
  const { metadata } = kept;
  for (const field of IDENTITY)
    if (metadata[field] !== object.metadata[field])
      throw new Error(`the projection ${projection} does not keep metadata.${field}`);
}
