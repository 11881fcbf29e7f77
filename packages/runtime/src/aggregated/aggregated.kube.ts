// An aggregated API behind a real kube-apiserver: discovery by kubectl, RBAC, streaming, and refusal of callers without
// the front proxy's certificate. Also a webhook with a self-managed certificate.

import { readFileSync } from 'node:fs';
import { realClock } from '@lapse/base/clock';
import { silentLog } from '@lapse/base/log';
import { systemRandom } from '@lapse/base/random';
import { defineKind } from '@lapse/kube/api/kind';
import { ConfigMap } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { type Client, createClient, objectOf } from '@lapse/kube/client/client';
import { bearer, fixedCredentials } from '@lapse/kube/client/credentials';
import type { Transport } from '@lapse/kube/client/transport';
import { undiciTransport } from '@lapse/kube/client/undici';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { type Bed, startBed } from '../../../../test/kube/bed/bed.ts';
import { listen } from '../host/listen.ts';
import { openSelfManaged } from '../host/selfManaged.ts';
import { webhookHandler } from '../host/webhook.ts';
import { Registry } from '../metrics/registry.ts';
import {
  DEMO_API_SERVICE,
  DEMO_BASE,
  DEMO_PAGES,
  type DemoHost,
  demoRegistration,
  openDemoHost,
  readText,
} from './demo.testkit.ts';

const kindOf = (group: string, kind: string, namespaced: boolean, version = 'v1') =>
  defineKind<KubeObject>({ group, version, kind, resource: `${kind.toLowerCase()}s`, namespaced });
const Service = kindOf('', 'Service', true);
const ApiService = kindOf('apiregistration.k8s.io', 'APIService', false);
const Webhooks = kindOf('admissionregistration.k8s.io', 'ValidatingWebhookConfiguration', false);

let bed: Bed;
let admin: Client;
let host: DemoHost;
const wires: Transport[] = [];

function clientOf(token: string): Client {
  const transport = undiciTransport({
    server: bed.url,
    clock: realClock,
    tls: { ca: readFileSync(bed.caFile, 'utf8') },
  });
  wires.push(transport);
  const credentials = fixedCredentials({ headers: bearer(token) });
  return createClient({ transport, clock: realClock, random: systemRandom, credentials });
}

beforeAll(async () => {
  bed = await startBed();
  admin = clientOf(bed.adminToken);
  host = await openDemoHost(admin);
  const [service, apiService] = demoRegistration(host.port, host.authority);
  objectOf(await admin.create(Service, service));
  objectOf(await admin.create(ApiService, apiService));
  await vi.waitFor(
    async () => {
      const found = (await admin.get(ApiService, { name: DEMO_API_SERVICE })) as unknown as {
        status?: { conditions?: { type: string; status: string; message?: string }[] };
      };
      const available = found.status?.conditions?.find(({ type }) => type === 'Available');
      expect(available?.status, available?.message).toBe('True');
    },
    { timeout: 60_000, interval: 200 },
  );
});
afterAll(async () => {
  await Promise.all(wires.map((wire) => wire.close?.()));
  await host?.close();
  await bed?.stop();
});

test('kubectl discovers the aggregated API and is authenticated as its user', async () => {
  await vi.waitFor(async () => expect(await bed.kubectl('api-resources')).toContain('demo.lapse.dev/v1'), {
    timeout: 30_000,
    interval: 500,
  });
  const report = JSON.parse(await bed.kubectl('get', 'reports.demo.lapse.dev', 'first', '-o', 'json'));
  expect(report).toMatchObject({ metadata: { name: 'first' }, readBy: 'admin' });
});

test('RBAC denies access until it is granted', async () => {
  const nobody = clientOf(bed.nobodyToken);
  expect(await readText(nobody, `${DEMO_BASE}/first`)).toMatchObject({ status: 403 });
  await bed.kubectl('create', 'role', 'reader', '--verb=get', '--resource=reports.demo.lapse.dev');
  await bed.kubectl('create', 'rolebinding', 'reader', '--role=reader', '--user=nobody');
  await vi.waitFor(async () => expect((await readText(nobody, `${DEMO_BASE}/first`)).status).toBe(200), {
    timeout: 30_000,
    interval: 500,
  });
  expect((await readText(nobody, `${DEMO_BASE}/first`)).text).toContain('"readBy":"nobody"');
  expect(await readText(nobody, DEMO_BASE)).toMatchObject({ status: 403 });
});

test('the kube-apiserver streams bytes from the aggregated API', async () => {
  expect(await readText(admin, `${DEMO_BASE}/first/pages`)).toEqual({ status: 200, text: DEMO_PAGES });
});

test('a caller without the front proxy’s certificate is rejected despite its headers', async () => {
  expect(await host.requestWithoutCertificate()).toBe(401);
});

test('the kube-apiserver trusts a webhook with a self-managed certificate', async () => {
  const secret = { namespace: 'default', name: 'webhook' };
  const log = silentLog;
  const base = {
    client: admin,
    clock: realClock,
    log,
    secret,
    hosts: ['localhost'],
    configurations: ['demo'],
  };
  const registry = new Registry();
  const first = await openSelfManaged(base);
  const { handle, refuse } = webhookHandler({
    clock: realClock,
    log,
    registry,
    callers: { paths: first },
    functions: [
      {
        name: 'no-secrets',
        resources: ['configmaps'],
        phase: 'validating',
        review: ({ object }) =>
          object?.metadata.labels?.['bad'] === undefined
            ? { allowed: true }
            : { allowed: false, message: 'not like this' },
      },
    ],
  });
  const served = await listen({ handle, refuse, certificate: first, address: '127.0.0.1', port: 0 });
  objectOf(
    await admin.create(Webhooks, {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'demo' },
      webhooks: [
        {
          name: 'demo.lapse.dev',
          clientConfig: { url: `https://localhost:${served.port}/review/no-secrets` },
          rules: [
            { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] },
          ],
          objectSelector: { matchExpressions: [{ key: 'asked', operator: 'Exists' }] },
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
        },
      ],
    }),
  );
  await first.refresh();
  const labels = { asked: 'yes', bad: 'yes' };
  const create = () =>
    admin.create(ConfigMap, {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'bad', namespace: 'default', labels },
    });
  await vi.waitFor(async () => expect(create()).rejects.toThrow(/not like this/), {
    timeout: 20_000,
    interval: 300,
  });
  first.close();
  await served.close();
  await admin.delete(Webhooks, { name: 'demo' });
});
