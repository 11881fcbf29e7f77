// Every reason with which a capture can end, each reached from a realistic cluster state. A capture that was not
// started leaves nothing behind: no keeper, no artifact.

import { seconds } from '@lapse/base/instant';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Fault } from '@lapse/simulation/faults';
import type { Matcher } from '@lapse/simulation/requestInfo';
import { expect } from 'vitest';
import { requestScenario } from './invariants.ts';
import {
  capture,
  claim,
  content,
  detach,
  readyOf,
  snapshotClass,
  storageClass,
  usualObjects,
  volume,
  volumeWorld,
} from './kit.ts';

interface Row {
  readonly request?: KubeObject;
  readonly objects?: readonly KubeObject[];
  readonly fault?: readonly [Matcher, Fault | number];
  readonly ends: string;
  readonly says: string;
  /** Objects that exist until it is deleted. */
  readonly leaves?: 'keeper';
}

const without = (kind: string): KubeObject[] => usualObjects().filter((object) => object.kind !== kind);
const withChanged = (changed: KubeObject): KubeObject[] => [...without(changed.kind), changed];
const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'user', namespace: 'default' },
  spec: {
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
  },
};

/** A claim and a volume bound to each other, to be detached. */
const DETACHED = {
  objects: withChanged(volume('pv-data', { claimRef: { namespace: 'default', name: 'data' } })),
  request: detach(),
};

const rows: Record<string, Row> = {
  'Completed: a snapshot': {
    ends: 'True Completed',
    says: 'is ready; it ends when this request is deleted',
    leaves: 'keeper',
  },
  'Completed: a reference with a kind, an empty namespace and an empty class': {
    request: capture('nightly', {
      persistentVolumeClaimRef: { kind: 'PersistentVolumeClaim', name: 'data', namespace: '' },
      volumeSnapshotClassName: '',
    }),
    ends: 'True Completed',
    says: 'is ready',
    leaves: 'keeper',
  },
  'Completed: a detach whose reference has a kind and an empty namespace': {
    objects: DETACHED.objects,
    request: detach('nightly', {
      persistentVolumeClaimRef: { kind: 'PersistentVolumeClaim', name: 'data', namespace: '' },
    }),
    ends: 'True Completed',
    says: 'is detached',
    leaves: 'keeper',
  },
  'Completed: the class named by the request, without a storage class': {
    objects: withChanged(claim('data', { storageClassName: '' })),
    request: capture('nightly', { volumeSnapshotClassName: 'snap' }),
    ends: 'True Completed',
    says: 'is ready',
    leaves: 'keeper',
  },
  'Completed: a detached volume': {
    ...DETACHED,
    ends: 'True Completed',
    says: 'it ends 24h after this request is deleted',
    leaves: 'keeper',
  },
  'InvalidReference: no claim is named': {
    request: capture('nightly', { persistentVolumeClaimRef: undefined }),
    ends: 'False InvalidReference',
    says: 'names no claim',
  },
  'InvalidReference: a claim of another namespace': {
    request: capture('nightly', { persistentVolumeClaimRef: { name: 'data', namespace: 'kube-system' } }),
    ends: 'False InvalidReference',
    says: 'captures across namespaces are not allowed',
  },
  'NotFound: no such claim': {
    objects: without('PersistentVolumeClaim'),
    ends: 'False NotFound',
    says: 'PersistentVolumeClaim default/data does not exist',
  },
  'NotFound: no such claim to detach, and no record of one': {
    objects: without('PersistentVolumeClaim'),
    request: detach(),
    ends: 'False NotFound',
    says: 'PersistentVolumeClaim default/data does not exist',
  },
  'NotFound: no such volume': {
    objects: without('PersistentVolume'),
    ends: 'False NotFound',
    says: 'PersistentVolume pv-data does not exist',
  },
  'NotFound: a claim with an invalid volume name': {
    objects: withChanged(claim('data', { volumeName: '../pv-data' })),
    ends: 'False NotFound',
    says: 'PersistentVolume ../pv-data does not exist',
  },
  'NotFound: a claim to detach with an invalid volume name': {
    objects: withChanged(claim('data', { volumeName: 'a/b' })),
    request: detach(),
    ends: 'False NotFound',
    says: 'PersistentVolume a/b does not exist',
  },
  'NotFound: no such storage class': {
    objects: without('StorageClass'),
    ends: 'False NotFound',
    says: 'StorageClass fast does not exist',
  },
  'NotFound: a storage class without the annotation': {
    objects: withChanged(storageClass('fast', {})),
    ends: 'False NotFound',
    says: 'has no annotation',
  },
  'NotFound: no storage class and no snapshot class': {
    objects: withChanged(claim('data', { storageClassName: '' })),
    ends: 'False NotFound',
    says: 'the claim has no StorageClass',
  },
  'NotFound: no such snapshot class': {
    objects: without('VolumeSnapshotClass'),
    ends: 'False NotFound',
    says: 'VolumeSnapshotClass snap does not exist',
  },
  'RBACDenied: the storage class may not be read': {
    fault: ['get storageclasses', 403],
    ends: 'False RBACDenied',
    says: 'looking for the source',
  },
  'RBACDenied: the snapshot class may not be read': {
    fault: ['get volumesnapshotclasses', 403],
    ends: 'False RBACDenied',
    says: 'looking for the source',
  },
  'RBACDenied: keepers may not be created': {
    fault: ['create objectkeepers', 403],
    ends: 'False RBACDenied',
    says: 'creating ObjectKeeper',
  },
  'RBACDenied: contents may not be created': {
    fault: ['create volumesnapshotcontents', 403],
    ends: 'False RBACDenied',
    says: 'creating VolumeSnapshotContent',
    leaves: 'keeper',
  },
  'RBACDenied: the claim may not be deleted': {
    ...DETACHED,
    fault: ['delete persistentvolumeclaims', 403],
    ends: 'False RBACDenied',
    says: 'releasing PersistentVolume pv-data',
    leaves: 'keeper',
  },
  'RBACDenied: the volume may not be marked': {
    ...DETACHED,
    fault: ['patch persistentvolumes', 403],
    ends: 'False RBACDenied',
    says: 'marking PersistentVolume pv-data',
    leaves: 'keeper',
  },
  'RBACDenied: the claim may not be confirmed': {
    objects: without('PersistentVolumeClaim'),
    fault: ['get persistentvolumeclaims', 403],
    ends: 'False RBACDenied',
    says: 'looking for the source',
  },
  'NotBound: a claim without a volume': {
    objects: withChanged(claim('data', { volumeName: '' })),
    ends: 'False NotBound',
    says: 'is not bound to a volume',
  },
  'NotBound: a claim that names a volume of another claim': {
    objects: withChanged(volume('pv-data', { claimRef: { namespace: 'other', name: 'data' } })),
    ends: 'False NotBound',
    says: 'is bound to another claim',
  },
  'NotBound: a volume that is not bound to the claim is not detached': {
    objects: withChanged(
      volume('pv-data', { claimRef: { namespace: 'default', name: 'data', uid: 'older' } }),
    ),
    request: detach(),
    ends: 'False NotBound',
    says: 'is not bound to claim default/data',
  },
  'InvalidSource: a volume without CSI': {
    objects: withChanged(volume('pv-data', { csi: undefined, hostPath: { path: '/x' } })),
    ends: 'False InvalidSource',
    says: 'has no CSI volume handle',
  },
  'InvalidSource: a class of another driver': {
    objects: withChanged(snapshotClass('snap', { driver: 'other' })),
    ends: 'False InvalidSource',
    says: 'is of driver other',
  },
  'SnapshotCreationFailed: the storage system reports an error': {
    objects: withChanged(
      snapshotClass('snap', {}, { annotations: { 'simulation.lapse.dev/snapshot': 'error: disk on fire' } }),
    ),
    request: capture('nightly', { timeout: '0s' }),
    ends: 'False SnapshotCreationFailed',
    says: 'disk on fire',
    leaves: 'keeper',
  },
  'UnsupportedSnapshotStack: contents without a VolumeSnapshot are refused': {
    fault: [
      'create volumesnapshotcontents',
      { answer: 422, reason: 'Invalid', message: 'both name and namespace must be set' },
    ],
    ends: 'False UnsupportedSnapshotStack',
    says: 'both name and namespace must be set',
    leaves: 'keeper',
  },
  'InternalError: the server refuses the request as malformed': {
    fault: ['create objectkeepers', 400],
    ends: 'False InternalError',
    says: 'creating ObjectKeeper',
  },
  'InUse: a Pod uses the claim': {
    objects: [...withChanged(volume('pv-data', { claimRef: { namespace: 'default', name: 'data' } })), pod],
    request: detach(),
    ends: 'False InUse',
    says: 'is used by Pod user',
  },
  'InvalidReclaimPolicy: the volume would be lost': {
    objects: withChanged(
      volume('pv-data', {
        persistentVolumeReclaimPolicy: 'Delete',
        claimRef: { namespace: 'default', name: 'data' },
      }),
    ),
    request: detach(),
    ends: 'False InvalidReclaimPolicy',
    says: 'has reclaim policy Delete',
  },
};
requestScenario.each(rows, async ({ given, when, then, simulation }, row) => {
  await volumeWorld(given, {
    families: ['volume-capture'],
    simulatedControllers: ['csi-snapshotter'],
    ...(row.objects === undefined ? {} : { objects: row.objects }),
  });
  if (row.fault !== undefined) when.serverAnswers(row.fault[0], row.fault[1], { times: 9 });
  await when.user.apply(row.request ?? capture());
  await when.timePasses(seconds(2));
  expect(await readyOf(then, 'vcr/nightly')).toBe(row.ends);
  const request = await then.object('vcr/nightly');
  expect(JSON.stringify(request.status)).toContain(row.says);
  expect(request.metadata.annotations?.['storage.deckhouse.io/ttl']).toBe('10m');
  await when.faultsEnd();
  const made = (await simulation())
    .writes()
    .filter(({ verb, status }) => verb === 'create' && status === 201);
  const keepers = made.filter(({ resource }) => resource === 'objectkeepers');
  expect(keepers).toHaveLength(row.leaves === undefined ? 0 : 1);
  if (row.leaves === undefined) expect(made).toEqual([]);
});

requestScenario(
  'InvalidMode: a mode that the schema would refuse',
  async ({ given, when, then, simulation }) => {
    await volumeWorld(given);
    // A CRD without the enum.
    const { user } = await simulation();
    await user.patch(
      CustomResourceDefinition,
      { name: 'volumecapturerequests.storage.deckhouse.io' },
      {
        type: 'json',
        operations: [
          {
            op: 'remove',
            path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/mode/enum',
          },
        ],
      },
    );
    await when.timePasses(seconds(1));
    await when.user.apply(capture('nightly', { mode: 'Copy' }));
    expect(await readyOf(then, 'vcr/nightly')).toBe('False InvalidMode');
  },
);

requestScenario(
  'OwnershipConflict: a keeper of that name follows another object',
  async ({ given, when, then }) => {
    await volumeWorld(given, { families: ['volume-capture'] });
    when.justBefore('create objectkeepers', async ({ body }) => {
      const keeper = JSON.parse(Buffer.from(body!).toString()) as KubeObject & {
        spec: { followObjectRef: { uid: string } };
      };
      keeper.spec.followObjectRef.uid = 'somebody-else';
      await when.user.create(keeper);
    });
    await when.user.apply(capture());
    expect(await readyOf(then, 'vcr/nightly')).toBe('False OwnershipConflict');
  },
);

requestScenario('OwnershipConflict: a content of that name has no owner', async ({ given, when, then }) => {
  await volumeWorld(given);
  when.justBefore('create volumesnapshotcontents', async ({ body }) => {
    const { metadata } = JSON.parse(Buffer.from(body!).toString()) as KubeObject;
    await when.user.create(content(metadata.name!, undefined));
  });
  await when.user.apply(capture());
  expect(await readyOf(then, 'vcr/nightly')).toBe('False OwnershipConflict');
});
