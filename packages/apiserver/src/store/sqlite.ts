// The durable journal: SQLite in a worker thread, one connection, one transaction per batch. The main thread never
// waits for the disk. A write is acknowledged when its transaction is committed.

import { Worker } from 'node:worker_threads';
import type { Journal, JournalRecord } from './store.ts';

export interface PackedBatch {
  readonly records: readonly { resource: string; key: string; revision: number; length: number }[];
  /** The bytes of all records, concatenated; a length of -1 is a deletion. */
  readonly bytes: Uint8Array<ArrayBuffer>;
}

export type WorkerRequest =
  | { readonly kind: 'load' }
  | { readonly kind: 'append'; readonly batch: PackedBatch }
  | { readonly kind: 'close' };

export type WorkerResponse =
  | { readonly kind: 'opened'; readonly settings: JournalSettings }
  | { readonly kind: 'loading'; readonly batch: PackedBatch }
  | { readonly kind: 'loaded'; readonly revision: number }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string };

/** The SQLite settings, read back after they were set. */
export interface JournalSettings {
  readonly journalMode: string;
  /** 2 is FULL: an acknowledged transaction survives a power cut. */
  readonly synchronous: number;
}

export interface SqliteJournal extends Journal {
  readonly settings: JournalSettings;
}

const SCRIPT = import.meta.url.endsWith('.ts') ? './sqliteWorker.ts' : './sqliteWorker.js';

/** Opens (or creates) the database file. Fails when another process has it open. */
export async function openSqliteJournal(file: string): Promise<SqliteJournal> {
  // The thread holds one batch at a time and needs little memory.
  const resourceLimits = { maxYoungGenerationSizeMb: 2 };
  const worker = new Worker(new URL(SCRIPT, import.meta.url), { workerData: { file }, resourceLimits });
  const inbox = new Inbox(worker);
  const opened = await inbox.next();
  if (opened.kind !== 'opened') throw new Error(`cannot open ${file}: ${problemOf(opened, 'open')}`);
  return {
    settings: opened.settings,
    load: () => load(worker, inbox),
    append: (batch) => append(worker, inbox, batch),
    close: async () => {
      worker.postMessage({ kind: 'close' } satisfies WorkerRequest);
      await inbox.ended;
    },
  };
}

const GONE: WorkerResponse = { kind: 'failed', message: 'the storage thread has ended' };

const problemOf = (response: WorkerResponse, request: string): string =>
  response.kind === 'failed'
    ? response.message
    : `the storage thread sent an unexpected reply to ${request}: ${response.kind}`;

/** Responses of the worker, in order; there is at most one request in flight. */
class Inbox {
  readonly #responses: WorkerResponse[] = [];
  #waiting: ((response: WorkerResponse) => void) | undefined;
  #dead = false;
  readonly ended: Promise<void>;

  constructor(worker: Worker) {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.ended = promise;
    worker.on('message', (response: WorkerResponse) => this.#deliver(response));
    worker.on('error', (cause: Error) => this.#deliver({ kind: 'failed', message: cause.message }));
    worker.on('exit', () => {
      this.#dead = true;
      this.#waiting?.(GONE);
      resolve();
    });
  }

  next(): Promise<WorkerResponse> {
    const ready = this.#responses.shift();
    if (ready) return Promise.resolve(ready);
    if (this.#dead) return Promise.resolve(GONE);
    return new Promise((resolve) => {
      this.#waiting = resolve;
    });
  }

  #deliver(response: WorkerResponse): void {
    const waiting = this.#waiting;
    this.#waiting = undefined;
    if (waiting) waiting(response);
    else this.#responses.push(response);
  }
}

async function load(worker: Worker, inbox: Inbox): Promise<{ revision: number; records: JournalRecord[] }> {
  worker.postMessage({ kind: 'load' } satisfies WorkerRequest);
  const records: JournalRecord[] = [];
  for (;;) {
    const response = await inbox.next();
    if (response.kind === 'loaded') return { revision: response.revision, records };
    if (response.kind !== 'loading') throw new Error(problemOf(response, 'load'));
    for (const record of unpack(response.batch)) records.push(record);
  }
}

async function append(worker: Worker, inbox: Inbox, batch: readonly JournalRecord[]): Promise<void> {
  const packed = pack(batch);
  worker.postMessage({ kind: 'append', batch: packed } satisfies WorkerRequest, [packed.bytes.buffer]);
  const response = await inbox.next();
  if (response.kind !== 'done') throw new Error(problemOf(response, 'append'));
}

/** One buffer for the whole batch: it is transferred to the other thread without a copy. */
export function pack(batch: readonly JournalRecord[]): PackedBatch {
  let size = 0;
  for (const r of batch) size += r.bytes?.length ?? 0;
  const bytes = new Uint8Array(size);
  let offset = 0;
  const records = batch.map(({ resource, key, revision, bytes: own }) => {
    if (!own) return { resource, key, revision, length: -1 };
    bytes.set(own, offset);
    offset += own.length;
    return { resource, key, revision, length: own.length };
  });
  return { records, bytes };
}

export function* unpack({ records, bytes }: PackedBatch): Generator<JournalRecord> {
  let offset = 0;
  for (const { resource, key, revision, length } of records) {
    if (length < 0) yield { resource, key, revision, bytes: undefined };
    else {
      yield { resource, key, revision, bytes: bytes.subarray(offset, offset + length) };
      offset += length;
    }
  }
}
