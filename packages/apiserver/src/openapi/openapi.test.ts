import type { JsonObject } from '@lapse/kube/api/json';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { CRDS_PATH, crd, GROUP, object, startServer, type TestServer } from '../crd/testkit.ts';

let api: TestServer;
const documents = new Map<string, JsonObject>();
let index: Record<string, { serverRelativeURL: string }>;

beforeAll(async () => {
  api = await startServer();
  const spec = object(
    {
      size: { type: 'integer', minimum: 1, default: 3, description: 'How big.' },
      note: { type: 'string', nullable: true },
      either: { 'x-kubernetes-int-or-string': true },
      free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      pod: {
        type: 'object',
        'x-kubernetes-embedded-resource': true,
        'x-kubernetes-preserve-unknown-fields': true,
      },
      tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
    },
    { required: ['size', 'note'] },
  );
  await api.post(CRDS_PATH, crd({ spec, v1: { subresources: { status: {} } } }));
  await api.settle();
  index = (JSON.parse((await api.get('/openapi/v3')).text) as { paths: typeof index }).paths;
  for (const name of Object.keys(index)) documents.set(name, (await api.get(`/openapi/v3/${name}`)).body);
});
afterAll(async () => {
  expect(api.unexpected).toEqual([]);
  await api.close();
});

const at = (value: unknown, ...path: string[]): JsonObject =>
  path.reduce((here, name) => (here as JsonObject)[name] as JsonObject, value as JsonObject);
const schema = (name: string, type: string) => at(documents.get(name), 'components', 'schemas', type);
const jobPath = '/apis/batch/v1/namespaces/{namespace}/jobs';

describe('the index', () => {
  test('is text and lists a document for each group version and each discovery path', async () => {
    const { headers } = await api.send('GET', '/openapi/v3');
    expect(headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(Object.keys(index)).toEqual([...Object.keys(index)].sort());
    expect(Object.keys(index)).toEqual(
      expect.arrayContaining([
        'api',
        'api/v1',
        'apis',
        'apis/batch',
        'apis/batch/v1',
        'version',
        `apis/${GROUP}/v1`,
      ]),
    );
    expect(Object.keys(index)).not.toContain(`apis/${GROUP}`);
  });

  test('links each document by its hash, which clients may cache forever', async () => {
    for (const { serverRelativeURL } of Object.values(index)) {
      expect(serverRelativeURL).toMatch(/^\/openapi\/v3\/[\w./-]+\?hash=[0-9A-F]{128}$/);
      const { status, headers } = await api.send('GET', serverRelativeURL);
      expect(status).toBe(200);
      expect(headers['cache-control']).toBe('public, immutable');
      expect(headers['etag']).toBe(`"${serverRelativeURL.split('=')[1]}"`);
      expect(headers['expires']).toBe('Fri, 01 Jan 2027 00:00:00 GMT');
    }
  });
});

describe('a document', () => {
  const path = '/openapi/v3/apis/batch/v1';

  test('redirects from an outdated hash', async () => {
    const { status, headers, body } = await api.send('GET', `${path}?hash=ABC`);
    expect([status, headers['location'], body.toString()]).toEqual([
      301,
      index['apis/batch/v1']!.serverRelativeURL,
      '',
    ]);
  });

  test('must be revalidated without a hash', async () => {
    const first = await api.send('GET', path);
    expect(first.headers).toMatchObject({ 'cache-control': 'no-cache, private', vary: 'Accept' });
    const known = { 'if-none-match': `"x", W/${first.headers['etag']}` };
    const again = await api.send('GET', path, undefined, known);
    expect([again.status, again.body.toString(), again.headers['content-type']]).toEqual([
      304,
      '',
      undefined,
    ]);
  });

  test.each([
    ['application/json', 200],
    ['*/*', 200],
    ['application/*', 200],
    ['text/plain', 406],
    ['application/com.github.proto-openapi.spec.v3.v1.0+protobuf', 406],
    ['application/com.github.proto-openapi.spec.v3.v1.0+protobuf, application/json', 200],
  ])('accepted as %s is %d', async (accept, status) => {
    expect((await api.send('GET', path, undefined, { accept })).status).toBe(status);
  });

  test.each([
    '/openapi/v3/apis/nope.example.com/v1',
    '/openapi/v3/',
    '/openapi/v3/apis/batch/v9',
    '/openapi/v3/__proto__',
  ])('%s does not exist', async (missing) => {
    expect(await api.get(missing)).toMatchObject({ status: 404, text: '' });
  });

  test('contains all schemas that it refers to', () => {
    for (const [name, document] of documents) {
      const schemas = at(document, 'components', 'schemas');
      const references = JSON.stringify(document).matchAll(/"#\/components\/schemas\/([^"]+)"/g);
      for (const [, type] of references)
        expect([name, type, Object.hasOwn(schemas, type!)]).toEqual([name, type, true]);
    }
  });

  test('has unique operation names', () => {
    const ids = [...documents.values()].flatMap((d) => [
      ...JSON.stringify(d).matchAll(/"operationId":"(\w+)"/g),
    ]);
    expect(new Set(ids.map(([, id]) => id)).size).toBe(ids.length);
  });

  test('changes only with its CRDs', async () => {
    const etag = async (name: string) => (await api.send('GET', `/openapi/v3/${name}`)).headers['etag'];
    const [custom, batch] = [await etag(`apis/${GROUP}/v1`), await etag('apis/batch/v1')];
    const change = [
      { op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/description', value: 'Toys.' },
    ];
    await api.patch(`${CRDS_PATH}/widgets.${GROUP}`, change, 'json');
    await api.settle();
    expect(await etag(`apis/${GROUP}/v1`)).not.toBe(custom);
    expect(await etag('apis/batch/v1')).toBe(batch);
  });
});

describe('a built-in type', () => {
  const BATCH = 'io.k8s.api.batch.v1.';
  const META = 'io.k8s.apimachinery.pkg.apis.meta.v1.';
  test.each<[string, JsonObject]>([
    ['Job', { 'x-kubernetes-group-version-kind': [{ group: 'batch', kind: 'Job', version: 'v1' }] }],
    ['JobSpec', { required: ['template'] }],
  ])('%s says %o', (type, expected) => {
    expect(schema('apis/batch/v1', BATCH + type)).toMatchObject(expected);
  });

  test.each<[string, string, JsonObject]>([
    [`${BATCH}JobSpec`, 'parallelism', { type: 'integer', format: 'int32' }],
    [`${BATCH}JobSpec`, 'completionMode', { type: 'string', enum: ['Indexed', 'NonIndexed'] }],
    [`${BATCH}JobSpec`, 'selector', { allOf: [{ $ref: `#/components/schemas/${META}LabelSelector` }] }],
    [
      `${BATCH}JobSpec`,
      'template',
      { default: {}, allOf: [{ $ref: '#/components/schemas/io.k8s.api.core.v1.PodTemplateSpec' }] },
    ],
    [
      `${BATCH}JobStatus`,
      'conditions',
      {
        type: 'array',
        items: { default: {}, allOf: [{ $ref: `#/components/schemas/${BATCH}JobCondition` }] },
        'x-kubernetes-list-type': 'atomic',
        'x-kubernetes-patch-merge-key': 'type',
        'x-kubernetes-patch-strategy': 'merge',
      },
    ],
    [
      'io.k8s.api.core.v1.PodSpec',
      'nodeSelector',
      {
        type: 'object',
        additionalProperties: { type: 'string', default: '' },
        'x-kubernetes-map-type': 'atomic',
      },
    ],
    [
      'io.k8s.api.core.v1.ResourceRequirements',
      'limits',
      {
        type: 'object',
        additionalProperties: { $ref: '#/components/schemas/io.k8s.apimachinery.pkg.api.resource.Quantity' },
      },
    ],
    ['io.k8s.api.core.v1.ContainerPort', 'containerPort', { type: 'integer', format: 'int32', default: 0 }],
    [
      'io.k8s.api.core.v1.ContainerPort',
      'protocol',
      { type: 'string', default: 'TCP', enum: ['SCTP', 'TCP', 'UDP'] },
    ],
    [`${META}ObjectMeta`, 'generation', { type: 'integer', format: 'int64' }],
  ])('%s.%s is %o', (type, field, expected) => {
    expect(at(schema('apis/batch/v1', type), 'properties', field)).toEqual(expected);
  });

  test('that is a kind in every group is listed as the kind of the document', () => {
    const kinds = schema('apis/batch/v1', `${META}DeleteOptions`)['x-kubernetes-group-version-kind'];
    expect(kinds).toEqual([
      { group: '', kind: 'DeleteOptions', version: 'v1' },
      { group: 'batch', kind: 'DeleteOptions', version: 'v1' },
    ]);
  });
});

describe('operations', () => {
  const names = (parameters: unknown) => (parameters as JsonObject[]).map((p) => p['name']);

  test('have the fields that kubectl reads: the action, the kind and fieldValidation', () => {
    const patch = at(documents.get('apis/batch/v1'), 'paths', `${jobPath}/{name}`, 'patch');
    expect(patch).toMatchObject({
      operationId: 'patchBatchV1NamespacedJob',
      'x-kubernetes-action': 'patch',
      'x-kubernetes-group-version-kind': { group: 'batch', version: 'v1', kind: 'Job' },
    });
    expect(names(patch['parameters'])).toEqual(['dryRun', 'fieldManager', 'fieldValidation', 'force']);
    const types = Object.keys(at(patch, 'requestBody', 'content'));
    expect(types).toContain('application/strategic-merge-patch+json');
  });

  test('list common parameters once', () => {
    const paths = at(documents.get('apis/batch/v1'), 'paths');
    expect(names(at(paths, `${jobPath}/{name}`, 'parameters'))).toEqual(['name', 'namespace', 'pretty']);
    expect(names(at(paths, '/apis/batch/v1/jobs', 'parameters'))).toEqual([
      'allowWatchBookmarks',
      'continue',
      'fieldSelector',
      'labelSelector',
      'limit',
      'pretty',
      'resourceVersion',
      'resourceVersionMatch',
      'sendInitialEvents',
      'shardSelector',
      'timeoutSeconds',
      'watch',
    ]);
  });

  test('of subresources return the kind of the subresource', () => {
    const scale = at(
      documents.get('apis/apps/v1'),
      'paths',
      '/apis/apps/v1/namespaces/{namespace}/deployments/{name}/scale',
      'get',
    );
    expect(scale).toMatchObject({
      operationId: 'readAppsV1NamespacedDeploymentScale',
      'x-kubernetes-group-version-kind': { group: 'autoscaling', version: 'v1', kind: 'Scale' },
    });
  });

  test('exist exactly where the registry has the verb', () => {
    const namespaces = at(documents.get('api/v1'), 'paths', '/api/v1/namespaces');
    expect(Object.keys(namespaces)).toEqual(['get', 'post', 'parameters']);
    const finalize = at(documents.get('api/v1'), 'paths', '/api/v1/namespaces/{name}/finalize');
    expect(Object.keys(finalize)).toEqual(['put', 'parameters']);
  });
});

describe('a custom resource', () => {
  const name = `com.example.toys.v1.Widget`;
  test('has its schema with the fields of every object', () => {
    const widget = schema(`apis/${GROUP}/v1`, name);
    expect(Object.keys(at(widget, 'properties'))).toEqual(['apiVersion', 'kind', 'metadata', 'spec']);
    expect(widget['x-kubernetes-group-version-kind']).toEqual([
      { group: GROUP, kind: 'Widget', version: 'v1' },
    ]);
    expect(at(widget, 'properties', 'spec', 'properties', 'size')).toEqual({
      type: 'integer',
      minimum: 1,
      default: 3,
      description: 'How big.',
    });
  });

  test('has the meaning of its extensions spelled out', () => {
    const fields = at(schema(`apis/${GROUP}/v1`, name), 'properties', 'spec', 'properties');
    expect(fields['either']).toMatchObject({ anyOf: [{ type: 'integer' }, { type: 'string' }] });
    expect(fields['pod']).toMatchObject({ required: ['kind', 'apiVersion'] });
    expect(Object.keys(at(fields, 'pod', 'properties'))).toEqual(['apiVersion', 'kind', 'metadata']);
  });

  test('has no strategic merge patch and no watch paths', () => {
    const paths = at(documents.get(`apis/${GROUP}/v1`), 'paths');
    expect(Object.keys(paths).filter((path) => path.includes('/watch/'))).toEqual([]);
    const patch = at(paths, `/apis/${GROUP}/v1/namespaces/{namespace}/widgets/{name}`, 'patch');
    expect(Object.keys(at(patch, 'requestBody', 'content'))).toEqual([
      'application/apply-patch+yaml',
      'application/json-patch+json',
      'application/merge-patch+json',
    ]);
  });
});
