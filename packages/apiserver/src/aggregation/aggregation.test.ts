import type { JsonObject } from '@lapse/kube/api/json';
import { expect, test } from 'vitest';
import { tokenAuthenticator } from '../authn/auth.ts';
import {
  apiService,
  BASE,
  condition,
  DOCUMENT,
  demo,
  RESOURCES,
  register,
  SERVICES,
  service,
  settle,
  start,
} from './testkit.ts';

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

const USERS = new Map([
  ['root', { username: 'root', groups: ['system:masters', 'system:authenticated'] }],
  [
    'jo',
    { username: 'jo', uid: '7', groups: ['a, b', 'system:authenticated'], extra: { 'Ex.com/K': ['v'] } },
  ],
]);

test('checks a registered API, marks it available and proxies requests to it', async () => {
  const world = await start();
  const made = await register(world);
  expect(made.status).toBe(201);
  expect(made.body).toMatchObject({ spec: { service: { port: 443 } }, status: {} });
  expect(await condition(world)).toEqual({ status: 'True', reason: 'Passed', message: 'all checks passed' });
  const answer = await world.get(`${BASE}/namespaces/n/reports/r?pretty=true`);
  expect(answer).toMatchObject({ status: 200, text: '{"kind":"Report","metadata":{"name":"r"}}' });
  expect(world.calls.at(-1)).toMatchObject({
    url: `https://demo.internal:443${BASE}/namespaces/n/reports/r?pretty=true`,
    serverName: 'demo.apis.svc',
  });
  expect(await world.get(`${BASE}/other`)).toMatchObject({ status: 404, body: { message: 'theirs' } });
});

test('both forms of discovery list an aggregated API by its priority', async () => {
  const world = await start();
  await register(world, { groupPriorityMinimum: 17450 });
  const legacy = (await world.get('/apis')).body['groups'] as JsonObject[];
  const names = legacy.map((group) => group['name']);
  expect(names.indexOf('demo.example.com')).toBe(names.indexOf('batch') - 1);
  expect((await world.get('/apis/demo.example.com')).body).toMatchObject({
    kind: 'APIGroup',
    preferredVersion: { groupVersion: 'demo.example.com/v1' },
  });
  expect((await world.get(BASE)).body).toMatchObject({ kind: 'APIResourceList', resources: RESOURCES });
  const { body, headers } = await world.get('/apis', { accept: V2 });
  const items = body['items'] as { metadata: JsonObject; versions: JsonObject[] }[];
  const kind = { group: '', version: '', kind: 'Report' };
  expect(items.find(({ metadata }) => metadata['name'] === 'demo.example.com')!.versions).toEqual([
    {
      version: 'v1',
      freshness: 'Current',
      resources: [
        {
          resource: 'reports',
          scope: 'Namespaced',
          singularResource: 'report',
          verbs: ['get'],
          responseKind: kind,
          subresources: [{ subresource: 'pages', responseKind: kind, verbs: ['get'] }],
        },
      ],
    },
  ]);
  expect((await world.get('/')).body['paths']).toContain(BASE);
  await world.ask('DELETE', `${SERVICES}/v1.demo.example.com`);
  const after = await world.get('/apis', { accept: V2 });
  expect(after.text).not.toContain('demo.example.com');
  expect(after.headers['etag']).not.toBe(headers['etag']);
  expect((await world.get(BASE)).status).toBe(404);
});

test('lists and proxies the OpenAPI document of an aggregated API, but not its entries for other APIs', async () => {
  const world = await start();
  expect((await world.get(DOCUMENT)).status).toBe(404);
  await register(world);
  const { paths } = JSON.parse((await world.get('/openapi/v3')).text);
  expect(paths['apis/demo.example.com/v1']).toEqual({ serverRelativeURL: `${DOCUMENT}?hash=1` });
  expect(paths['api/v1'].serverRelativeURL).not.toBe('/mine');
  expect((await world.get(`${DOCUMENT}?hash=1`)).body).toEqual({ openapi: '3.0.0' });
});

test('an aggregated API that stops responding is stale and 503 until it responds again', async () => {
  const world = await start();
  await register(world);
  const gone = Object.assign(new Error('connect'), { code: 'ECONNREFUSED', address: '10.0.0.9', port: 443 });
  world.world.response = () => {
    throw gone;
  };
  // The failure is not detected yet.
  const unreachable = 'error trying to reach service: dial tcp 10.0.0.9:443: connect: connection refused\n';
  expect(await world.get(`${BASE}/reports`)).toMatchObject({ status: 503, text: unreachable });
  await world.wait(30);
  expect(await condition(world)).toEqual({
    status: 'False',
    reason: 'FailedDiscoveryCheck',
    message: `failing or missing response from https://demo.internal:443${BASE}: Get "https://demo.internal:443${BASE}": dial tcp 10.0.0.9:443: connect: connection refused`,
  });
  const refused = await world.get(`${BASE}/reports`);
  expect(refused).toMatchObject({ status: 503, text: 'service unavailable\n' });
  expect(refused.headers['content-type']).toBe('text/plain; charset=utf-8');
  expect((await world.get('/apis', { accept: V2 })).text).toContain('"freshness":"Stale"');
  world.world.response = demo;
  await world.wait(30);
  expect(await condition(world)).toMatchObject({ status: 'True', reason: 'Passed' });
  expect((await world.get('/apis', { accept: V2 })).text).not.toContain('Stale');
});

const PORTS = [{ name: 'https', port: 443 }];
const slice = (endpoints: JsonObject[], ports: JsonObject[]) => ({
  apiVersion: 'discovery.k8s.io/v1',
  kind: 'EndpointSlice',
  metadata: { name: 'demo-1', namespace: 'apis', labels: { 'kubernetes.io/service-name': 'demo' } },
  addressType: 'IPv4',
  endpoints,
  ports,
});
const SLICES = '/apis/discovery.k8s.io/v1/namespaces/apis/endpointslices';

test('the Available condition names the missing Service, port or endpoints', async () => {
  const world = await start();
  await register(world, {}, null);
  const what = 'service/demo in "apis"';
  expect(await condition(world)).toMatchObject({
    status: 'False',
    reason: 'ServiceNotFound',
    message: `${what} is not present`,
  });
  expect((await world.get(BASE)).text).toBe('service unavailable\n');
  await world.ask('POST', '/api/v1/namespaces/apis/services', service({ ports: [{ port: 80 }] }));
  await settle();
  const wrong = `${what} is not listening on port 443`;
  expect(await condition(world)).toMatchObject({ reason: 'ServicePortError', message: wrong });
  const { body } = await world.get('/api/v1/namespaces/apis/services/demo');
  const spec = { ...(body['spec'] as JsonObject), ports: PORTS };
  expect((await world.ask('PUT', '/api/v1/namespaces/apis/services/demo', { ...body, spec })).status).toBe(
    200,
  );
  await settle();
  const none = `cannot find endpointslices for ${what}`;
  expect(await condition(world)).toMatchObject({ reason: 'EndpointsNotFound', message: none });
  const unready = [{ addresses: ['10.0.0.1'], conditions: { ready: false } }];
  const made = await world.ask('POST', SLICES, slice(unready, [{ name: 'https', port: 8443 }]));
  expect(made.status).toBe(201);
  await settle();
  expect(await condition(world)).toMatchObject({
    reason: 'MissingEndpoints',
    message: `endpointslices for ${what} have no addresses with port name "https"`,
  });
  const ready = [...unready, { addresses: ['10.0.0.2'] }];
  await world.ask('PUT', `${SLICES}/demo-1`, slice(ready, [{ name: 'https', port: 8443 }]));
  await settle();
  expect(await condition(world)).toMatchObject({ status: 'True' });
  expect(world.calls.at(-1)!.url).toMatch(/^https:\/\/10\.0\.0\.2:8443\//);
});

test("sends the authenticated user in headers, ignores the client's own identity headers, and drops its credentials", async () => {
  const world = await start(demo, { authenticator: tokenAuthenticator(USERS) });
  await register(world);
  await world.get(`${BASE}/reports/r`, {
    authorization: 'Bearer jo',
    'x-remote-user': 'root',
    'x-remote-group': 'system:masters',
    'x-remote-extra-scopes': 'all',
    connection: 'keep-alive, x-secret',
    'x-secret': '1',
    'user-agent': 'me',
  });
  const { headers } = world.calls.at(-1)!;
  expect(headers).toMatchObject({
    'x-remote-user': 'jo',
    'x-remote-uid': '7',
    'x-remote-group': ['a, b', 'system:authenticated'],
    'x-remote-extra-ex.com%2fk': ['v'],
    'user-agent': 'me',
  });
  const leaked = ['authorization', 'connection', 'x-secret', 'x-remote-extra-scopes'];
  expect(Object.keys(headers).filter((name) => leaked.includes(name))).toEqual([]);
  await world.get(`${BASE}/reports/r`, { 'impersonate-user': 'sam' });
  expect(world.calls.at(-1)!.headers).toMatchObject({
    'x-remote-user': 'sam',
    'x-remote-group': ['system:authenticated'],
  });
  expect(world.calls.at(-1)!.headers).not.toHaveProperty('impersonate-user');
});

test('authorizes a request before it calls the aggregated API', async () => {
  const world = await start(demo, { authenticator: tokenAuthenticator(USERS), authorization: 'RBAC' });
  await register(world);
  const before = world.calls.length;
  const refused = await world.get(`${BASE}/namespaces/n/reports/r`, { authorization: 'Bearer jo' });
  expect(refused.status).toBe(403);
  expect(refused.body['message']).toBe(
    'reports.demo.example.com "r" is forbidden: User "jo" cannot get resource "reports" in API group "demo.example.com" in the namespace "n"',
  );
  expect(world.calls.length).toBe(before);
});

test.each([
  `${BASE}/namespaces/n/reports/../../../secrets`,
  `${BASE}/namespaces/n/reports/%2e%2E/x`,
  `${BASE}/namespaces/n/reports/.`,
  `${BASE}/namespaces/n/reports/a\\..\\b`,
  `${BASE}/namespaces/n/reports/r#x`,
])('rejects a path that would be normalized to another one: %s', async (path) => {
  const world = await start();
  await register(world);
  const before = world.calls.length;
  expect((await world.get(path)).status).toBe(400);
  expect(world.calls.length).toBe(before);
});

test('a version with a dot is not mistaken for a group', async () => {
  const world = await start();
  await register(world);
  const before = world.calls.length;
  expect((await world.get('/apis/example.com/v1.demo/reports')).status).toBe(404);
  expect(world.calls.length).toBe(before);
});

test.each([
  [BASE, 5000],
  [`${BASE}/reports/r`, 60_000],
  [`${BASE}/reports?watch=true`, undefined],
])('limits the response time except for watches: %s', async (path, timeout) => {
  const world = await start();
  await register(world);
  await world.get(path);
  expect(world.calls.at(-1)!.timeout).toBe(timeout);
});

test('does not forward a redirect', async () => {
  const world = await start();
  await register(world);
  const answer = await world.get(`${BASE}/away`);
  expect(answer).toMatchObject({
    status: 502,
    text: 'the backend attempted to redirect this request, which is not permitted',
  });
  expect(answer.headers).not.toHaveProperty('location');
});

test('streams a watch unchanged and ends it when the client disconnects', async () => {
  let asked = 0;
  let ended = false;
  async function* endless() {
    try {
      for (;;) yield Buffer.from(`${asked++}\n`);
    } finally {
      ended = true;
    }
  }
  const headers = { 'content-type': 'application/json', 'access-control-allow-origin': '*' };
  const world = await start((request) =>
    request.path.endsWith('/stream') ? { status: 200, headers, body: endless() } : demo(request),
  );
  await register(world);
  const answer = await world.open(`${BASE}/stream`);
  expect(answer.headers).not.toHaveProperty('content-encoding');
  expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
  const seen: string[] = [];
  for await (const chunk of answer.body as AsyncIterable<Uint8Array>) {
    seen.push(Buffer.from(chunk).toString());
    if (seen.length === 3) break;
  }
  expect(seen).toEqual(['0\n', '1\n', '2\n']);
  expect(asked).toBe(3);
  expect(ended).toBe(true);
});

test.each([
  ['a name that does not match its group version', {}, 'v2.demo.example.com', 'metadata.name'],
  ['no priority', { groupPriorityMinimum: 0 }, undefined, 'spec.groupPriorityMinimum'],
  ['a priority above the maximum', { versionPriority: 1001 }, undefined, 'spec.versionPriority'],
  [
    'an invalid port',
    { service: { name: 'a', namespace: 'b', port: 70_000 } },
    undefined,
    'spec.service.port',
  ],
  ['a service without a name', { service: { namespace: 'b' } }, undefined, 'spec.service.name'],
  [
    'both insecureSkipTLSVerify and a caBundle',
    { insecureSkipTLSVerify: true, caBundle: 'YQ==' },
    undefined,
    'spec.insecureSkipTLSVerify',
  ],
] as const)('rejects an APIService with %s', async (_, spec, name, field) => {
  const world = await start();
  const { status, body } = await world.ask('POST', SERVICES, apiService(spec, name));
  expect(status).toBe(422);
  const { causes } = body['details'] as { causes: { field: string }[] };
  expect(causes.map((cause) => cause.field)).toEqual([field]);
});

test('accepts invalid discovery responses of an aggregated API', async () => {
  const world = await start(() => ({
    status: 200,
    headers: {},
    body: Buffer.from('{"resources":[7,{"name":3}]'),
  }));
  await register(world);
  expect(await condition(world)).toMatchObject({ reason: 'Passed' });
  expect((await world.get('/apis', { accept: V2 })).status).toBe(200);
});

test('publishes the front proxy CA in a ConfigMap and uses its certificate', async () => {
  const certificate = { cert: 'C', key: 'K' };
  const world = await start(demo, { frontProxy: { authority: 'PEM', name: 'proxy', certificate } });
  const path = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
  expect((await world.get(path)).body['data']).toEqual({
    'requestheader-allowed-names': '["proxy"]',
    'requestheader-client-ca-file': 'PEM',
    'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
    'requestheader-group-headers': '["X-Remote-Group"]',
    'requestheader-uid-headers': '["X-Remote-Uid"]',
    'requestheader-username-headers': '["X-Remote-User"]',
  });
  await register(world, { caBundle: Buffer.from('CA').toString('base64') });
  expect(world.calls.at(-1)).toMatchObject({ certificate, ca: 'CA' });
});
