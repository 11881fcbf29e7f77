import type { JsonObject } from '@lapse/kube/api/json';
import { beforeEach, describe, expect, test } from 'vitest';
import {
  api,
  CRDS_PATH,
  crd,
  GROUP,
  object,
  type TestResponse,
  useServer,
  version,
  WIDGETS,
  widget,
} from './testkit.ts';

const SCALE = `${WIDGETS}/w/scale`;
const number = { type: 'integer' };

useServer();
beforeEach(async () => {
  const scale = {
    specReplicasPath: '.spec.size',
    statusReplicasPath: '.status.size',
    labelSelectorPath: '.status.selector',
  };
  const schema = object({
    spec: object({ size: number, note: { type: 'string' } }),
    status: object({ size: number, selector: { type: 'string' } }),
  });
  const versions = [version('v1', schema, { storage: true, subresources: { status: {}, scale } })];
  await api.post(CRDS_PATH, crd({ versions }));
  await api.post(WIDGETS, widget('w', { spec: { size: 3, note: 'n' } }));
});

const partsOf = ({ status, body }: TestResponse) => ({ status, spec: body['spec'], scaled: body['status'] });
const refusalOf = ({ status, body }: TestResponse) => `${status} ${body['message']}`;
const named = (more: JsonObject = {}, metadata: JsonObject = {}) => ({
  metadata: { name: 'w', ...metadata },
  ...more,
});

describe('reading', () => {
  test('returns replicas, a selector and minimal metadata', async () => {
    await api.patch(`${WIDGETS}/w/status`, { status: { size: 2, selector: 'app=x' } });
    const { body } = await api.get(SCALE);
    expect(body).toMatchObject({
      kind: 'Scale',
      apiVersion: 'autoscaling/v1',
      spec: { replicas: 3 },
      status: { replicas: 2, selector: 'app=x' },
    });
    expect(Object.keys(body['metadata'] as JsonObject).sort()).toEqual([
      'creationTimestamp',
      'name',
      'namespace',
      'resourceVersion',
      'uid',
    ]);
  });

  test('is 500 without replicas and 404 for a missing object', async () => {
    await api.patch(`${WIDGETS}/w`, { spec: { size: null } });
    expect(refusalOf(await api.get(SCALE))).toBe(
      '500 Internal error occurred: the spec replicas field ".spec.size" does not exist',
    );
    expect((await api.get(`${WIDGETS}/none/scale`)).status).toBe(404);
  });

  test('returns a table', async () => {
    const accept = 'application/json;as=Table;v=v1;g=meta.k8s.io';
    const { body } = await api.ask('GET', SCALE, undefined, { accept });
    expect((body['columnDefinitions'] as JsonObject[]).map((c) => c['name'])).toEqual([
      'Name',
      'Desired',
      'Available',
      'Age',
    ]);
    expect(body['rows']).toMatchObject([{ cells: ['w', 3, 0, '0s'] }]);
  });
});

describe('writing', () => {
  test.each<[string, JsonObject, JsonObject]>([
    ['a number', { spec: { replicas: 5 } }, { replicas: 5 }],
    ['zero', { spec: { replicas: 0 } }, {}],
    ['absent replicas are zero', {}, {}],
  ])('PUT: %s', async (_, sent, spec) => {
    expect(partsOf(await api.put(SCALE, named(sent)))).toEqual({
      status: 200,
      spec,
      scaled: { replicas: 0 },
    });
    const { body } = await api.get(`${WIDGETS}/w`);
    expect(body).toMatchObject({
      spec: { size: spec['replicas'] ?? 0, note: 'n' },
      metadata: { generation: 2 },
    });
  });

  test('PATCH, also for an object without replicas', async () => {
    await api.patch(`${WIDGETS}/w`, { spec: { size: null } });
    expect(refusalOf(await api.patch(SCALE, { metadata: { labels: { a: 'b' } } }))).toBe(
      '400 the spec replicas field ".spec.size" cannot be empty',
    );
    expect(partsOf(await api.patch(SCALE, { spec: { replicas: 4 } })).spec).toEqual({ replicas: 4 });
    const [op, path] = ['replace', '/spec/replicas'];
    expect(partsOf(await api.patch(SCALE, [{ op, path, value: 6 }], 'json')).spec).toEqual({ replicas: 6 });
  });

  test('a dry run returns the result and writes nothing', async () => {
    expect(partsOf(await api.patch(`${SCALE}?dryRun=All`, { spec: { replicas: 9 } })).spec).toEqual({
      replicas: 9,
    });
    expect(partsOf(await api.get(SCALE)).spec).toEqual({ replicas: 3 });
  });

  const modified =
    'the object has been modified; please apply your changes to the latest version and try again';
  const unreadable = '400 no kind is registered for the type v1.Scale in scheme "pkg/runtime/scheme.go:111"';
  test.each<[string, JsonObject | string, string]>([
    [
      'an outdated resourceVersion',
      named({}, { resourceVersion: '1' }),
      `409 Operation cannot be fulfilled on widgets.${GROUP} "w": ${modified}`,
    ],
    [
      'another name',
      { metadata: { name: 'x' } },
      '400 the name of the object (x) does not match the name on the URL (w)',
    ],
    ['no name', {}, '400 the name of the object (w based on URL) was undeterminable: name must be provided'],
    ['another kind', widget('w'), unreadable],
    ['a string for a number', named({ spec: { replicas: 'x' } }), unreadable],
    ['invalid JSON', '{"metadata":', unreadable],
    [
      'negative replicas',
      named({ spec: { replicas: -1 } }),
      `422 Widget.${GROUP} "w" is invalid: .spec.size: Invalid value: -1: should be a non-negative integer`,
    ],
  ])('rejects %s', async (_, sent, refusal) => {
    expect(refusalOf(await api.put(SCALE, sent))).toBe(refusal);
    expect(partsOf(await api.get(SCALE)).spec).toEqual({ replicas: 3 });
  });

  test('warns about unknown fields', async () => {
    const response = await api.put(SCALE, named({ spec: { replicas: 1, foo: 2 } }));
    expect(response.warnings).toEqual(['299 - "unknown field \\"spec.foo\\""']);
  });

  test.each(['POST', 'DELETE'])('%s is not supported', async (method) => {
    expect((await api.ask(method, SCALE, {})).status).toBe(405);
  });
});
