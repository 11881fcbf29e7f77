// Fan-out of committed changes to watchers. A change is turned into bytes once per representation, however many
// watchers want it; a watcher that does not keep up is closed rather than buffered for ever.

import type { Change } from '../store/history.ts';
import type { Store } from '../store/store.ts';
import type { Stored } from '../store/stored.ts';

/** Receives the changes of one resource, in order; must not throw. */
export type ChangeSink = (change: Change) => void;

export class WatchHub {
  readonly #byResource = new Map<string, Set<ChangeSink>>();
  readonly #closers = new Set<() => void>();
  /** Events handed to watchers and not yet taken by their readers; a simulation is idle when it is 0. */
  undelivered = 0;

  constructor(store: Store) {
    store.listen((change) => {
      for (const sink of this.#byResource.get(change.resource) ?? []) sink(change);
    });
  }

  #last: { stored: Stored; type: string; bytes: Uint8Array } | undefined;

  /** The bytes of an event, made by the first watcher that needs them: watchers of one change follow each other. */
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

  /** `close` is called when the server stops. */
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

  /** Ends the watches of one resource, as when its definition goes away. */
  readonly #byTable = new Map<string, Set<() => void>>();
  trackResource(resource: string, close: () => void): () => void {
    const closers = this.#byTable.get(resource) ?? new Set();
    this.#byTable.set(resource, closers.add(close));
    return () => closers.delete(close);
  }
  /** Open watches by table of the store. */
  *watchersByResource(): Generator<[resource: string, watchers: number]> {
    for (const [resource, closers] of this.#byTable) yield [resource, closers.size];
  }
  closeResource(resource: string): void {
    for (const close of [...(this.#byTable.get(resource) ?? [])]) close();
  }
}
