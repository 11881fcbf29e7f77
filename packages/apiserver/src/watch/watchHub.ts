// Fan-out of committed changes to watchers. Each change is encoded once per representation, for all watchers. A slow
// watcher is closed instead of buffered without limit.

import type { Change } from '../store/history.ts';
import type { Store } from '../store/store.ts';
import type { Stored } from '../store/stored.ts';

/** Receives the changes of one resource, in order. Must not throw. */
export type ChangeSink = (change: Change) => void;

export class WatchHub {
  readonly #byResource = new Map<string, Set<ChangeSink>>();
  readonly #closers = new Set<() => void>();
  /** Events sent to watchers and not yet read; a simulation is idle at 0. */
  undelivered = 0;

  constructor(store: Store) {
    store.listen((change) => {
      for (const sink of this.#byResource.get(change.resource) ?? []) sink(change);
    });
  }

  #last: { stored: Stored; type: string; bytes: Uint8Array } | undefined;

  /**
   * Encodes an event once for all watchers. Caches only the last event, since watchers encode one change before the
   * next.
   */
  shared(stored: Stored, type: string, make: () => Uint8Array): Uint8Array {
    const last = this.#last;
    if (last && last.stored === stored && last.type === type) return last.bytes;
    const bytes = make();
    this.#last = { stored, type, bytes };
    return bytes;
  }

  subscribe(resource: string, sink: ChangeSink): () => void {
    let sinks = this.#byResource.get(resource);
    if (!sinks) {
      sinks = new Set();
      this.#byResource.set(resource, sinks);
    }
    sinks.add(sink);
    return () => {
      sinks.delete(sink);
    };
  }

  /** Registers `close` to be called when the server stops. */
  track(close: () => void): () => void {
    this.#closers.add(close);
    return () => this.#closers.delete(close);
  }

  get watchers(): number {
    return this.#closers.size;
  }

  closeAll(): void {
    for (const close of [...this.#closers]) close();
  }

  /** Watches by resource, to close them when its CRD is deleted. */
  readonly #byTable = new Map<string, Set<() => void>>();
  trackResource(resource: string, close: () => void): () => void {
    const closers = this.#byTable.get(resource) ?? new Set();
    this.#byTable.set(resource, closers.add(close));
    return () => closers.delete(close);
  }
  /** The number of open watches per stored resource. */
  *watchersByResource(): Generator<[resource: string, watchers: number]> {
    for (const [resource, closers] of this.#byTable) yield [resource, closers.size];
  }
  closeResource(resource: string): void {
    for (const close of [...(this.#byTable.get(resource) ?? [])]) close();
  }
}
