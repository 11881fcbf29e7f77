// The revisioned store: one counter for all resources, as in etcd. A write is checked against the head (committed
// plus pending) at once. It becomes readable, watchable and acknowledged only when the journal has committed it.

import type { Clock } from '@lapse/base/clock';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { type Change, History, type HistoryLimits } from './history.ts';
import { Stored } from './stored.ts';
import { Table } from './table.ts';
import { View } from './view.ts';

/** One record to make durable; `bytes` is absent for a deletion. */
export interface JournalRecord {
  readonly resource: string;
  readonly key: string;
  readonly revision: number;
  readonly bytes: Uint8Array | undefined;
}

export interface Journal {
  /** All records, and the highest revision ever assigned. */
  load(): Promise<{ revision: number; records: Iterable<JournalRecord> }>;
  /** Resolves when all records are durable, in order; rejects when none of them is durable. */
  append(batch: readonly JournalRecord[]): Promise<void>;
  close(): Promise<void>;
}

/** The object changed, was created or was deleted since the caller read it. */
export class RevisionMismatch extends Error {}

interface Pending extends JournalRecord {
  readonly stored: Stored | undefined;
  readonly resolve: (change: Change) => void;
  readonly reject: (cause: Error) => void;
  readonly done: Promise<Change>;
}

export type Listener = (change: Change) => void;

export class Store {
  readonly #clock: Clock;
  readonly #journal: Journal | undefined;
  readonly #tables = new Map<string, Table>();
  readonly #listeners = new Set<Listener>();
  /** Heads of the keys with uncommitted writes; undefined is a deletion. */
  readonly #head = new Map<string, Pending>();
  #history: History;
  #queue: Pending[] = [];
  #inFlight: Pending[] = [];
  #flushing = false;
  #failure: Error | undefined;
  #headRevision: number;
  #revision: number;

  private constructor(clock: Clock, revision: number, journal?: Journal, limits?: HistoryLimits) {
    this.#clock = clock;
    this.#journal = journal;
    this.#headRevision = revision;
    this.#revision = revision;
    this.#history = new History(revision, limits);
  }

  /** A store without a journal: all data is in memory. */
  static inMemory(clock: Clock, limits?: HistoryLimits): Store {
    return new Store(clock, 1, undefined, limits);
  }

  static async open(clock: Clock, journal: Journal, limits?: HistoryLimits): Promise<Store> {
    const { revision, records } = await journal.load();
    const store = new Store(clock, Math.max(1, revision), journal, limits);
    for (const r of records) {
      if (r.bytes) store.table(r.resource).set(new Stored(r.key, r.revision, r.bytes));
    }
    return store;
  }

  /** The newest committed revision. */
  get revision(): number {
    return this.#revision;
  }

  /** The newest assigned revision; writes up to it may not be committed yet. */
  get headRevision(): number {
    return this.#headRevision;
  }

  table(resource: string): Table {
    let table = this.#tables.get(resource);
    if (!table) {
      table = new Table(this.#history.floor);
      this.#tables.set(resource, table);
    }
    return table;
  }

  /** From now on, watches of this resource that start before the current revision are too old. */
  restartHistory(resource: string): void {
    this.table(resource).floor = this.#revision;
  }

  /** Number of committed objects per resource. */
  counts(): Map<string, number> {
    return new Map([...this.#tables].map(([resource, table]) => [resource, table.size]));
  }

  /** The committed object, as readers see it. */
  get(resource: string, key: string): Stored | undefined {
    return this.#tables.get(resource)?.get(key);
  }

  /** The object that the next write builds on, committed or not. */
  getHead(resource: string, key: string): Stored | undefined {
    const pending = this.#head.get(headKey(resource, key));
    return pending ? pending.stored : this.get(resource, key);
  }

  /** All objects of a resource that the next write has to consider, committed or not; in no particular order. */
  *heads(resource: string): Generator<Stored> {
    for (const stored of this.view(resource)!.entries('')) {
      if (!this.#head.has(headKey(resource, stored.key))) yield stored;
    }
    for (const pending of this.#head.values()) {
      if (pending.resource === resource && pending.stored) yield pending.stored;
    }
  }

  /** False when `heads` would be empty. */
  hasHeads(resource: string): boolean {
    if ((this.#tables.get(resource)?.size ?? 0) > 0) return true;
    for (const pending of this.#head.values()) if (pending.resource === resource) return true;
    return false;
  }

  /** The resource at a revision (default: the current one); undefined when that revision is no longer known. */
  view(resource: string, revision = this.#revision): View | undefined {
    const table = this.table(resource);
    if (revision < this.#history.floor) return undefined;
    if (revision >= this.#revision) return new View(table, this.#revision, []);
    return new View(table, revision, this.changesAfter(resource, revision));
  }

  /** The oldest revision from which a watch of this resource may start. */
  floor(resource: string): number {
    return Math.max(this.table(resource).floor, this.#history.floor);
  }

  *changesAfter(resource: string, revision: number): Iterable<Change> {
    for (const change of this.#history.after(revision)) if (change.resource === resource) yield change;
  }

  listen(listener: Listener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Discards history: pages and watches that need it get 410. */
  compact(): void {
    this.#history.compact(this.#revision);
  }

  /** Writes `object` (its resourceVersion is set here) if the head is still at `expected` (0 = absent). */
  put(resource: string, key: string, expected: number, object: KubeObject): Promise<Change> {
    this.#check(resource, key, expected);
    const revision = ++this.#headRevision;
    object.metadata.resourceVersion = String(revision);
    const bytes = Buffer.from(writeJson(asJson(object)));
    return this.#submit({ resource, key, revision, bytes }, new Stored(key, revision, bytes, object));
  }

  /** Removes the object if the head is still at `expected`. */
  remove(resource: string, key: string, expected: number): Promise<Change> {
    this.#check(resource, key, expected);
    return this.#submit({ resource, key, revision: ++this.#headRevision, bytes: undefined }, undefined);
  }

  /** Resolves when the given head is durable. */
  async committed(stored: Stored): Promise<void> {
    const pending = this.#queue.concat(this.#inFlight).find((p) => p.stored === stored);
    if (pending) await pending.done;
  }

  async close(): Promise<void> {
    await this.#journal?.close();
  }

  #check(resource: string, key: string, expected: number): void {
    const head = this.getHead(resource, key);
    if ((head?.revision ?? 0) !== expected) throw new RevisionMismatch(`${resource}/${key}`);
  }

  #submit(record: JournalRecord, stored: Stored | undefined): Promise<Change> {
    const { promise: done, resolve, reject } = Promise.withResolvers<Change>();
    const pending: Pending = { ...record, stored, resolve, reject, done };
    if (!this.#journal) this.#commit(pending);
    else {
      this.#head.set(headKey(record.resource, record.key), pending);
      this.#queue.push(pending);
      if (!this.#flushing) void this.#flush(this.#journal);
    }
    return done;
  }

  /** Commits one batch at a time. A batch contains all writes that arrived while the previous one was committed. */
  async #flush(journal: Journal): Promise<void> {
    this.#flushing = true;
    while (this.#queue.length > 0) {
      const batch = this.#queue;
      this.#queue = [];
      this.#inFlight = batch;
      try {
        await journal.append(batch);
      } catch (cause) {
        // Writes that arrived meanwhile were checked against a head that was not committed, so they fail with the
        // batch.
        this.#fail([...batch, ...this.#queue], cause as Error);
        this.#queue = [];
        continue;
      }
      this.#failure = undefined;
      for (const pending of batch) this.#commit(pending);
    }
    this.#inFlight = [];
    this.#flushing = false;
  }

  /** The error of the last commit; undefined when it succeeded. */
  get failure(): Error | undefined {
    return this.#failure;
  }

  #fail(dropped: readonly Pending[], cause: Error): void {
    this.#failure = cause;
    for (const pending of dropped) this.#head.delete(headKey(pending.resource, pending.key));
    for (const pending of dropped) pending.reject(new Error(`could not store: ${cause.message}`, { cause }));
  }

  #commit(pending: Pending): void {
    const { resource, key, revision, stored } = pending;
    const table = this.table(resource);
    const prev = table.get(key);
    if (stored) table.set(stored);
    else table.delete(key);
    if (this.#head.get(headKey(resource, key)) === pending) this.#head.delete(headKey(resource, key));
    this.#revision = revision;
    const change: Change = { revision, resource, key, at: this.#clock.now(), prev, next: stored };
    this.#history.push(change);
    for (const listener of this.#listeners) listener(change);
    pending.resolve(change);
  }
}

const headKey = (resource: string, key: string) => `${resource}\0${key}`;
