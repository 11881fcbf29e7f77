import type { JsonObject } from '@lapse/kube/api/json';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { CRDS_PATH, crd, GROUP, startServer, type TestServer } from '../crd/testkit.ts';

const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const TABLE = 'application/json;as=Table;v=v1;g=meta.k8s.io';

let api: TestServer;
beforeEach(async () => {
  api = await startServer();
});
afterEach(async () => {
  expect(api.unexpected).toEqual([]);
  await api.close();
});

const names = async () =>
  ((await api.get(SERVICES)).body['items'] as JsonObject[]).map(
    (item) => (item['metadata'] as JsonObject)['name'],
  );

test('every served group version has a local APIService', async () => {
  const groups = (await api.get('/apis')).body['groups'] as { versions: { groupVersion: string }[] }[];
  const served = groups.flatMap((g) => g.versions).map((v) => v.groupVersion.split('/').reverse().join('.'));
  const listed = await names();
  expect(listed).toEqual([...served.filter((name) => name !== 'v1.apiregistration.k8s.io'), 'v1.'].sort());
});

test('a local APIService equals that of kube-apiserver', async () => {
  const { body } = await api.get(`${SERVICES}/v1.batch`);
  expect(body).toMatchObject({
    metadata: { labels: { 'kube-aggregator.kubernetes.io/automanaged': 'onstart' } },
    spec: { group: 'batch', version: 'v1', groupPriorityMinimum: 17400, versionPriority: 15 },
    status: { conditions: [{ type: 'Available', status: 'True', reason: 'Local' }] },
  });
  const table = await api.ask('GET', `${SERVICES}/v1.batch`, undefined, { accept: TABLE });
  const [row] = table.body['rows'] as JsonObject[];
  expect(row!['cells']).toEqual(['v1.batch', 'Local', 'True', '0s']);
});

test('the APIService of a custom group is created and deleted with its CRD', async () => {
  await api.post(CRDS_PATH, crd());
  await api.settle();
  expect(await names()).toContain(`v1.${GROUP}`);
  const { body } = await api.get(`${SERVICES}/v1.${GROUP}`);
  expect(body).toMatchObject({ spec: { groupPriorityMinimum: 1000, versionPriority: 100 } });
  await api.delete(`${CRDS_PATH}/widgets.${GROUP}`);
  await api.wait(5);
  await api.settle();
  expect(await names()).not.toContain(`v1.${GROUP}`);
});

test('restores a deleted local APIService', async () => {
  const uid = async () => ((await api.get(`${SERVICES}/v1.batch`)).body['metadata'] as JsonObject)?.['uid'];
  const before = await uid();
  await api.delete(`${SERVICES}/v1.batch`);
  await api.settle();
  expect(await uid()).toMatch(/^[0-9a-f-]{36}$/);
  expect(await uid()).not.toBe(before);
});
