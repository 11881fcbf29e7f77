// How the reference to a Service is resolved to an address.

import type { JsonObject } from '@lapse/kube/api/json';
import { expect, test } from 'vitest';
import { startServer } from '../../crd/testkit.ts';
import type { OutboundRequest } from './outbound.ts';

const NS = '/api/v1/namespaces/default';
const PORTS = [
  { name: 'metrics', port: 8080, targetPort: 8080 },
  { name: 'hook', port: 443, targetPort: 9443 },
];
const TARGETS = [
  { name: 'metrics', port: 8080 },
  { name: 'hook', port: 9443 },
];
const service = (spec: JsonObject): [string, JsonObject] => [
  `${NS}/services`,
  { apiVersion: 'v1', kind: 'Service', metadata: { name: 'svc' }, spec },
];
const endpoints: [string, JsonObject] = [
  `${NS}/endpoints`,
  {
    apiVersion: 'v1',
    kind: 'Endpoints',
    metadata: { name: 'svc' },
    subsets: [{ addresses: [{ ip: '10.0.0.1' }], ports: TARGETS }],
  },
];
const slice: [string, JsonObject] = [
  '/apis/discovery.k8s.io/v1/namespaces/default/endpointslices',
  {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name: 'svc-1', labels: { 'kubernetes.io/service-name': 'svc' } },
    addressType: 'IPv4',
    endpoints: [
      { addresses: ['10.0.0.8'], conditions: { ready: false } },
      { addresses: ['10.0.0.9'], conditions: { ready: true } },
    ],
    ports: TARGETS,
  },
];

/** The address where a webhook of this Service is called, or the error. */
async function called(reference: JsonObject, ...objects: [string, JsonObject][]): Promise<string> {
  const calls: OutboundRequest[] = [];
  const api = await startServer({
    outbound: async (request) => {
      calls.push(request);
      throw new Error('nobody there');
    },
  });
  for (const [path, object] of objects) expect((await api.post(path, object)).status).toBe(201);
  await api.post('/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations', {
    metadata: { name: 'c' },
    webhooks: [
      {
        name: 'h.example.com',
        admissionReviewVersions: ['v1'],
        sideEffects: 'None',
        clientConfig: { service: { namespace: 'default', name: 'svc', path: '/x', ...reference } },
        rules: [{ operations: ['*'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] }],
      },
    ],
  });
  const { body } = await api.post(`${NS}/secrets`, { metadata: { name: 's' } });
  await api.close();
  return calls[0]?.url ?? String(body['message']).replace(/^.*: /, '');
}

test.each<[string, string, JsonObject, ...[string, JsonObject][]]>([
  [
    'the port with the name of the Service port',
    'https://10.0.0.1:9443/x?timeout=10s',
    {},
    service({ ports: PORTS }),
    endpoints,
  ],
  [
    'a ready endpoint of a slice',
    'https://10.0.0.9:9443/x?timeout=10s',
    {},
    service({ ports: PORTS }),
    slice,
  ],
  [
    'the requested port',
    'https://10.0.0.1:8080/x?timeout=10s',
    { port: 8080 },
    service({ ports: PORTS }),
    endpoints,
  ],
  [
    'the host of an ExternalName',
    'https://elsewhere.example.com:443/x?timeout=10s',
    {},
    service({ type: 'ExternalName', externalName: 'elsewhere.example.com' }),
  ],
  [
    'an error for an unknown port',
    'no service port 8443 found for service "svc"',
    { port: 8443 },
    service({ ports: PORTS }),
    endpoints,
  ],
  ['an error without endpoints', 'no endpoints available for service "svc"', {}, service({ ports: PORTS })],
  ['an error for a missing Service', 'service "svc" not found', {}],
])('a Service reference resolves to %s', async (_, expected, reference, ...objects) => {
  expect(await called(reference, ...objects)).toBe(expected);
});
