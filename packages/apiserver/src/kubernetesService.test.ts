// The Service of the server itself, with its Endpoints and EndpointSlice.

import type { JsonObject } from '@lapse/kube/api/json';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startServer, type TestServer } from './crd/testkit.ts';

const SERVICE = '/api/v1/namespaces/default/services/kubernetes';
const ENDPOINTS = '/api/v1/namespaces/default/endpoints/kubernetes';
const SLICE = '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices/kubernetes';

let api: TestServer;
beforeEach(async () => {
  api = await startServer();
});
afterEach(async () => {
  expect(api.unexpected).toEqual([]);
  await api.close();
});

const advertise = (port = 6443) => api.server.advertise({ address: '192.0.2.1', port });
const uidOf = (body: JsonObject) => (body['metadata'] as JsonObject)['uid'];

test('a server that does not listen has no Service', async () => {
  expect((await api.get(SERVICE)).status).toBe(404);
});

test('equals that of kube-apiserver', async () => {
  await advertise();
  expect((await api.get(SERVICE)).body).toMatchObject({
    metadata: { labels: { component: 'apiserver', provider: 'kubernetes' } },
    spec: {
      type: 'ClusterIP',
      clusterIP: '10.0.0.1',
      ports: [{ name: 'https', protocol: 'TCP', port: 443, targetPort: 6443 }],
    },
  });
  expect((await api.get(ENDPOINTS)).body).toMatchObject({
    metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ name: 'https', port: 6443, protocol: 'TCP' }] }],
  });
  expect((await api.get(SLICE)).body).toMatchObject({
    metadata: { labels: { 'kubernetes.io/service-name': 'kubernetes' }, generation: 1 },
    addressType: 'IPv4',
    endpoints: [{ addresses: ['192.0.2.1'], conditions: { ready: true } }],
  });
});

test.each([SERVICE, ENDPOINTS, SLICE])('%s is restored when a client deletes it', async (path) => {
  await advertise();
  const before = uidOf((await api.get(path)).body);
  await api.delete(path);
  await api.settle();
  const after = uidOf((await api.get(path)).body);
  expect(after).toMatch(/^[0-9a-f-]{36}$/);
  expect(after).not.toBe(before);
});

test('restores changed endpoints and keeps labels that a client added', async () => {
  await advertise();
  await api.patch(ENDPOINTS, { metadata: { labels: { team: 'a' } }, subsets: null });
  await api.settle();
  expect((await api.get(ENDPOINTS)).body).toMatchObject({
    metadata: { labels: { team: 'a', 'endpointslice.kubernetes.io/skip-mirror': 'true' } },
    subsets: [{ addresses: [{ ip: '192.0.2.1' }] }],
  });
});

test('a client cannot take the address of the server', async () => {
  await advertise();
  const service = { metadata: { name: 'other' }, spec: { clusterIP: '10.0.0.1', ports: [{ port: 80 }] } };
  const { status, body } = await api.post('/api/v1/namespaces/default/services', service);
  expect([status, body['message']]).toEqual([422, expect.stringContaining('already allocated')]);
});
