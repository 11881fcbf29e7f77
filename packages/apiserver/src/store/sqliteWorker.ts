// The storage thread: owns the only database connection.

import { DatabaseSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import {
  type JournalSettings,
  type PackedBatch,
  pack,
  unpack,
  type WorkerRequest,
  type WorkerResponse,
} from './sqlite.ts';
import type { JournalRecord } from './store.ts';

const respond = (message: WorkerResponse, transfer: ArrayBuffer[] = []) =>
  parentPort!.postMessage(message, transfer);

/** Sets WAL and full synchronisation and reads them back; the server does not start when a setting was not accepted. */
function configure(db: DatabaseSync): JournalSettings {
  db.exec('PRAGMA locking_mode = EXCLUSIVE');
  db.exec('PRAGMA journal_mode = WAL');
  db.exec('PRAGMA synchronous = FULL');
  db.exec('PRAGMA wal_autocheckpoint = 4000');
  const { journal_mode: journalMode } = db.prepare('PRAGMA journal_mode').get() as { journal_mode: string };
  const { synchronous } = db.prepare('PRAGMA synchronous').get() as { synchronous: number };
  if (journalMode !== 'wal' || synchronous !== 2) {
    throw new Error(
      `SQLite refused its settings (journal_mode ${journalMode}, synchronous ${synchronous}): writes would not be durable here`,
    );
  }
  db.exec('CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID');
  db.exec(
    'CREATE TABLE IF NOT EXISTS objects (resource TEXT NOT NULL, key TEXT NOT NULL, revision INTEGER NOT NULL, bytes BLOB NOT NULL, PRIMARY KEY (resource, key)) WITHOUT ROWID',
  );
  return { journalMode, synchronous };
}

// Rows per message while loading: large enough to be fast, small enough to keep both threads responsive.
const LOAD_ROWS = 2000;

function load(db: DatabaseSync): void {
  let rows: JournalRecord[] = [];
  const flush = () => {
    const batch = pack(rows);
    respond({ kind: 'loading', batch }, [batch.bytes.buffer]);
    rows = [];
  };
  for (const row of db.prepare('SELECT resource, key, revision, bytes FROM objects').iterate()) {
    rows.push(row as unknown as JournalRecord);
    if (rows.length === LOAD_ROWS) flush();
  }
  flush();
  const head = db.prepare("SELECT value FROM meta WHERE name = 'revision'").get() as
    | { value: number }
    | undefined;
  respond({ kind: 'loaded', revision: head?.value ?? 0 });
}

function writer(db: DatabaseSync): (batch: PackedBatch) => void {
  const put = db.prepare(
    'INSERT INTO objects (resource, key, revision, bytes) VALUES (?, ?, ?, ?) ON CONFLICT (resource, key) DO UPDATE SET revision = excluded.revision, bytes = excluded.bytes',
  );
  const remove = db.prepare('DELETE FROM objects WHERE resource = ? AND key = ?');
  const head = db.prepare(
    "INSERT INTO meta (name, value) VALUES ('revision', ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
  );
  return (batch) => {
    db.exec('BEGIN IMMEDIATE');
    try {
      let revision = 0;
      for (const r of unpack(batch)) {
        if (r.bytes) put.run(r.resource, r.key, r.revision, r.bytes);
        else remove.run(r.resource, r.key);
        revision = r.revision;
      }
      head.run(revision);
      db.exec('COMMIT');
    } catch (cause) {
      if (db.isTransaction) db.exec('ROLLBACK');
      throw cause;
    }
  };
}

function serve(db: DatabaseSync, write: (batch: PackedBatch) => void, request: WorkerRequest): void {
  switch (request.kind) {
    case 'load':
      load(db);
      break;
    case 'append':
      write(request.batch);
      release(request.batch);
      respond({ kind: 'done' });
      break;
    case 'close':
      db.close();
      parentPort!.close();
  }
}

/** The bytes are written: releases their memory now, since the garbage collector of this thread rarely runs. */
const release = ({ bytes }: PackedBatch): void => {
  bytes.buffer.transfer(0);
};

function main(): void {
  const db = new DatabaseSync((workerData as { file: string }).file);
  const settings = configure(db);
  const write = writer(db);
  parentPort!.on('message', (request: WorkerRequest) => {
    try {
      serve(db, write, request);
    } catch (cause) {
      respond({ kind: 'failed', message: (cause as Error).message });
    }
  });
  respond({ kind: 'opened', settings });
}

try {
  main();
} catch (cause) {
  respond({ kind: 'failed', message: (cause as Error).message });
  parentPort!.close();
}
