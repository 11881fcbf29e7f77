import { expect, test } from 'vitest';
import { CRDS_PATH, crd, object, startServer, type TestServer, WIDGETS, widget } from '../crd/testkit.ts';

const PATH = '/api/v1/namespaces/default/configmaps/a';
const APPLY = { 'content-type': 'application/apply-patch+yaml' };

test('of two concurrent applies of a missing object, one creates it and the other merges into it', async () => {
  const api = await startServer();
  const apply = (key: string) =>
    api.ask(
      'PATCH',
      `${PATH}?fieldManager=${key}`,
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' }, data: { [key]: 'x' } },
      APPLY,
    );
  const answers = await Promise.all([apply('one'), apply('two')]);
  expect(answers.map(({ status }) => status)).toEqual([201, 200]);
  expect((await api.get(PATH)).body['data']).toEqual({ one: 'x', two: 'x' });
  await api.close();
});

test('of two concurrent PUTs of a missing Lease, the second needs a resourceVersion', async () => {
  const api = await startServer();
  const path = '/apis/coordination.k8s.io/v1/namespaces/default/leases/l';
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'l' } };
  const answers = await Promise.all([api.put(path, lease), api.put(path, lease)]);
  expect(answers.map(({ status }) => status)).toEqual([201, 422]);
  await api.close();
});

const labels = { app: 'x' };
const SETS = '/apis/apps/v1/namespaces/default/replicasets';
const replicaSet = {
  metadata: { name: 'a' },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
};
const paths = { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' };

test.each([
  ['of a built-in kind', SETS, replicaSet, 'replicas'],
  ['of a custom resource', WIDGETS, widget('a', { spec: { size: 1 } }), 'size'],
])('an apply to the Scale %s takes ownership of the replicas', async (_, path, body, field) => {
  const api: TestServer = await startServer();
  const status = object({ size: { type: 'integer' } });
  const schema = object({ spec: object({ size: { type: 'integer' } }), status });
  const v1 = { schema: { openAPIV3Schema: schema }, subresources: { status: {}, scale: paths } };
  await api.post(CRDS_PATH, crd({ v1 }));
  await api.settle();
  expect((await api.ask('POST', path, body, { 'user-agent': 'maker/1' })).status).toBe(201);
  const scale = (replicas: number, query = '') =>
    api.ask(
      'PATCH',
      `${path}/a/scale?fieldManager=me${query}`,
      { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas } },
      APPLY,
    );
  expect((await scale(3)).body).toMatchObject({
    code: 409,
    message: 'Apply failed with 1 conflict: conflict with "maker" using autoscaling/v1: .spec.replicas',
  });
  expect((await scale(3, '&force=true')).body).toMatchObject({ kind: 'Scale', spec: { replicas: 3 } });
  expect((await scale(4)).status).toBe(200);
  const { spec, metadata } = (await api.get(`${path}/a`)).body as {
    spec: Record<string, unknown>;
    metadata: { managedFields: { manager: string; operation: string; subresource?: string }[] };
  };
  expect(spec[field]).toBe(4);
  expect(metadata.managedFields).toContainEqual(
    expect.objectContaining({
      manager: 'me',
      operation: 'Apply',
      subresource: 'scale',
      fieldsV1: { 'f:spec': { [`f:${field}`]: {} } },
    }),
  );
  await api.close();
});
