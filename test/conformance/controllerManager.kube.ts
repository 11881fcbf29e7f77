// The unmodified kube-controller-manager on the embedded server: its Job, TTL, garbage collector and namespace
// controllers work for two minutes (MINUTES: another duration) without logging a problem.

import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { JsonObject } from '@lapse/kube/api/json';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ensureBinaries } from '../kube/bed/build.ts';
import { type Supervised, supervise } from '../kube/bed/processes.ts';
import { type EmbeddedSocket, startEmbeddedSocket } from './embeddedSocket.ts';
import { type Ask, asker } from './model/ask.ts';

const MINUTES = Number(process.env.MINUTES ?? 2);
const CONTROLLERS = ['garbage-collector', 'namespace', 'job', 'ttl-after-finished'].map(
  (c) => `${c}-controller`,
);
const JOBS = 4;
/**
 * What a slow machine achieves; an idle one achieves four times as much. Each round sees all of its own objects
 * collected.
 */
const LEAST_ROUNDS_PER_MINUTE = 2;

let embedded: EmbeddedSocket;
let manager: Supervised;
let ask: Ask;

beforeAll(async () => {
  const bins = await ensureBinaries();
  embedded = await startEmbeddedSocket();
  ask = asker(embedded.target);
  const { kubeconfig } = embedded;
  const as = ['kubeconfig', 'authentication-kubeconfig', 'authorization-kubeconfig'];
  manager = supervise(
    bins['kube-controller-manager'],
    [
      ...as.map((flag) => `--${flag}=${kubeconfig}`),
      '--kube-api-content-type=application/json',
      '--leader-elect=false',
      '--secure-port=0',
      `--controllers=${CONTROLLERS.join(',')}`,
    ],
    join(dirname(kubeconfig), 'kube-controller-manager.log'),
  );
});
afterAll(async () => {
  await manager?.kill();
  await embedded?.close();
});

const job = (name: string): JsonObject => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name },
  spec: {
    ttlSecondsAfterFinished: 1,
    template: { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] } },
  },
});

const succeeded: JsonObject = {
  status: {
    phase: 'Succeeded',
    containerStatuses: [
      {
        name: 'main',
        image: 'busybox',
        imageID: 'busybox',
        ready: false,
        restartCount: 0,
        state: { terminated: { exitCode: 0 } },
      },
    ],
  },
};

const items = async (path: string): Promise<{ metadata: { name: string } }[]> =>
  ((await ask('GET', path)).body as unknown as { items: { metadata: { name: string } }[] }).items;

const eventually = (check: () => Promise<void>) => vi.waitFor(check, { timeout: 60_000, interval: 200 });

/**
 * The life of a namespace: Jobs run, finish and expire, dependants are deleted with their owner, and the namespace with
 * the rest.
 */
async function runRound(namespace: string): Promise<void> {
  const here = `/api/v1/namespaces/${namespace}`;
  const jobs = `/apis/batch/v1/namespaces/${namespace}/jobs`;
  await ask('POST', '/api/v1/namespaces', {
    apiVersion: 'v1',
    kind: 'Namespace',
    metadata: { name: namespace },
  });
  for (let i = 0; i < JOBS; i++) await ask('POST', jobs, job(`job-${i}`));
  await eventually(async () => expect(await items(`${here}/pods`)).toHaveLength(JOBS));
  for (const { metadata } of await items(`${here}/pods`))
    await ask('PATCH', `${here}/pods/${metadata.name}/status`, succeeded, 'application/merge-patch+json');
  const map = { apiVersion: 'v1', kind: 'ConfigMap' };
  const owner = (await ask('POST', `${here}/configmaps`, { ...map, metadata: { name: 'owner' } }))
    .body as JsonObject;
  const { uid } = owner['metadata'] as JsonObject;
  const ownerReferences = [{ apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: uid! }];
  await ask('POST', `${here}/configmaps`, { ...map, metadata: { name: 'owned', ownerReferences } });
  await ask('POST', `${here}/configmaps`, { ...map, metadata: { name: 'free' } });
  await ask('DELETE', `${here}/configmaps/owner`);
  await eventually(async () => {
    expect((await items(`${here}/configmaps`)).map(({ metadata }) => metadata.name)).toEqual(['free']);
    expect(await items(jobs)).toEqual([]);
    expect(await items(`${here}/pods`)).toEqual([]);
  });
  await ask('DELETE', here);
  await eventually(async () => expect((await ask('GET', here)).status).toBe(404));
}

test('Jobs finish and expire, dependants are collected, namespaces are finalised, no problem is logged', async () => {
  const end = Date.now() + MINUTES * 60_000;
  let rounds = 0;
  do await runRound(`round-${rounds++}`);
  while (Date.now() < end);
  expect(rounds).toBeGreaterThanOrEqual(MINUTES * LEAST_ROUNDS_PER_MINUTE);
  const log = readFileSync(manager.logFile, 'utf8').split('\n');
  const complaints = log.filter(
    (line) => /^[EF]\d{4}/.test(line) && !line.includes('manifest file is empty'),
  );
  expect(complaints).toEqual([]);
  expect(manager.isRunning()).toBe(true);
  expect(embedded.embedded.unexpected).toEqual([]);
  process.stdout.write(
    `kube-controller-manager: ${rounds} namespaces, ${rounds * JOBS} Jobs finished and expired, ${rounds} dependants collected\n`,
  );
});
