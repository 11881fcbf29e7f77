import type { JsonObject } from '@lapse/kube/api/json';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startServer, type TestServer } from '../crd/testkit.ts';

const accept = (as: string, version = 'v1') => `application/json;as=${as};g=meta.k8s.io;v=${version}`;
const TABLE = accept('Table');
const PARTIAL = accept('PartialObjectMetadata');
const PARTIAL_LIST = accept('PartialObjectMetadataList');
const MAPS = '/api/v1/namespaces/default/configmaps';

let api: TestServer;
beforeEach(async () => {
  api = await startServer();
  await api.post(MAPS, configMap('a', { x: '1', y: '2' }));
});
afterEach(async () => {
  expect(api.unexpected).toEqual([]);
  await api.close();
});

const configMap = (name: string, data: JsonObject = {}) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});
const get = async (path: string, as: string) => (await api.ask('GET', path, undefined, { accept: as })).body;
const rows = (table: JsonObject) => table['rows'] as JsonObject[];

describe('a table', () => {
  test('has the columns, one row per object, and the version of the list', async () => {
    const table = await get(MAPS, TABLE);
    const list = await api.get(MAPS);
    expect(table).toMatchObject({ kind: 'Table', apiVersion: 'meta.k8s.io/v1' });
    expect(table['metadata']).toEqual({
      resourceVersion: (list.body['metadata'] as JsonObject)['resourceVersion'],
    });
    expect((table['columnDefinitions'] as JsonObject[]).map((c) => c['name'])).toEqual([
      'Name',
      'Data',
      'Age',
    ]);
    expect(rows(table)).toMatchObject([{ cells: ['a', 2, '0s'] }]);
  });

  test.each([
    ['', { kind: 'PartialObjectMetadata', apiVersion: 'meta.k8s.io/v1', metadata: { name: 'a' } }],
    ['Metadata', { kind: 'PartialObjectMetadata', metadata: { name: 'a' } }],
    ['Object', { kind: 'ConfigMap', apiVersion: 'v1', data: { x: '1' } }],
    ['None', null],
  ])('with includeObject=%s includes %o', async (include, object) => {
    const [row] = rows(await get(`${MAPS}/a?includeObject=${include}`, TABLE));
    if (object === null) expect(row!['object']).toBeNull();
    else expect(row!['object']).toMatchObject(object);
  });

  test.each([`${MAPS}/a`, MAPS, `${MAPS}?watch=1`])(
    'of %s with another includeObject is refused',
    async (path) => {
      const url = `${path}${path.includes('?') ? '&' : '?'}includeObject=All`;
      expect(await get(url, TABLE)).toMatchObject({
        code: 400,
        message: `Unable to convert to Table as requested: includeObject: Invalid value: "All": must be 'Metadata', 'Object', 'None', or empty`,
      });
    },
  );

  test('of v1beta1 has partial objects of v1beta1', async () => {
    const table = await get(MAPS, accept('Table', 'v1beta1'));
    expect(table['apiVersion']).toBe('meta.k8s.io/v1beta1');
    expect(rows(table)[0]!['object']).toMatchObject({ apiVersion: 'meta.k8s.io/v1beta1' });
  });

  test('has the same pages as the list', async () => {
    await api.post(MAPS, configMap('b'));
    const first = await get(`${MAPS}?limit=1`, TABLE);
    const { continue: token, remainingItemCount } = first['metadata'] as JsonObject;
    expect([rows(first).length, remainingItemCount]).toEqual([1, 1]);
    const second = await get(`${MAPS}?limit=1&continue=${token}`, TABLE);
    expect(rows(second)).toMatchObject([{ cells: ['b', 0, '0s'] }]);
  });

  test('with thousands of rows is streamed with the same content', async () => {
    for (let i = 0; i < 1200; i++) await api.post(MAPS, configMap(`m${String(i).padStart(4, '0')}`));
    const response = await api.send('GET', MAPS, undefined, { accept: TABLE });
    expect(response.body).not.toBeInstanceOf(Uint8Array);
    const names = rows(await get(MAPS, TABLE)).map((row) => (row['cells'] as unknown[])[0]);
    expect([names.length, names[0], names.at(-1)]).toEqual([1201, 'a', 'm1199']);
    const partial = await get(MAPS, PARTIAL_LIST);
    expect((partial['items'] as unknown[]).length).toBe(1201);
  });

  test('is also returned for writes, except for a Status', async () => {
    const headers = { accept: TABLE };
    const created = await api.ask('POST', MAPS, configMap('b'), headers);
    expect(created.status).toBe(201);
    expect(rows(created.body)).toMatchObject([{ cells: ['b', 0, '0s'] }]);
    expect((await api.ask('DELETE', `${MAPS}/b`, undefined, headers)).body).toMatchObject({
      kind: 'Status',
      status: 'Success',
    });
    expect((await api.ask('GET', `${MAPS}/b`, undefined, headers)).body).toMatchObject({ code: 404 });
  });
});

describe('partial metadata', () => {
  test('contains only the metadata', async () => {
    const object = await get(`${MAPS}/a`, PARTIAL);
    expect(Object.keys(object)).toEqual(['kind', 'apiVersion', 'metadata']);
    const list = await get(MAPS, PARTIAL_LIST);
    expect(list).toMatchObject({ kind: 'PartialObjectMetadataList', items: [object] });
  });

  test.each<[string, string, string]>([
    [
      MAPS,
      PARTIAL,
      'you requested PartialObjectMetadata, but the requested object is a list (*core.ConfigMapList)',
    ],
    [
      `${MAPS}/a`,
      PARTIAL_LIST,
      'you requested PartialObjectMetadataList, but the requested object is not a list (*core.ConfigMap)',
    ],
    [
      '/apis/rbac.authorization.k8s.io/v1/clusterroles',
      PARTIAL,
      'you requested PartialObjectMetadata, but the requested object is a list (*rbac.ClusterRoleList)',
    ],
    [
      '/apis/events.k8s.io/v1/events',
      PARTIAL,
      'you requested PartialObjectMetadata, but the requested object is a list (*core.EventList)',
    ],
  ])('of %s must match the kind of the response', async (path, as, message) => {
    expect(await get(path, as)).toMatchObject({ code: 406, reason: 'NotAcceptable', message });
  });
});

describe('a watch', () => {
  const events = async (query: string, as: string): Promise<JsonObject[]> => {
    const path = `${MAPS}?watch=1&timeoutSeconds=5&${query}`;
    const { body } = await api.send('GET', path, undefined, { accept: as });
    await api.patch(`${MAPS}/a`, { metadata: { labels: { l: '1' } } });
    await api.wait(6);
    const chunks: string[] = [];
    for await (const chunk of body as AsyncIterable<Uint8Array>) chunks.push(chunk.toString());
    const lines = chunks.join('').trim().split('\n');
    return lines.map((line) => JSON.parse(line) as JsonObject);
  };

  test('of tables sends the columns once', async () => {
    const [first, second] = await events('', TABLE);
    expect(first).toMatchObject({
      type: 'ADDED',
      object: { kind: 'Table', rows: [{ cells: ['a', 2, '0s'] }] },
    });
    expect((first!['object'] as JsonObject)['columnDefinitions']).toHaveLength(3);
    expect(second).toMatchObject({ type: 'MODIFIED', object: { columnDefinitions: null } });
  });

  test('of tables marks the end of the initial events with a row without a name, for every includeObject', async () => {
    const query =
      'sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&includeObject=None';
    const [added, bookmark] = await events(query, TABLE);
    expect(rows(added!['object'] as JsonObject)[0]!['object']).toBeNull();
    expect(bookmark).toMatchObject({
      type: 'BOOKMARK',
      object: {
        columnDefinitions: null,
        rows: [
          {
            cells: ['', 0, '<unknown>'],
            object: { metadata: { annotations: { 'k8s.io/initial-events-end': 'true' } } },
          },
        ],
      },
    });
  });

  test('of metadata sends metadata', async () => {
    const [first] = await events('', PARTIAL);
    expect(first).toMatchObject({ type: 'ADDED', object: { kind: 'PartialObjectMetadata' } });
    expect(first!['object']).not.toHaveProperty('data');
  });

  test('does not support YAML', async () => {
    const { status, text } = await api.ask('GET', `${MAPS}?watch=1`, undefined, {
      accept: 'application/yaml',
    });
    expect(status).toBe(406);
    expect(text).toContain('application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch');
  });
});

test('the row of a finished Pod has the condition Completed', async () => {
  const pods = '/api/v1/namespaces/default/pods';
  const spec = { containers: [{ name: 'main', image: 'busybox' }] };
  await api.post(pods, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p' }, spec });
  expect(rows(await get(pods, TABLE))[0]).not.toHaveProperty('conditions');
  await api.patch(`${pods}/p/status`, { status: { phase: 'Succeeded' } });
  expect(rows(await get(pods, TABLE))[0]!['conditions']).toEqual([
    {
      type: 'Completed',
      status: 'True',
      reason: 'Succeeded',
      message: 'The pod has completed successfully.',
    },
  ]);
});
