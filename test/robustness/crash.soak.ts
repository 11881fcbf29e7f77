// kill -9 at random moments under concurrent writes. The guarantees: `noAckedWriteLost` (acknowledged writes exist
// after every restart), `revisionNeverGoesBack`, `oneContentPerRevision` (a watcher's log across crashes never shows
// two contents under one version).

import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSqliteJournal } from '@lapse/apiserver/store/sqlite';
import { seededRandom } from '@lapse/base/random';
import { afterAll, expect, test } from 'vitest';
import { type Answer, type ServerProcess, startServerProcess } from './serverProcess.ts';

const ROUNDS = Number(process.env['LAPSE_CRASH_ROUNDS'] ?? 60);
const SEED = Number(process.env['LAPSE_SEED'] ?? 20_261_115);
const WRITERS = 8;
const COLLECTION = '/api/v1/namespaces/default/configmaps';

const data = mkdtempSync(join(tmpdir(), 'lapse-crash-'));
afterAll(() => rmSync(data, { recursive: true, force: true }));

/** The possible states of a key: the last acknowledged state, and the state of a write that was never answered. */
interface Belief {
  acked: string | undefined;
  maybe: { value: string | undefined } | undefined;
}

const contentOf = (object: Answer) =>
  createHash('sha256')
    .update(JSON.stringify([object.metadata.uid, object.metadata.name, object.data]))
    .digest('hex');

class Witness {
  readonly beliefs = new Map<string, Belief>();
  readonly contents = new Map<string, string>();
  highest = 0;
  acknowledged = 0;
  seen = 0;

  saw(type: string, object: Answer): void {
    const version = object.metadata.resourceVersion as string;
    const content = `${type === 'DELETED' ? 'deleted' : 'stored'} ${contentOf(object)}`;
    const known = this.contents.get(version);
    if (known !== undefined && known !== content)
      throw new Error(`oneContentPerRevision: ${version} was ${known}, now ${content}`);
    this.contents.set(version, content);
    this.seen++;
  }

  acked(version: string | undefined): void {
    this.acknowledged++;
    if (version) this.highest = Math.max(this.highest, Number(version));
  }
}

async function write(
  server: ServerProcess,
  witness: Witness,
  name: string,
  next: () => number,
): Promise<void> {
  const belief = witness.beliefs.get(name) ?? { acked: undefined, maybe: undefined };
  witness.beliefs.set(name, belief);
  const value = String(Math.floor(next() * 1e9));
  const remove = belief.acked !== undefined && next() < 0.25;
  belief.maybe = { value: remove ? undefined : value };
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { value } };
  const answer = remove
    ? await server.call('DELETE', `${COLLECTION}/${name}`)
    : belief.acked === undefined
      ? await server.call('POST', COLLECTION, object)
      : await server.call('PUT', `${COLLECTION}/${name}`, object);
  if (answer.status >= 400) throw new Error(`unexpected ${answer.status}: ${answer.body.message}`);
  belief.acked = belief.maybe.value;
  belief.maybe = undefined;
  witness.acked(answer.body.metadata?.resourceVersion);
}

async function writeUntilKilled(
  server: ServerProcess,
  witness: Witness,
  writer: number,
  next: () => number,
): Promise<void> {
  for (;;) {
    try {
      await write(server, witness, `w${writer}-${Math.floor(next() * 12)}`, next);
    } catch (cause) {
      if ((cause as Error).message.startsWith('unexpected')) throw cause;
      return;
    }
  }
}

/** After a restart: every key has the acknowledged state, or that of the one write that was never answered. */
async function verify(server: ServerProcess, witness: Witness): Promise<string> {
  const { body } = await server.call('GET', COLLECTION);
  const stored = new Map<string, Answer>(body.items.map((o: Answer) => [o.metadata.name, o]));
  for (const [name, belief] of witness.beliefs) {
    const value = stored.get(name)?.data.value as string | undefined;
    const allowed = [belief.acked, ...(belief.maybe ? [belief.maybe.value] : [])];
    if (!allowed.includes(value))
      throw new Error(`noAckedWriteLost: ${name} holds ${value}, allowed ${allowed.join(' or ')}`);
    belief.acked = value;
    belief.maybe = undefined;
  }
  for (const object of stored.values()) witness.saw('ADDED', object);
  const revision = Number(body.metadata.resourceVersion);
  if (revision < witness.highest)
    throw new Error(`revisionNeverGoesBack: ${revision} after ${witness.highest}`);
  witness.highest = revision;
  return body.metadata.resourceVersion;
}

async function logWatch(server: ServerProcess, witness: Witness, from: string): Promise<void> {
  for await (const { type, object } of server.watch(`${COLLECTION}?watch=1&resourceVersion=${from}`)) {
    if (type === 'ERROR') throw new Error(`the watch was refused: ${object.message}`);
    witness.saw(type, object);
  }
}

test(`${ROUNDS} rounds of kill -9 lose nothing (seed ${SEED})`, async () => {
  const random = seededRandom(SEED);
  const witness = new Witness();
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServerProcess(data);
    const from = await verify(server, witness);
    const tasks = [logWatch(server, witness, from)];
    for (let w = 0; w < WRITERS; w++) tasks.push(writeUntilKilled(server, witness, w, random.next));
    const done = Promise.all(tasks);
    done.catch(() => {});
    await sleep(20 + random.next() * 230);
    await server.kill();
    await done;
  }
  const last = await startServerProcess(data);
  await verify(last, witness);
  expect(await last.stop(), 'SIGTERM ends with 0').toBe(0);
  process.stdout.write(
    `crash: ${ROUNDS} rounds, ${witness.acknowledged} acknowledged writes, ${witness.seen} events seen\n`,
  );
  expect(witness.acknowledged).toBeGreaterThan(ROUNDS * 5);
  expect(witness.seen).toBeGreaterThan(ROUNDS * 5);
});

test('the settings that make a commit durable are read back from SQLite', async () => {
  const journal = await openSqliteJournal(join(data, 'settings.db'));
  expect(journal.settings).toEqual({ journalMode: 'wal', synchronous: 2 });
  await journal.close();
});

test('a second server on the same data directory is refused with a message', async () => {
  const first = await startServerProcess(data);
  await expect(startServerProcess(data)).rejects.toThrow(/in use by another process of Lapse/);
  await first.stop();
});
