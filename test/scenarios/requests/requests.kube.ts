// Requests on a real Kubernetes: the real garbage collector, the real protection of claims and volumes, and real RBAC,
// with which each controller may do exactly what it declares.

import { realClock } from '@lapse/base/clock';
import { seconds } from '@lapse/base/instant';
import { sleep } from '@lapse/base/sleep';
import { defineKind } from '@lapse/kube/api/kind';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { PersistentVolumeClaim, StorageClass, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { ObjectKeeper } from 'lapse/api/objectKeeper';
import type { RequestObject } from 'lapse/api/storage/request';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { widgetOf, widgetsOf } from '../widgets.ts';
import { applyKinds, type Cluster, eventually, startCluster } from './cluster.testkit.ts';
import { capture, claim, content, detach, restore, snapshotClass, storageClass, volume } from './kit.ts';

const WIDGETS = widgetsOf('example.lapse.dev');
const widget = widgetOf(WIDGETS, 'w');
const configMap = (name: string, namespace = 'default', owner?: KubeObject): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    name,
    namespace,
    ...(owner === undefined
      ? {}
      : {
          ownerReferences: [
            {
              apiVersion: owner.apiVersion,
              kind: owner.kind,
              name: owner.metadata.name!,
              uid: owner.metadata.uid!,
            },
          ],
        }),
  },
});

let cluster: Cluster;
beforeAll(async () => {
  const follow = ['configmaps', 'widgets.example.lapse.dev'];
  cluster = await startCluster(
    {
      actAs: 'controller',
      requestTTL: { ttl: '3s' },
      detach: { retention: { mode: 'FollowObjectWithTTL', ttl: '2s' } },
      objectKeeper: { follow },
      restore: { executor: 'External' },
    },
    [WIDGETS],
  );
  await cluster.userClient.apply([snapshotClass(), storageClass(), volume(), claim(), content()]);
});
afterAll(async () => {
  await cluster?.stop();
});

const get = <T extends KubeObject>(ref: string) => cluster.userClient.get<T>(ref);
const present = async <T extends KubeObject>(ref: string): Promise<T> => {
  const found = await get<T>(ref);
  if (found === undefined) throw new Error(`${ref} does not exist`);
  return found;
};
const gone = (ref: string) => eventually(async () => expect(await get(ref)).toBeUndefined());
const ended = (ref: string, how: string) =>
  eventually(async () => {
    const request = await present<RequestObject>(ref);
    const ready = request.status?.conditions?.[0];
    expect(`${ready?.status} ${ready?.reason}`).toBe(how);
    return request;
  });
const follow = (object: KubeObject, name: string, spec: object = { mode: 'FollowObject' }): KubeObject => ({
  apiVersion: 'deckhouse.io/v1alpha1',
  kind: 'ObjectKeeper',
  metadata: { name },
  spec: {
    ...spec,
    followObjectRef: {
      apiVersion: object.apiVersion,
      kind: object.kind,
      namespace: object.metadata.namespace,
      name: object.metadata.name,
      uid: object.metadata.uid,
    },
  },
});
const phase = (name: string, text: string) =>
  eventually(async () => {
    const { status } = await present<ObjectKeeper>(`objectkeeper/${name}`);
    const active = status?.conditions?.find(({ type }) => type === 'Active');
    expect(`${status?.phase} ${active?.status}/${active?.reason}`).toBe(text);
  });

test('the real garbage collector deletes a snapshot and everything that belongs to it', async () => {
  await cluster.userClient.create(capture());
  const { metadata } = await ended('vcr/nightly', 'True Completed');
  const made = await present(`vsc/snapshot-${metadata.uid}`);
  expect(made.metadata.ownerReferences).toMatchObject([
    { kind: 'ObjectKeeper', name: `ret-snapshot-${metadata.uid}`, controller: true },
  ]);
  await gone('vcr/nightly');
  await gone(`objectkeeper/ret-snapshot-${metadata.uid}`);
  await gone(`vsc/snapshot-${metadata.uid}`);
});

/** The right to create contents, but none to the finalizers of keepers. */
const PROBE = { name: 'lapse:probe' };
const RBAC = 'rbac.authorization.k8s.io';
const PROBE_ROLE = [
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRole',
    metadata: PROBE,
    rules: [
      {
        apiGroups: [VolumeSnapshotContent.group],
        resources: [VolumeSnapshotContent.resource],
        verbs: ['create'],
      },
    ],
  },
  {
    apiVersion: `${RBAC}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: PROBE,
    roleRef: { apiGroup: RBAC, kind: 'ClusterRole', ...PROBE },
    subjects: [{ apiGroup: RBAC, kind: 'User', ...PROBE }],
  },
] as KubeObject[];

test('the declared rights suffice where blockOwnerDeletion needs a right to finalizers', async () => {
  const spec = { mode: 'TTL', ttl: '1h' };
  const keeper = {
    apiVersion: 'deckhouse.io/v1alpha1',
    kind: 'ObjectKeeper',
    metadata: { name: 'owner' },
    spec,
  };
  await cluster.userClient.create([keeper as KubeObject, ...PROBE_ROLE]);
  const { apiVersion, kind, metadata } = await present('objectkeeper/owner');
  const owner = { apiVersion, kind, name: 'owner', uid: metadata.uid!, blockOwnerDeletion: true };
  const owned = content('probe', undefined);
  owned.metadata.ownerReferences = [owner];
  const create = (controller: string) =>
    cluster.clientOf(controller).create(VolumeSnapshotContent, owned, { dryRun: true });
  await eventually(() => expect(create('probe')).rejects.toThrow('cannot set blockOwnerDeletion'));
  expect((await create('volume-capture')).kind).toBe('created');
});

test('a content that another owner adopted is kept', async () => {
  await cluster.userClient.create([capture('adopted')]);
  const { metadata } = await ended('vcr/adopted', 'True Completed');
  const adopter = await present('vsc/kept');
  const made = await present(`vsc/snapshot-${metadata.uid}`);
  const { apiVersion, kind } = adopter;
  const reference = { apiVersion, kind, name: adopter.metadata.name!, uid: adopter.metadata.uid! };
  await cluster.userClient.patch(`vsc/snapshot-${metadata.uid}`, {
    metadata: { ownerReferences: [...made.metadata.ownerReferences!, reference] },
  });
  await gone(`objectkeeper/ret-snapshot-${metadata.uid}`);
  await eventually(async () =>
    expect((await present(`vsc/snapshot-${metadata.uid}`)).metadata.ownerReferences).toHaveLength(1),
  );
});

test('a volume is detached; its claim is deleted through the real protection', async () => {
  const bound = claim('moved');
  const { status: _, ...wanted } = bound;
  await cluster.userClient.apply(wanted as KubeObject);
  const { uid } = (await present('pvc/moved')).metadata;
  await cluster.userClient.apply(
    volume('pv-moved', {
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'moved', uid },
    }),
  );
  await cluster.userClient.status('pvc/moved', { phase: 'Bound' });
  await cluster.userClient.create(detach('move', { persistentVolumeClaimRef: { name: 'moved' } }));
  const request = await ended('vcr/move', 'True Completed');
  await gone('pvc/moved');
  expect((await present('pv/pv-moved')).metadata).toMatchObject({
    annotations: { 'storage.deckhouse.io/detached': 'true' },
    ownerReferences: [{ kind: 'ObjectKeeper', name: `ret-pv-${request.metadata.uid}` }],
  });
  await gone('vcr/move');
  await phase(`ret-pv-${request.metadata.uid}`, 'Expiring False/MissingFollowObject');
  await gone(`objectkeeper/ret-pv-${request.metadata.uid}`);
});

test('a claim restored by another controller is kept', async () => {
  await cluster.userClient.create(restore('back'));
  await ended('vrr/back', 'True Completed');
  await gone('vrr/back');
  expect((await present('pvc/restored')).metadata.ownerReferences).toBeUndefined();
});

test('a refusal of the provisioner is read from its Event', async () => {
  await cluster.userClient.create(
    restore(
      'refused',
      { targetPVCName: 'never' },
      { annotations: { 'simulation.lapse.dev/restore': 'error: no' } },
    ),
  );
  await ended('vrr/refused', 'False RestoreFailed');
});

test('keepers: a lost object, another uid, and a deleted namespace', async () => {
  const { userClient, bed } = cluster;
  await bed.kubectl('create', 'namespace', 'planned');
  await userClient.apply([configMap('lost'), configMap('replaced'), configMap('swept', 'planned')]);
  await userClient.apply([
    follow(await present('configmap/lost'), 'k-lost'),
    follow(await present('configmap/replaced'), 'k-replaced'),
    follow(await present('planned/configmap/swept'), 'k-swept', { mode: 'FollowObjectWithTTL', ttl: '1s' }),
  ]);
  for (const name of ['k-lost', 'k-replaced', 'k-swept']) await phase(name, 'Tracking True/ObjectExists');
  await userClient.apply(configMap('owned', 'default', await present('objectkeeper/k-lost')));
  await userClient.delete('configmap/lost');
  await userClient.delete('configmap/replaced');
  await userClient.apply(configMap('replaced'));
  await bed.kubectl('delete', 'namespace', 'planned', '--wait=false');
  await gone('objectkeeper/k-lost');
  await gone('configmap/owned');
  await gone('objectkeeper/k-replaced');
  await gone('objectkeeper/k-swept');
});

test('keepers: a CRD that is removed and comes back causes no deletion of keepers', async () => {
  const { userClient, admin } = cluster;
  await userClient.apply(widget);
  await userClient.apply([
    follow(await present('widget/w'), 'k-widget'),
    follow(await present('widget/w'), 'k-timed', { mode: 'FollowObjectWithTTL', ttl: '1s' }),
  ]);
  await phase('k-widget', 'Tracking True/ObjectExists');
  await phase('k-timed', 'Tracking True/ObjectExists');
  await admin.delete(CustomResourceDefinition, { name: WIDGETS.metadata.name! });
  await phase('k-widget', 'Tracking Unknown/KindNotServed');
  await eventually(async () =>
    expect(await admin.get(CustomResourceDefinition, { name: WIDGETS.metadata.name! })).toBeUndefined(),
  );
  await applyKinds(admin, [WIDGETS]);
  await userClient.patch('objectkeeper/k-timed', { spec: { ttl: '2s' } });
  await sleep(realClock, seconds(4));
  await present('objectkeeper/k-widget');
  const { status } = await present<ObjectKeeper>('objectkeeper/k-timed');
  expect(status?.conditions?.[0]?.status).toBe('Unknown');
  expect(status?.lostAt).toBeUndefined();
});

const refused = async (work: Promise<unknown>): Promise<number> => {
  try {
    await work;
    return 0;
  } catch (error) {
    if (error instanceof ApiError) return error.code;
    throw error;
  }
};

test('with an external executor the restore controller may create neither claims nor snapshots', async () => {
  const client = cluster.clientOf('volume-restore');
  const VolumeSnapshot = defineKind({
    group: 'snapshot.storage.k8s.io',
    version: 'v1',
    kind: 'VolumeSnapshot',
    resource: 'volumesnapshots',
    namespaced: true,
  });
  const snapshot = {
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshot',
    metadata: { name: 'x', namespace: 'default' },
  };
  const pvc = claim('forbidden') as PersistentVolumeClaim;
  expect(await refused(client.create(PersistentVolumeClaim, pvc))).toBe(403);
  expect(await refused(client.create(VolumeSnapshot, snapshot))).toBe(403);
});

test('no client may list or watch storage classes, and only its controller may write the status of a request', async () => {
  for (const { name } of cluster.controllers) {
    const client = cluster.clientOf(name);
    expect([name, await refused(client.list(StorageClass))]).toEqual([name, 403]);
    for (const kind of ['volumecapturerequests', 'volumerestorerequests']) {
      const answer = await cluster.bed
        .kubectl('auth', 'can-i', 'patch', `${kind}.storage.deckhouse.io/status`, '--as', `lapse:${name}`)
        .then(
          (text) => text.trim(),
          () => 'no',
        );
      const own = name === (kind === 'volumecapturerequests' ? 'volume-capture' : 'volume-restore');
      expect([name, kind, answer]).toEqual([name, kind, own ? 'yes' : 'no']);
    }
  }
});
