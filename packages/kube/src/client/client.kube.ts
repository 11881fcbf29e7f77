// Tests the client against a real kube-apiserver: its responses, and the errors that are returned as values.

import { describe, expect, test, vi } from 'vitest';
import { metadataOf } from '#api/kind';
import { objectOf } from './client.ts';
import { ConfigMap, changed, configMap, realCluster, WhoAmI } from './kube.testkit.ts';
import { measureSkew } from './skew.ts';

const cluster = realCluster();

test('discovery returns built-in kinds in their preferred version', async () => {
  expect(await cluster.client.discovery.find({ group: 'batch', kind: 'Job' })).toMatchObject({
    version: 'v1',
    resource: 'jobs',
    namespaced: true,
    subresources: expect.arrayContaining(['status']),
  });
  expect(await cluster.client.discovery.find({ group: 'example.com', kind: 'Nothing' })).toBeUndefined();
});

test('create, get and update succeed, and report existing and invalid objects', async () => {
  const object = objectOf(await cluster.client.create(ConfigMap, configMap()));
  const key = { namespace: 'default', name: object.metadata.name! };
  expect(await cluster.client.create(ConfigMap, configMap({ name: key.name }))).toMatchObject({
    kind: 'exists',
  });
  expect(await cluster.client.create(ConfigMap, configMap({ name: 'Not A Name' }))).toMatchObject({
    kind: 'invalid',
  });
  expect((await cluster.client.get(ConfigMap, key))?.metadata.uid).toBe(object.metadata.uid);
  expect(await cluster.client.get(ConfigMap, { ...key, name: 'none' })).toBeUndefined();
  expect(await cluster.client.update(ConfigMap, { ...object, data: { k: 'x' } })).toMatchObject({
    kind: 'updated',
  });
  expect(await cluster.client.update(ConfigMap, { ...object, data: { k: 'y' } })).toMatchObject({
    kind: 'conflict',
    by: 'changed',
  });
  expect(await cluster.client.update(ConfigMap, configMap({ name: 'none' }))).toMatchObject({
    kind: 'missing',
  });
  await expect(cluster.client.create(ConfigMap, configMap({ namespace: 'none' }))).rejects.toMatchObject({
    code: 404,
  });
});

describe('guarded patches', () => {
  const patches = {
    merge: { type: 'merge', patch: { data: { z: '1' } } },
    strategic: { type: 'strategic', patch: { data: { z: '1' } } },
    json: { type: 'json', operations: [{ op: 'add', path: '/data/z', value: '1' }] },
  } as const;
  test.each(['merge', 'strategic', 'json'] as const)('%s patch', async (type) => {
    const { key, uid, old } = await changed(cluster.client);
    const patch = patches[type];
    expect(await cluster.client.patch(ConfigMap, key, patch, { ifVersion: old })).toMatchObject({
      kind: 'conflict',
      by: 'changed',
    });
    expect(await cluster.client.patch(ConfigMap, key, patch, { ifUid: crypto.randomUUID() })).toMatchObject({
      kind: 'conflict',
      by: 'changed',
    });
    const { resourceVersion } = (await cluster.client.get(ConfigMap, key))!.metadata;
    expect(
      await cluster.client.patch(ConfigMap, key, patch, { ifUid: uid, ifVersion: resourceVersion! }),
    ).toMatchObject({ kind: 'patched', object: { data: { k: 'w', z: '1' } } });
    expect(await cluster.client.patch(ConfigMap, { ...key, name: 'none' }, patch)).toMatchObject({
      kind: 'missing',
    });
  });
});

test('apply creates, changes, and reports a conflict with another manager', async () => {
  const object = configMap();
  expect(await cluster.client.apply(ConfigMap, object)).toMatchObject({ kind: 'applied', created: true });
  const other = { ...object, data: { k: 'other' } };
  expect(await cluster.client.apply(ConfigMap, other, { fieldManager: 'other' })).toMatchObject({
    kind: 'conflict',
    by: 'manager',
  });
  expect(await cluster.client.apply(ConfigMap, other, { fieldManager: 'other', force: true })).toMatchObject({
    kind: 'applied',
    created: false,
  });
});

test('lists in pages, lists metadata only, and deletes a collection', async () => {
  const labels = { side: 'left' };
  for (let i = 0; i < 12; i++) await cluster.client.create(ConfigMap, configMap({ labels }));
  const options = { namespace: 'default', labelSelector: 'side=left' };
  expect((await cluster.client.list(ConfigMap, { ...options, limit: 5 })).items).toHaveLength(12);
  const { items } = await cluster.client.list(metadataOf(ConfigMap), options);
  expect(items[0]).toMatchObject({ kind: 'PartialObjectMetadata', metadata: { labels } });
  expect(items[0]).not.toHaveProperty('data');
  expect((await cluster.client.deleteCollection(ConfigMap, options)).items).toHaveLength(12);
  expect((await cluster.client.list(ConfigMap, options)).items).toHaveLength(0);
});

test('a streaming list is followed by changes and ends on abort', async () => {
  const labels = { side: 'right' };
  const first = objectOf(await cluster.client.create(ConfigMap, configMap({ labels })));
  const controller = new AbortController();
  const seen: string[] = [];
  const options = {
    namespace: 'default',
    labelSelector: 'side=right',
    sendInitialEvents: true,
    signal: controller.signal,
  };
  for await (const event of cluster.client.watch(ConfigMap, options)) {
    seen.push(event.type === 'bookmark' ? `bookmark ${event.initialEventsEnd}` : event.type);
    if (event.type === 'bookmark')
      await cluster.client.delete(ConfigMap, { namespace: 'default', name: first.metadata.name! });
    if (event.type === 'deleted') controller.abort();
  }
  expect(seen).toEqual(['added', 'bookmark true', 'deleted']);
});

test('continue tokens of compacted history are reported as expired', async () => {
  const labels = { side: 'top' };
  for (let i = 0; i < 3; i++) await cluster.client.create(ConfigMap, configMap({ labels }));
  const options = { namespace: 'default', labelSelector: 'side=top', limit: 1 };
  const page = await cluster.client.listPage(ConfigMap, options);
  if (page.kind !== 'page') throw page.error;
  await cluster.client.create(ConfigMap, configMap({ labels }));
  await cluster.bed.compact();
  const next = () => cluster.client.listPage(ConfigMap, { ...options, continue: page.continue! });
  await vi.waitFor(
    async () => expect(await next()).toMatchObject({ kind: 'expired', error: { code: 410 } }),
    // The server notices a compaction after some seconds.
    { timeout: 60_000, interval: 250 },
  );
});

test('impersonation sends every group, also those with commas', async () => {
  const acting = await cluster.clientOf({
    impersonate: {
      user: 'jane',
      uid: 'u1',
      groups: ['a, b', 'c'],
      extra: { 'example.com/Team': ['x', 'y'] },
    },
  });
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview', metadata: {} };
  const error = await acting
    .get(ConfigMap, { namespace: 'default', name: 'x' })
    .catch((error: unknown) => error);
  expect(error).toMatchObject({ code: 403, message: expect.stringContaining('User "jane"') });
  const master = await cluster.clientOf({
    impersonate: {
      user: 'jane',
      uid: 'u1',
      groups: ['a, b', 'system:authenticated'],
      extra: { 'example.com/Team': ['x', 'y'] },
    },
  });
  expect(objectOf(await master.create(WhoAmI, review))).toMatchObject({
    status: {
      userInfo: {
        username: 'jane',
        uid: 'u1',
        groups: ['a, b', 'system:authenticated'],
        extra: { 'example.com/team': ['x', 'y'] },
      },
    },
  });
});

test('the skew estimate is small when server and client share a clock', async () => {
  const estimate = await measureSkew(cluster.skew, cluster.client.raw);
  expect(Math.abs(estimate!.offset)).toBeLessThanOrEqual(1000);
});
