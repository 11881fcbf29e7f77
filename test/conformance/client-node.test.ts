// The official JavaScript client, unchanged, against the embedded server's socket.

import * as k8s from '@kubernetes/client-node';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type EmbeddedSocket, startEmbeddedSocket } from './embeddedSocket.ts';

const NS = 'client-node';
let embedded: EmbeddedSocket;
let config: k8s.KubeConfig;
let core: k8s.CoreV1Api;

beforeAll(async () => {
  embedded = await startEmbeddedSocket();
  config = new k8s.KubeConfig();
  config.loadFromFile(embedded.kubeconfig);
  core = config.makeApiClient(k8s.CoreV1Api);
  await core.createNamespace({ body: { metadata: { name: NS } } });
});
afterAll(() => embedded?.close());

const create = (name: string) =>
  core.createNamespacedConfigMap({ namespace: NS, body: { metadata: { name }, data: { k: 'v' } } });
const remove = (name: string) => core.deleteNamespacedConfigMap({ namespace: NS, name });
const names = async () =>
  (await core.listNamespacedConfigMap({ namespace: NS })).items.map((i) => i.metadata?.name);

test('creates, reads, replaces, lists and deletes', async () => {
  const made = await create('a');
  expect(made.metadata?.uid).toMatch(/^[0-9a-f-]{36}$/);
  expect(made.metadata?.creationTimestamp).toBeInstanceOf(Date);
  const replaced = await core.replaceNamespacedConfigMap({
    namespace: NS,
    name: 'a',
    body: { ...made, data: { k: 'w' } },
  });
  expect(replaced.data).toEqual({ k: 'w' });
  expect(await names()).toEqual(['a']);
  await remove('a');
  expect(await names()).toEqual([]);
  await expect(remove('a')).rejects.toMatchObject({ code: 404 });
});

test('keeps the types of a Job', async () => {
  const batch = config.makeApiClient(k8s.BatchV1Api);
  const container = { name: 'main', image: 'example.com/a' };
  const template = { spec: { restartPolicy: 'Never', containers: [container] } };
  await batch.createNamespacedJob({ namespace: NS, body: { metadata: { name: 'j' }, spec: { template } } });
  const job = await batch.readNamespacedJob({ namespace: NS, name: 'j' });
  expect(job.spec?.backoffLimit).toBe(6);
  expect(job.spec?.selector?.matchLabels).toHaveProperty(['batch.kubernetes.io/controller-uid']);
  await batch.deleteNamespacedJob({ namespace: NS, name: 'j', propagationPolicy: 'Background' });
});

test('its informer sees existing objects and changes, in order', async () => {
  await create('before');
  const path = `/api/v1/namespaces/${NS}/configmaps`;
  const informer = k8s.makeInformer(config, path, () => core.listNamespacedConfigMap({ namespace: NS }));
  const seen: string[] = [];
  let changed = () => {};
  const record = (event: string) => (object: k8s.V1ConfigMap) => {
    seen.push(`${event} ${object.metadata?.name} ${object.data?.k}`);
    changed();
  };
  informer.on('add', record('add'));
  informer.on('update', record('update'));
  informer.on('delete', record('delete'));
  const until = (count: number) =>
    new Promise<void>((resolve) => {
      changed = () => seen.length >= count && resolve();
      changed();
    });
  await informer.start();
  await until(1);
  const made = await create('during');
  await core.replaceNamespacedConfigMap({
    namespace: NS,
    name: 'during',
    body: { ...made, data: { k: 'w' } },
  });
  await remove('during');
  await until(4);
  await informer.stop();
  expect(seen).toEqual(['add before v', 'add during v', 'update during w', 'delete during w']);
});
