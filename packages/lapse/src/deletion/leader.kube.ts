// Leader election between real processes on a real API server: kill -9, SIGTERM, and SIGSTOP during a burst of deletions.

import { type ChildProcess, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import { type Client, createClient } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { undiciTransport } from '@lapse/kube/client/undici';
import { Lease } from '@lapse/runtime/election/lease';
import { ConfigMap, configMap } from '@lapse/runtime/world.testkit';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { type Bed, startBed } from '../../../../test/kube/bed/bed.ts';

let bed: Bed;
let admin: Client;
const children: Runner[] = [];
const script = fileURLToPath(new URL('./leader.testkit.ts', import.meta.url));
const LEASE = { namespace: 'default', name: 'lapse-test' };

class Runner {
  readonly identity: string;
  readonly child: ChildProcess;
  readonly said: { word: string; at: number }[] = [];

  constructor(identity: string) {
    this.identity = identity;
    this.child = spawn(process.execPath, [script, bed.url, bed.caFile, bed.adminToken, identity], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.child.stdout!.on('data', (chunk: Buffer) => {
      for (const word of chunk.toString().split('\n').filter(Boolean))
        this.said.push({ word, at: Date.now() });
    });
    children.push(this);
  }
  says = (word: string) =>
    vi.waitFor(() => expect(this.said.map((s) => s.word)).toContain(word), { timeout: 40_000, interval: 20 });
  when = (word: string) => this.said.findLast((s) => s.word === word)!.at;
  kill = (signal: NodeJS.Signals) => this.child.kill(signal);
}

beforeAll(async () => {
  bed = await startBed({ auditLog: true });
  const transport = undiciTransport({
    server: bed.url,
    clock: realClock,
    tls: { ca: readFileSync(bed.caFile, 'utf8') },
  });
  const credentials = fixedCredentials({ headers: bearer(bed.adminToken) });
  admin = createClient({
    transport,
    clock: realClock,
    random: systemRandom,
    credentials,
    userAgent: 'admin',
  });
});
afterEach(async () => {
  for (const { child } of children.splice(0)) {
    child.kill('SIGCONT');
    child.kill('SIGKILL');
  }
  await admin.delete(Lease, LEASE);
});
afterAll(() => bed?.stop());

interface Audited {
  readonly verb: string;
  readonly userAgent: string;
  readonly code: number;
  readonly at: number;
  readonly resource: string;
}

function audited(): Audited[] {
  return readFileSync(bed.auditLogFile!, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"stage":"ResponseComplete"'))
    .map((line) => JSON.parse(line))
    .map((e) => ({
      verb: e.verb,
      userAgent: e.userAgent,
      code: e.responseStatus?.code,
      at: Date.parse(e.requestReceivedTimestamp),
      resource: e.objectRef?.resource,
    }));
}

const create = (count: number, prefix: string) =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      admin.create(ConfigMap, configMap(`${prefix}-${i}`, {}, { labels: { burst: 'yes' } })),
    ),
  );
const left = async () =>
  (await admin.list(ConfigMap, { namespace: 'default', labelSelector: 'burst=yes' })).items.length;

test('a standby takes over within the lease duration plus one retry after kill -9 of the leader', async () => {
  const a = new Runner('a-kill');
  await a.says('leading');
  const b = new Runner('b-kill');
  await b.says('started');
  await create(20, 'first');
  await vi.waitFor(async () => expect(await left()).toBe(0), { timeout: 10_000 });
  a.kill('SIGKILL');
  const killed = Date.now();
  await create(20, 'second');
  await b.says('leading');
  await vi.waitFor(async () => expect(await left()).toBe(0), { timeout: 10_000 });
  expect(b.when('leading') - killed).toBeLessThan(15_000 + 2500);
});

test('the leader finishes its reconciles and releases the lease on SIGTERM, and the standby takes over at once', async () => {
  const a = new Runner('a-term');
  await a.says('leading');
  const b = new Runner('b-term');
  await b.says('started');
  await create(50, 'term');
  a.kill('SIGTERM');
  const asked = Date.now();
  await a.says('drained');
  expect(a.when('drained') - asked).toBeLessThan(10_000);
  await b.says('leading');
  expect(b.when('leading') - asked).toBeLessThan(5000);
  await vi.waitFor(async () => expect(await left()).toBe(0), { timeout: 10_000 });
});

test('a leader that is stopped during a burst and continued after the takeover deletes nothing more', async () => {
  const a = new Runner('a-stop');
  await a.says('leading');
  const b = new Runner('b-stop');
  await b.says('started');
  void create(1000, 'stop');
  await vi.waitFor(
    () =>
      expect(audited().filter((e) => e.userAgent === 'a-stop' && e.verb === 'delete').length).toBeGreaterThan(
        50,
      ),
    {
      timeout: 20_000,
      interval: 20,
    },
  );
  a.kill('SIGSTOP');
  await b.says('leading');
  await new Promise((resolve) => setTimeout(resolve, 200));
  a.kill('SIGCONT');
  await a.says('standby');
  await vi.waitFor(async () => expect(await left()).toBe(0), { timeout: 30_000 });
  const log = audited();
  const takeOver = Math.min(
    ...log
      .filter(
        (e) => e.userAgent === 'b-stop' && e.resource === 'leases' && e.verb === 'update' && e.code === 200,
      )
      .map((e) => e.at),
  );
  const late = log.filter((e) => e.userAgent === 'a-stop' && e.verb === 'delete' && e.at > takeOver);
  // The local validity ends before the lease does, so the old leader did not even send a request.
  expect(late.filter((e) => e.code < 300)).toEqual([]);
  const byB = log.filter((e) => e.userAgent === 'b-stop' && e.verb === 'delete' && e.code === 200);
  expect(byB.length).toBeGreaterThan(0);
  expect(byB.every((e) => e.at > takeOver)).toBe(true);
});
