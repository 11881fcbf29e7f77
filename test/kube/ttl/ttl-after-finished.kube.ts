// Finished Jobs and Pods on a real API server with the real garbage collector: `lapse run` as processes, under an
// account with exactly the declared rights.

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import type { Client } from '@lapse/kube/client/client';
import { POD_TTL_ANNOTATION as TTL } from 'lapse/expiry/pod';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { LapseProcess } from '../../cmd/lapseProcess.ts';
import { type Bed, startBed } from '../bed/bed.ts';
import { type Supervised, supervise } from '../bed/processes.ts';
import {
  ACCOUNT,
  adminOf,
  auditedIn,
  createAccount,
  createJob,
  createPod,
  deletersIn,
  deletionsIn,
  finishedJob,
  finishJob,
  key,
  lapse,
  metricsOf,
  SERVING_METRICS,
  setPodStatus,
  sumOf,
  thisSecond,
  time,
} from './cluster.ts';

/** Maximum number of unanswered requests of one process. */
const IN_FLIGHT = 32;
const COUNTED = /^lapse_ttl_deleted_total\{kind="Job",.*outcome="(deleted|terminating)"/;
const COMPETING = /^lapse_ttl_competing_deletions_total\{kind="Job"/;
const NO_FAILED_PASSES =
  'controller_runtime_reconcile_total{controller="ttl-after-finished",result="error"} 0\n';
const processes: LapseProcess[] = [];
let account: string;
let bed: Bed;
let client: Client;
let close: () => Promise<void>;

const start = (...more: string[]): LapseProcess => {
  const made = lapse(account, ...more);
  processes.push(made);
  return made;
};
const within = (ms: number, check: () => Promise<void>) => vi.waitFor(check, { timeout: ms, interval: 50 });
const isGone = async (name: string) => expect(await client.get(Job, key(name))).toBeUndefined();
const exists = async (name: string) => expect(await client.get(Job, key(name))).toBeDefined();
const podIsGone = async (name: string) => expect(await client.get(Pod, key(name))).toBeUndefined();

const audited = () => auditedIn(bed);
const deletesOf = (prefix: string) => deletionsIn(bed, prefix);

beforeAll(async () => {
  bed = await startBed({ auditLog: true, controllers: ['garbage-collector-controller'] });
  ({ client, close } = adminOf(bed));
  account = await createAccount(bed);
});
afterAll(async () => {
  await Promise.all(processes.map((process) => process.end('SIGKILL')));
  await close?.();
  await bed?.stop();
});

describe('Jobs, with two replicas', () => {
  test('are deleted on time, with TTLs edited both ways, with their Pods', async () => {
    const owned = await createJob(client, 'foreground', 3);
    const owner = {
      apiVersion: 'batch/v1',
      kind: 'Job',
      name: 'foreground',
      uid: owned.metadata.uid,
      controller: true,
      blockOwnerDeletion: true,
    };
    await createPod(client, 'foreground-x', { metadata: { ownerReferences: [owner] } });
    await finishedJob(client, 'listed', 0);
    start();
    start();
    await within(15_000, () => isGone('listed'));
    await finishedJob(client, 'zero', 0);
    await finishedJob(client, 'shortened', 3600);
    await finishedJob(client, 'extended', 4);
    await finishedJob(client, 'cleared', 4);
    await finishedJob(client, 'opted-out', 1, { 'lapse.dev/ttl': 'never' });
    await createJob(client, 'unfinished', 1);
    await finishJob(client, 'foreground');
    const patch = (name: string, ttl: number | null) =>
      client.patch(Job, key(name), { type: 'merge', patch: { spec: { ttlSecondsAfterFinished: ttl } } });
    await patch('shortened', 2);
    await patch('extended', 3600);
    await patch('cleared', null);
    await within(3000, () => isGone('zero'));
    await within(8000, () => isGone('shortened'));
    await within(8000, async () => {
      await isGone('foreground');
      await podIsGone('foreground-x');
    });
    await sleep(2000);
    for (const name of ['extended', 'cleared', 'opted-out', 'unfinished']) await exists(name);
  }, 45_000);

  test('are never deleted early: by the clock of the API server, from the whole second of the finish', async () => {
    const second = thisSecond() + 1;
    const names = [1, 2, 3].map((ttl) => `exact-${ttl}`);
    for (const [i, name] of names.entries()) {
      await createJob(client, name, i + 1);
      await finishJob(client, name, second - 1);
    }
    await within(8000, async () => void (await Promise.all(names.map(isGone))));
    for (const [i, name] of names.entries()) {
      const [asked] = deletesOf(name);
      const late = Date.parse(asked!.requestReceivedTimestamp) - (second - 1 + i + 1) * 1000;
      expect(late).toBeGreaterThanOrEqual(0);
      expect(late).toBeLessThan(2500);
    }
  });

  test('kill -9 of the leader during a burst: all are deleted, each by one request', async () => {
    const names = Array.from({ length: 150 }, (_, i) => `burst-${i}`);
    await Promise.all(names.map((name) => createJob(client, name, 1)));
    const finish = Promise.all(names.map((name) => finishJob(client, name)));
    await vi.waitFor(() => expect(deletesOf('burst-').length).toBeGreaterThan(5), {
      timeout: 10_000,
      interval: 5,
    });
    // The leader is killed. The guarantee does not depend on which of the two it is.
    const leaders = processes.slice(0, 2).filter(({ out }) => out.includes('controller started'));
    expect(leaders).toHaveLength(1);
    for (const leader of leaders) void leader.end('SIGKILL');
    start();
    await finish;
    await within(25_000, async () => {
      const { items } = await client.list(Job, { namespace: 'default' });
      expect(items.filter(({ metadata }) => metadata.name!.startsWith('burst-'))).toEqual([]);
    });
    const perName = new Map<string, number>();
    for (const { objectRef } of deletesOf('burst-'))
      perName.set(objectRef!.name!, (perName.get(objectRef!.name!) ?? 0) + 1);
    // Requests in progress when the sender died may have been executed without an answer.
    expect(perName.size).toBeGreaterThanOrEqual(names.length - IN_FLIGHT);
    // These may be repeated; no others are.
    expect([...perName.values()].filter((count) => count > 1).length).toBeLessThanOrEqual(IN_FLIGHT);
  }, 60_000);
});

describe('Pods', () => {
  test('are deleted by each way of finding their finish time; others are kept', async () => {
    const asks = { metadata: { annotations: { [TTL]: '2' } } };
    const second = thisSecond();
    const ended = (name: string, finishedAt: string | null) => ({
      name,
      image: 'x',
      imageID: '',
      ready: false,
      restartCount: 0,
      state: { terminated: { exitCode: 0, finishedAt } },
    });
    const conditions = [{ type: 'DisruptionTarget', status: 'True', lastTransitionTime: time(second) }];
    const statuses: Record<string, object> = {
      containers: { phase: 'Succeeded', containerStatuses: [ended('main', time(second))] },
      evicted: { phase: 'Failed', reason: 'Evicted', conditions },
      partly: {
        phase: 'Failed',
        reason: 'Evicted',
        containerStatuses: [ended('fetch', time(second - 3600)), ended('main', null)],
        conditions,
      },
      silent: { phase: 'Failed', reason: 'NodeLost' },
    };
    await createPod(client, 'init', {
      ...asks,
      spec: { initContainers: [{ name: 'first', image: 'example.com/x' }] },
    });
    await createPod(client, 'invalid', { metadata: { annotations: { [TTL]: 'soon' } } });
    for (const name of Object.keys(statuses)) await createPod(client, name, asks);
    await setPodStatus(client, 'init', {
      phase: 'Failed',
      initContainerStatuses: [ended('first', time(second))],
    });
    await setPodStatus(client, 'invalid', statuses.containers!);
    for (const [name, status] of Object.entries(statuses)) await setPodStatus(client, name, status);
    await within(15_000, async () => {
      for (const name of [...Object.keys(statuses), 'init']) await podIsGone(name);
    });
    expect(await client.get(Pod, key('invalid'))).toBeDefined();
    await within(5000, async () => {
      const said = await bed.kubectl(
        'get',
        'events',
        '-n',
        'default',
        '-o',
        'custom-columns=R:.reason,O:.involvedObject.name,N:.message',
      );
      expect(said).toMatch(/InvalidTTL\s+invalid/);
      expect(said).toMatch(/Deleted\s+silent\s+.*first seen finished/);
      expect(said).toMatch(/Deleted\s+evicted\s+.*(newest condition|first seen finished)/);
      expect(said).toMatch(
        /Deleted\s+partly\s+.*(newest condition|first seen finished); not every container reports its end/,
      );
      expect(said).toMatch(/Deleted\s+init\s+.*last init or ephemeral container/);
    });
  }, 30_000);
});

test('no request of the account was refused: the declared rights suffice', () => {
  const refused = audited().filter(
    ({ user, responseStatus }) => user.username === ACCOUNT && responseStatus!.code === 403,
  );
  const known = new Set(['clusterroles', 'clusterrolebindings', 'selfsubjectaccessreviews']);
  expect(refused.filter(({ objectRef }) => !known.has(objectRef?.resource ?? ''))).toEqual([]);
});

describe('beside the ttl-after-finished controller of Kubernetes', () => {
  let incumbent: Supervised;
  beforeAll(async () => {
    await Promise.all(processes.map((process) => process.end('SIGKILL')));
    incumbent = supervise(
      bed.bins['kube-controller-manager'],
      [
        `--kubeconfig=${bed.kubeconfig}`,
        '--controllers=ttl-after-finished-controller',
        '--leader-elect=false',
        '--secure-port=0',
        '--use-service-account-credentials=false',
      ],
      join(bed.directory, 'incumbent.log'),
    );
    await finishedJob(client, 'warm-up', 0);
    await within(30_000, () => isGone('warm-up'));
  });
  afterAll(() => incumbent?.kill());

  test('a dry run reports the competing controller', async () => {
    const dry = start('--dry-run', '--leader-elect=false');
    await dry.says(/controller started/);
    const names = ['a', 'b', 'c', 'd'].map((letter) => `beside-${letter}`);
    for (const name of names) await finishedJob(client, name, 3);
    await within(30_000, async () => void (await Promise.all(names.map(isGone))));
    await dry.says(/another controller deletes by the same TTLs/);
    await dry.end('SIGKILL');
  }, 60_000);

  test('everything is deleted, each deletion is counted by the controller that made it, and nothing fails', async () => {
    const both = start('--leader-elect=false', SERVING_METRICS);
    await both.says(/controller started/);
    const names = Array.from({ length: 12 }, (_, i) => `both-${i}`);
    for (const name of names) await finishedJob(client, name, 2);
    await within(15_000, async () => void (await Promise.all(names.map(isGone))));
    const { ours, others } = deletersIn(bed, 'both-');
    expect([...ours, ...others].sort()).toEqual([...names].sort());
    await within(10_000, async () =>
      expect(await metricsOf(both)).toContain('lapse_ttl_due{kind="Job"} 0\n'),
    );
    const metrics = await metricsOf(both);
    expect(sumOf(metrics, COUNTED)).toBe(ours.length);
    expect(sumOf(metrics, COUNTED) + others.length).toBe(names.length);
    expect(sumOf(metrics, COMPETING)).toBeLessThanOrEqual(others.length);
    if (ours.length === 0) await both.says(/another controller deletes by the same TTLs/);
    expect(metrics).toContain(NO_FAILED_PASSES);
    expect(both.out).not.toMatch(/"level":"error"|"message":"failed"/);
  }, 60_000);
});
