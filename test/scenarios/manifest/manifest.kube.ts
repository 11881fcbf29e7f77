// Captures of manifests on a real Kubernetes: the API server accepts the CRDs, with rules within the cost limit; RBAC
// is as declared; integers survive the real server's encoding; the real garbage collector deletes what a request
// created.

import { equal, type Json } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import type { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import type { ManifestCheckpoint } from 'lapse/api/manifestCheckpoint';
import { ManifestCheckpointContentChunk } from 'lapse/api/manifestCheckpointContentChunk';
import { noise } from 'lapse/checkpoint/checkpoint.testkit';
import { decodeChunk } from 'lapse/checkpoint/decode';
import { reviewTargets } from 'lapse/controllers/manifest-capture/rights';
import { findTargets, type Target } from 'lapse/controllers/manifest-capture/targets';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Cluster, eventually, startCluster } from '../requests/cluster.testkit.ts';
import { widgetOf, widgetsOf } from '../widgets.ts';
import { configMap, FAMILIES, manifests, secret, target } from './kit.ts';

const WIDGETS = widgetsOf('example.lapse.dev');
const LARGE = [1, 2, 3].map((i) => configMap(`large-${i}`, { x: noise(700_000, i) }));

let cluster: Cluster;
beforeAll(async () => {
  const configuration = { actAs: 'controller', requestTTL: { ttl: '20s' } };
  cluster = await startCluster(configuration, [WIDGETS], { families: FAMILIES });
  await cluster.userClient.apply([
    configMap('a', { text: 'Zürich 🚀' }),
    secret(),
    widgetOf(WIDGETS, 'w', { big: 9_007_199_254_740_993n }),
    ...LARGE,
  ]);
});
afterAll(async () => {
  await cluster?.stop();
});

const ended = (name: string, how: string): Promise<ManifestCaptureRequest> =>
  eventually(async () => {
    const request = await cluster.userClient.get<ManifestCaptureRequest>(`mcr/${name}`);
    const ready = request?.status?.conditions?.[0];
    expect(`${ready?.status} ${ready?.reason}`).toBe(how);
    return request!;
  });

async function objectsOf(checkpoint: ManifestCheckpoint): Promise<KubeObject[]> {
  const objects: KubeObject[] = [];
  for (const { name, index, checksum, objectsCount } of checkpoint.status!.chunks!) {
    const chunk = await cluster.admin.get(ManifestCheckpointContentChunk, { name });
    const expected = { checkpointName: checkpoint.metadata.name!, index, checksum, objectsCount };
    const decoded = decodeChunk(chunk!, expected);
    if (decoded.kind === 'damaged') throw new Error(decoded.why);
    objects.push(...decoded.objects);
  }
  return objects;
}

test('captures objects unchanged in several chunks; everything is deleted with the request', async () => {
  const targets = [
    target('Widget', 'w', 'example.lapse.dev/v1'),
    target('Namespace', 'default'),
    target('Secret', 'db'),
    ...['a', 'large-1', 'large-2', 'large-3'].map((name) => target('ConfigMap', name)),
  ];
  await cluster.userClient.create(manifests('real', targets));
  const { status, metadata } = await ended('real', 'True Completed');
  const checkpoint = (await cluster.userClient.get<ManifestCheckpoint>(`mcp/${status!.checkpointName}`))!;
  expect(checkpoint.status!.chunks!.length).toBeGreaterThan(2);
  const objects = await objectsOf(checkpoint);
  expect(objects).toHaveLength(targets.length);
  for (const object of objects) {
    const live = (await cluster.userClient.get(`${object.kind.toLowerCase()}/${object.metadata.name}`))!;
    const { managedFields: _, ...rest } = live.metadata;
    expect(equal(asJson(object), asJson({ ...live, metadata: rest }) as Json), object.metadata.name).toBe(
      true,
    );
  }
  const widget = objects.find(({ kind }) => kind === 'Widget')!;
  expect((widget['spec'] as { big: bigint }).big).toBe(9_007_199_254_740_993n);
  for (const ref of [
    `mcr/${metadata.name}`,
    `mcp/${status!.checkpointName}`,
    `mcpchunk/${status!.checkpointName}-0`,
  ])
    await eventually(async () => expect(await cluster.userClient.get(ref)).toBeUndefined());
});

test('a missing target fails the request and leaves nothing behind', async () => {
  await cluster.userClient.create(manifests('typo', [target('ConfigMap', 'a'), target('ConfigMap', 'none')]));
  const { metadata } = await ended('typo', 'False NotFound');
  expect(await cluster.userClient.get(`objectkeeper/ret-mcr-${metadata.uid}`)).toBeUndefined();
});

test('10,000 targets are accepted, 10,001 are refused; a spec cannot be changed', async () => {
  const many = Array.from({ length: 10_000 }, (_, i) => target('ConfigMap', `none-${i}-${'x'.repeat(40)}`));
  await cluster.userClient.create(manifests('many', many));
  await ended('many', 'False NotFound');
  await expect(cluster.userClient.create(manifests('more', [...many, many[0]!]))).rejects.toThrow(
    /must have at most 10000 items/,
  );
  await expect(
    cluster.userClient.patch('mcr/many', { spec: { targets: [target('ConfigMap', 'a')] } }),
  ).rejects.toThrow('one operation');
});

test('the real authorizer decides what an author may read: by kind, by name, and the namespace itself', async () => {
  const rbac = 'rbac.authorization.k8s.io';
  const metadata = { name: 'bob', namespace: 'default' };
  await cluster.userClient.create([
    {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata,
      rules: [
        { apiGroups: [''], resources: ['configmaps', 'namespaces'], verbs: ['get'] },
        { apiGroups: [''], resources: ['secrets'], resourceNames: ['db'], verbs: ['get'] },
      ],
    } as KubeObject,
    {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: rbac, kind: 'Role', name: 'bob' },
      subjects: [{ apiGroup: rbac, kind: 'User', name: 'bob' }],
    } as KubeObject,
  ]);
  const wanted = [
    target('ConfigMap', 'a'),
    target('Namespace', 'default'),
    target('Secret', 'db'),
    target('Secret', 'root'),
    target('Widget', 'w', 'example.lapse.dev/v1'),
  ];
  const policy = {
    secrets: 'include',
    profile: 'verbatim',
    authorization: 'Webhook',
    allowedKinds: [],
    retention: { mode: 'FollowObject' },
  } as const;
  const targets = await findTargets(manifests('x', wanted), cluster.admin.discovery, policy);
  await eventually(async () => {
    const missing = await reviewTargets(cluster.admin, { username: 'bob' }, targets as readonly Target[]);
    expect(missing.map(({ resource, name }) => `${resource} ${name}`)).toEqual(['widgets w', 'secrets root']);
  });
});
