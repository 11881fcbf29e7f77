// `lapse run` as a process against a real API server: it stops during its work, in order and in time.

import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { realClock } from '@lapse/base/clock';
import { systemRandom } from '@lapse/base/random';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import { type Client, createClient } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import { undiciTransport } from '@lapse/kube/client/undici';
import { Lease } from '@lapse/runtime/election/lease';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import { LapseProcess } from '../cmd/lapseProcess.ts';
import { type Bed, startBed } from './bed/bed.ts';

const example = join(import.meta.dirname, '../../examples/00-first-controller/expiring-config-maps.ts');
const running: LapseProcess[] = [];
let bed: Bed;
let admin: Client;

beforeAll(async () => {
  bed = await startBed({ auditLog: true });
  admin = createClient({
    transport: undiciTransport({
      server: bed.url,
      clock: realClock,
      tls: { ca: readFileSync(bed.caFile, 'utf8') },
    }),
    clock: realClock,
    random: systemRandom,
    credentials: fixedCredentials({ headers: bearer(bed.adminToken) }),
  });
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((one) => one.end('SIGKILL')));
});
afterAll(() => bed?.stop());

function lapse(): LapseProcess {
  const made = new LapseProcess(['run', '--module', example, '--metrics-bind-address', '127.0.0.1:0'], {
    KUBECONFIG: bed.kubeconfig,
  });
  running.push(made);
  return made;
}

const left = async () =>
  (await admin.list(ConfigMap, { namespace: 'default', labelSelector: 'burst=yes' })).items.length;

const create = (count: number) =>
  Promise.all(
    Array.from({ length: count }, (_, i) =>
      admin.create(ConfigMap, {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: {
          name: `x-${i}`,
          namespace: 'default',
          labels: { burst: 'yes' },
          annotations: { 'example.com/expires-after': '0s' },
        },
      }),
    ),
  );

const read = (url: string) =>
  new Promise<string>((resolve, reject) => {
    get(url, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += chunk));
      response.on('end', () => resolve(text));
    }).on('error', reject);
  });

test('SIGTERM during a burst: the process finishes reconciles in progress and releases the lease, and the next one continues', async () => {
  const first = lapse();
  const [, port] = await first.says(/"serving \/healthz.*?"port":(\d+)/);
  await first.says(/"controller started"/);
  const metrics = await read(`http://127.0.0.1:${port}/metrics`);
  for (const name of [
    'controller_runtime_reconcile_total{controller="expiring-config-maps",result="error"} 0',
    'controller_runtime_active_workers{controller="expiring-config-maps"} 0',
    'workqueue_depth{name="expiring-config-maps"} 0',
    'workqueue_retries_total{name="expiring-config-maps"} 0',
    'leader_election_master_status{name="lapse"} 1',
    'rest_client_requests_total{code="200",method="DELETE"} 0',
  ])
    expect(metrics).toContain(name);
  void create(1000);
  await vi.waitFor(
    async () => expect(await read(`http://127.0.0.1:${port}/metrics`)).toMatch(/outcome="deleted"\} [1-9]/),
    { timeout: 20_000, interval: 20 },
  );
  const asked = Date.now();
  expect(await first.end('SIGTERM')).toBe(0);
  expect(Date.now() - asked).toBeLessThan(10_000);
  expect(first.out).toMatch(/"stopped","finished":true/);
  const lease = await admin.get(Lease, { namespace: 'default', name: 'lapse' });
  expect(lease?.spec?.holderIdentity ?? '').toBe('');
  const second = lapse();
  await second.says(/"leading"/);
  await vi.waitFor(async () => expect(await left()).toBe(0), { timeout: 30_000, interval: 100 });
  expect(await second.end()).toBe(0);
  // Each object was deleted once: a DELETE that had been answered was not repeated.
  const deletes = readFileSync(bed.auditLogFile!, 'utf8')
    .split('\n')
    .filter((line) => line.includes('"stage":"ResponseComplete"') && line.includes('"verb":"delete"'))
    .map((line) => JSON.parse(line))
    .filter((e) => e.objectRef?.resource === 'configmaps' && e.responseStatus?.code === 200);
  expect(deletes).toHaveLength(1000);
});
