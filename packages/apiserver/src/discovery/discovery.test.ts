import type { JsonObject } from '@lapse/kube/api/json';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CRDS_PATH, crd, GROUP, startServer, type TestServer, version } from '../crd/testkit.ts';
import { servedData } from '../data/tables.ts';
import { storageVersionHash } from './storageVersionHash.ts';

const V2 = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';

let api: TestServer;
beforeAll(async () => {
  api = await startServer();
  const names = { plural: 'widgets', kind: 'Widget', shortNames: ['wg'], categories: ['all'] };
  const schema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const subresources = {
    status: {},
    scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' },
  };
  const versions = [
    version('v1beta1', schema),
    version('v1', schema, { storage: true, subresources }),
    version('v2alpha1', schema),
  ];
  await api.post(CRDS_PATH, crd({ versions, more: { names } }));
  await api.settle();
});
afterAll(() => api.close());

const get = (path: string, accept?: string) => api.ask('GET', path, undefined, accept ? { accept } : {});
const list = (value: unknown) => value as JsonObject[];

describe('groups', () => {
  test('are in the order of kube-apiserver, custom groups last', async () => {
    const { body } = await get('/apis');
    const names = list(body['groups']).map((group) => group['name']);
    expect(names.at(-1)).toBe(GROUP);
    const recorded = servedData().groups.map((group) => group.name);
    expect(names.slice(0, -1)).toEqual(recorded.filter((name) => names.includes(name)));
  });

  test('prefer the newest stable version', async () => {
    const { body } = await get(`/apis/${GROUP}`);
    expect(list(body['versions']).map((v) => v['version'])).toEqual(['v1', 'v1beta1', 'v2alpha1']);
    expect(body['preferredVersion']).toEqual({ groupVersion: `${GROUP}/v1`, version: 'v1' });
  });

  test('do not include groups that are not served', async () => {
    const { body } = await get('/apis');
    for (const group of list(body['groups'])) {
      const answer = await get(`/apis/${group['name']}/v1`);
      expect([group['name'], answer.status]).toEqual([group['name'], 200]);
      expect(list(answer.body['resources']).length).toBeGreaterThan(0);
    }
  });
});

describe('resources of a version', () => {
  test('have no apiVersion in the core group and one in other groups', async () => {
    expect((await get('/api/v1')).body).toMatchObject({ kind: 'APIResourceList', groupVersion: 'v1' });
    expect((await get('/api/v1')).body).not.toHaveProperty('apiVersion');
    expect((await get('/apis/batch/v1')).body).toMatchObject({ apiVersion: 'v1', groupVersion: 'batch/v1' });
  });

  test('are listed with their subresources, a scale with its own kind', async () => {
    const { body } = await get(`/apis/${GROUP}/v1`);
    expect(list(body['resources']).map((r) => [r['name'], r['kind'], r['group'] ?? ''])).toEqual([
      ['widgets', 'Widget', ''],
      ['widgets/status', 'Widget', ''],
      ['widgets/scale', 'Scale', 'autoscaling'],
    ]);
    expect(list(body['resources'])[0]).toMatchObject({ shortNames: ['wg'], categories: ['all'] });
  });

  test('equal those of kube-apiserver', async () => {
    const { body } = await get('/apis/apps/v1');
    const recorded = servedData().resources.filter((r) => r.group === 'apps');
    const mains = list(body['resources']).filter((r) => !String(r['name']).includes('/'));
    expect(mains.map((r) => [r['name'], r['storageVersionHash']])).toEqual(
      recorded.map((r) => [r.resource, r.storageVersionHash]),
    );
  });
});

test('the storage version hash equals that of kube-apiserver', () => {
  expect(storageVersionHash({ group: '', version: 'v1', kind: 'ConfigMap' })).toBe('qFsyl6wFWjQ=');
  expect(storageVersionHash({ group: 'batch', version: 'v1', kind: 'Job' })).toBe('mudhfqk/qZY=');
});

describe('aggregated discovery', () => {
  test('returns every group with versions and resources in one document', async () => {
    const { body } = await get('/apis', V2);
    expect(body).toMatchObject({ kind: 'APIGroupDiscoveryList', apiVersion: 'apidiscovery.k8s.io/v2' });
    const items = list(body['items']);
    const batch = items.find((item) => (item['metadata'] as JsonObject)['name'] === 'batch')!;
    expect(list(batch['versions'])[0]).toMatchObject({
      version: 'v1',
      freshness: 'Current',
      resources: [
        { resource: 'cronjobs', responseKind: { group: '', version: '', kind: 'CronJob' } },
        { resource: 'jobs', scope: 'Namespaced', subresources: [{ subresource: 'status' }] },
      ],
    });
    const legacy = list((await get('/apis')).body['groups']);
    expect(items.map((item) => (item['metadata'] as JsonObject)['name'])).toEqual(
      legacy.map((g) => g['name']),
    );
  });

  test('has no name for the core group', async () => {
    const items = list((await get('/api', V2)).body['items']);
    expect(items).toHaveLength(1);
    expect(items[0]!['metadata']).toEqual({});
  });

  test('returns 304 for a matching ETag until the resources change', async () => {
    const fresh = async () => api.send('GET', '/apis', undefined, { accept: V2 });
    const first = await fresh();
    expect(first.headers).toMatchObject({ vary: 'Accept', 'cache-control': 'public', 'content-type': V2 });
    const etag = String(first.headers['etag']);
    const again = await api.send('GET', '/apis', undefined, { accept: V2, 'if-none-match': etag });
    expect([again.status, again.body.toString()]).toEqual([304, '']);
    const names = { plural: 'gadgets', kind: 'Gadget' };
    const gadgets = { ...crd({ more: { names } }), metadata: { name: `gadgets.${GROUP}` } };
    await api.post(CRDS_PATH, gadgets);
    await api.settle();
    expect((await fresh()).headers['etag']).not.toBe(etag);
  });

  test.each([
    [V2, V2],
    [`application/json,${V2}`, V2],
    [`${V2};profile=nopeer`, V2],
    ['application/yaml;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList', V2.replace('json', 'yaml')],
    [
      'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json',
      'application/json',
    ],
    ['application/json', 'application/json'],
    ['*/*', 'application/json'],
    ['application/yaml', 'application/yaml'],
  ])('Accept %s returns %s', async (accept, type) => {
    const { status, headers } = await api.send('GET', '/apis', undefined, { accept });
    expect([status, headers['content-type']]).toEqual([200, type]);
  });

  test.each([
    'text/html',
    'application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList',
    'application/json;g=apidiscovery.k8s.io;v=v2;as=Nope',
  ])('Accept %s returns 406', async (accept) => {
    expect((await get('/apis', accept)).body).toMatchObject({ code: 406, reason: 'NotAcceptable' });
  });
});

describe('unknown paths and methods', () => {
  const PAGE = '404 page not found\n';
  const STATUS = /"message":"the server could not find the requested resource"/;
  test.each<[string, string, number, string | RegExp]>([
    ['GET', '/apis/nope.example.com', 404, PAGE],
    ['GET', '/apis/nope.example.com/v1', 404, PAGE],
    ['GET', '/apis/nope.example.com/v1/things', 404, PAGE],
    ['GET', `/apis/${GROUP}/v9`, 404, PAGE],
    ['GET', `/apis/${GROUP}/v1/nothings`, 404, PAGE],
    ['GET', '/apis/batch/v9', 404, STATUS],
    ['GET', '/api/v9', 404, STATUS],
    ['GET', '/apis/batch/v1/nothings', 404, STATUS],
    ['POST', '/api', 405, /MethodNotAllowed/],
    ['POST', '/api/v1', 405, /MethodNotAllowed/],
    ['DELETE', '/apis/batch/v1', 405, /MethodNotAllowed/],
    ['POST', '/apis', 200, /APIGroupList/],
    ['PUT', '/apis/batch', 200, /APIGroup/],
    ['POST', `/apis/${GROUP}/v1`, 200, /APIResourceList/],
    ['HEAD', '/apis', 200, ''],
    ['HEAD', '/api/v1', 405, ''],
    ['GET', '/apis/', 200, /APIGroupList/],
    ['GET', '/apis/batch/', 200, /APIGroup/],
  ])('%s %s is %d', async (method, path, status, text) => {
    const answer = await api.ask(method, path);
    expect(answer.status).toBe(status);
    if (typeof text === 'string') expect(answer.text).toBe(text);
    else expect(answer.text).toMatch(text);
  });
});
