import { seconds } from '@lapse/base/instant';
import { silentLog } from '@lapse/base/log';
import { VirtualClock } from '@lapse/base/virtualClock';
import type { HttpRequest } from '@lapse/kube/api/http';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { describe, expect, test } from 'vitest';
import type { Peer } from '../host/peer.ts';
import { reviewingAuthorizer } from './access.ts';
import { aggregatedHandler } from './aggregated.ts';
import type { AggregatedApi, AggregatedCall } from './api.ts';
import { parseRequest } from './path.ts';
import { authenticate, type FrontProxy, parseFrontProxy } from './requestHeader.ts';

const PUBLISHED = {
  'requestheader-client-ca-file': 'PEM',
  'requestheader-allowed-names': '["front-proxy"]',
  'requestheader-username-headers': '["X-Remote-User"]',
  'requestheader-group-headers': '["X-Remote-Group"]',
  'requestheader-extra-headers-prefix': '["X-Remote-Extra-"]',
};
const proxy = parseFrontProxy(PUBLISHED);
const peer = (headers: Record<string, string[]>, more: Partial<Peer> = {}): Peer => ({
  verified: true,
  commonName: 'front-proxy',
  headers: (name) => headers[name] ?? [],
  headerNames: () => Object.keys(headers),
  ...more,
});
const ALICE = { 'x-remote-user': ['alice'], 'x-remote-group': ['dev', 'a, system:masters'] };

describe('authenticate', () => {
  test.each<[string, Peer, FrontProxy, object | undefined]>([
    [
      "returns the user of the front proxy's headers",
      peer(ALICE),
      proxy,
      { name: 'alice', groups: ['dev', 'a, system:masters'], extra: {} },
    ],
    ['returns undefined without a certificate', peer(ALICE, { verified: false }), proxy, undefined],
    [
      'returns undefined for a certificate with another common name',
      peer(ALICE, { commonName: 'alice' }),
      proxy,
      undefined,
    ],
    [
      'accepts any common name if none is listed',
      peer(ALICE, { commonName: 'x' }),
      { ...proxy, allowedNames: [] },
      { name: 'alice' },
    ],
    ['returns undefined without a user header', peer({ 'x-remote-group': ['dev'] }), proxy, undefined],
    ['returns undefined for an empty user name', peer({ 'x-remote-user': [''] }), proxy, undefined],
    [
      'decodes the keys of extra headers',
      peer({ ...ALICE, 'x-remote-extra-example.com%2fscopes': ['a', 'b'], 'x-remote-extra-%zz': ['c'] }),
      proxy,
      { extra: { 'example.com/scopes': ['a', 'b'], '%zz': ['c'] } },
    ],
  ])('%s', (_rule, from, config, user) => {
    const found = authenticate(config, from);
    if (user === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(user);
  });

  test.each<[string, Record<string, string>, RegExp]>([
    ['no front proxy CA', {}, /has no requestheader-client-ca-file/],
    [
      'an empty front proxy CA',
      { ...PUBLISHED, 'requestheader-client-ca-file': ' ' },
      /has no requestheader-client-ca-file/,
    ],
    [
      'allowed names that are not a list',
      { ...PUBLISHED, 'requestheader-allowed-names': '{}' },
      /not a list/,
    ],
    [
      'header names that are not strings',
      { ...PUBLISHED, 'requestheader-username-headers': '[1]' },
      /not a list/,
    ],
  ])('rejects a cluster with %s', (_what, data, message) => {
    expect(() => parseFrontProxy(data)).toThrow(message);
  });
});

describe('parseRequest', () => {
  const at = { group: 'g', version: 'v1' };
  test.each<[string, string, object | undefined]>([
    ['GET', '/apis/g/v1/things', { verb: 'list', resource: 'things', ...at }],
    ['GET', '/apis/g/v1/things?watch=true', { verb: 'watch' }],
    ['GET', '/apis/g/v1/things/a?watch=true', { verb: 'get', name: 'a' }],
    [
      'GET',
      '/apis/g/v1/namespaces/n/things/a/log',
      { verb: 'get', namespace: 'n', name: 'a', subresource: 'log' },
    ],
    ['GET', '/apis/g/v1/namespaces/n', { verb: 'get', resource: 'namespaces', name: 'n' }],
    ['POST', '/apis/g/v1/namespaces/n/things', { verb: 'create', namespace: 'n' }],
    ['DELETE', '/apis/g/v1/things', { verb: 'deletecollection' }],
    ['DELETE', '/apis/g/v1/things/a', { verb: 'delete' }],
    ['PATCH', '/apis/g/v1/things/a%2Fb', { verb: 'patch', name: 'a/b' }],
    ['GET', '/apis/g/v1', { kind: 'path', path: '/apis/g/v1' }],
    ['GET', '/openapi/v2', { kind: 'path' }],
    ['GET', '/apis/g/v1//things', { kind: 'path' }],
    ['GET', '/apis/g/v1/things/%zz', undefined],
    ['CONNECT', '/apis/g/v1/things/a', undefined],
    ['constructor', '/apis/g/v1/things/a', undefined],
  ])('%s %s', (method, path, asked) => {
    const found = parseRequest(method, path);
    if (asked === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(asked);
  });
});

const calls: AggregatedCall[] = [];
const api: AggregatedApi = {
  group: 'demo.lapse.dev',
  version: 'v1',
  resources: [
    {
      resource: 'reports',
      kind: 'Report',
      namespaced: true,
      verbs: ['get', 'list'],
      shortNames: ['rep'],
      answer(call) {
        calls.push(call);
        if (call.name === 'none') throw new ApiError(404, 'NotFound', 'not found');
        if (call.name === 'broken') throw new Error('secret details');
        return { object: { kind: 'Report', name: call.name ?? '*', by: call.user.name } };
      },
    },
    {
      resource: 'reports',
      subresource: 'pages',
      kind: 'Report',
      namespaced: true,
      verbs: ['get'],
      answer: () => ({ contentType: 'text/plain', body: pages() }),
    },
  ],
};
async function* pages() {
  yield Buffer.from('one ');
  yield Buffer.from('two');
}

async function ask(
  method: string,
  path: string,
  options: { from?: Peer; allowed?: boolean; accept?: string } = {},
) {
  const handle = aggregatedHandler({
    api,
    frontProxy: () => proxy,
    log: silentLog,
    authorize: async () => ({ allowed: options.allowed ?? true, reason: 'because' }),
  });
  const headers: HttpRequest['headers'] = options.accept === undefined ? {} : { accept: options.accept };
  const response = await handle({ method, path, headers }, options.from ?? peer(ALICE));
  const chunks: Uint8Array[] = [];
  if (response.body instanceof Uint8Array) chunks.push(response.body);
  else for await (const chunk of response.body) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const type = String(response.headers['content-type']);
  return { status: response.status, type, text, json: type.includes('json') ? JSON.parse(text) : undefined };
}

describe('aggregated API handler', () => {
  const base = '/apis/demo.lapse.dev/v1';
  test.each<[string, string, number]>([
    ['GET', `${base}/namespaces/n/reports/a`, 200],
    ['GET', `${base}/namespaces/n/reports`, 200],
    ['GET', `${base}/reports`, 200],
    ['GET', `${base}/reports/a`, 404],
    ['GET', `${base}/namespaces/n/reports/none`, 404],
    ['GET', `${base}/namespaces/n/reports/broken`, 500],
    ['DELETE', `${base}/namespaces/n/reports/a`, 405],
    ['GET', `${base}/namespaces/n/reports/a/other`, 404],
    ['GET', `${base}/namespaces/n/things/a`, 404],
    ['GET', '/apis/demo.lapse.dev/v2/namespaces/n/reports/a', 404],
    ['GET', '/apis/other/v1/namespaces/n/reports/a', 404],
    ['GET', `${base}/namespaces/n/reports/%zz`, 400],
    ['POST', base, 405],
    ['GET', '/metrics', 404],
  ])('%s %s → %i', async (method, path, status) => {
    const answer = await ask(method, path);
    expect(answer.status).toBe(status);
    if (status >= 400) expect(answer.json).toMatchObject({ kind: 'Status', status: 'Failure', code: status });
    expect(answer.text).not.toContain('secret details');
  });

  test('passes the user and the request to the resource', async () => {
    calls.length = 0;
    expect((await ask('GET', `${base}/namespaces/n/reports/a?limit=5`)).json).toMatchObject({
      name: 'a',
      by: 'alice',
    });
    expect(calls[0]).toMatchObject({ verb: 'get', namespace: 'n', name: 'a' });
    expect(calls[0]!.query.get('limit')).toBe('5');
  });

  test('streams bytes as they arrive', async () => {
    const { text, type } = await ask('GET', `${base}/namespaces/n/reports/a/pages`);
    expect([text, type]).toEqual(['one two', 'text/plain']);
  });

  test('rejects unauthenticated and unauthorized callers', async () => {
    const unauthenticated = peer(ALICE, { verified: false });
    expect((await ask('GET', `${base}/reports`, { from: unauthenticated })).status).toBe(401);
    expect((await ask('GET', '/healthz', { from: unauthenticated })).status).toBe(200);
    calls.length = 0;
    const refused = await ask('GET', `${base}/namespaces/n/reports/a`, { allowed: false });
    expect(refused.json).toMatchObject({
      code: 403,
      reason: 'Forbidden',
      message:
        'reports.demo.lapse.dev "a" is forbidden: User "alice" cannot get resource "reports" in API group "demo.lapse.dev" in the namespace "n": because',
    });
    expect((await ask('GET', '/apis', { allowed: false })).status).toBe(403);
    expect(calls).toEqual([]);
  });

  test('serves discovery documents in all formats', async () => {
    expect((await ask('GET', '/apis')).json.groups[0].name).toBe('demo.lapse.dev');
    expect((await ask('GET', '/apis/demo.lapse.dev')).json.kind).toBe('APIGroup');
    const { resources } = (await ask('GET', `${base}/`)).json;
    expect(resources.map((r: { name: string }) => r.name)).toEqual(['reports', 'reports/pages']);
    const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    const all = await ask('GET', '/apis', { accept });
    expect(all.type).toBe(accept);
    expect(all.json.items[0].versions[0].resources).toMatchObject([
      {
        resource: 'reports',
        scope: 'Namespaced',
        verbs: ['get', 'list'],
        subresources: [{ subresource: 'pages' }],
      },
    ]);
  });
});

test('the authorizer creates one SubjectAccessReview per user and request in ten seconds', async () => {
  const clock = new VirtualClock();
  const asked: unknown[] = [];
  const client = {
    create: async (_kind: unknown, review: { spec: unknown }) => {
      asked.push(review.spec);
      return { kind: 'created', object: { ...review, status: { allowed: true, denied: asked.length > 2 } } };
    },
  } as unknown as Client;
  const authorize = reviewingAuthorizer(client, clock);
  const user = { name: 'alice', groups: ['dev'], extra: {} };
  const get = parseRequest('GET', '/apis/g/v1/namespaces/n/things/a')!;
  expect((await authorize(user, get, 'GET')).allowed).toBe(true);
  await authorize(user, get, 'GET');
  expect(asked).toEqual([
    {
      user: 'alice',
      groups: ['dev'],
      extra: {},
      resourceAttributes: {
        verb: 'get',
        group: 'g',
        version: 'v1',
        resource: 'things',
        namespace: 'n',
        name: 'a',
      },
    },
  ]);
  await authorize({ ...user, name: 'bob' }, get, 'GET');
  await clock.advance(seconds(10));
  expect((await authorize(user, get, 'GET')).allowed).toBe(false);
  expect(asked).toHaveLength(3);
});
