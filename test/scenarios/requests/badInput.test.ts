// Captures and restores on the stock snapshot stack that cannot work: each ends with a reason, or waits with a visible
// cause, and none leaves an object behind.

import { minutes, seconds } from '@lapse/base/instant';
import { PersistentVolumeClaim, VolumeSnapshot, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import { ObjectKeeper } from 'lapse/api/objectKeeper';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Scene } from '../scene.ts';
import { capture, claim, readyOf, restore, snapshotClass, storageClass, volume } from './kit.ts';
import { captured, REF, sourceOf, stockCluster } from './stock.testkit.ts';

/** Names of the objects that captures and restores create, except those that exist from the start. */
async function created({ simulation }: Scene): Promise<string[]> {
  const { user } = await simulation();
  const lists = [
    await user.list(ObjectKeeper),
    await user.list(VolumeSnapshotContent),
    await user.list(VolumeSnapshot),
    await user.list(PersistentVolumeClaim),
  ];
  return lists.flatMap(({ items }) => items.map(({ kind, metadata }) => `${kind} ${metadata.name}`));
}

const SECRET = { 'csi.storage.k8s.io/snapshotter-secret-name': 'key' };
const TERMINATING = { finalizers: ['example.com/hold'] };

interface Capture {
  readonly spec: object;
  readonly reason: string;
  readonly message: string;
}

const CAPTURES: Record<string, Capture> = {
  'a class of another driver': {
    spec: { volumeSnapshotClassName: 'other' },
    reason: 'InvalidSource',
    message: 'is of driver csi.other, the volume of driver csi.example',
  },
  'a class that does not exist': {
    spec: { volumeSnapshotClassName: 'none' },
    reason: 'NotFound',
    message: 'VolumeSnapshotClass none does not exist',
  },
  'a class with half a secret': {
    spec: { volumeSnapshotClassName: 'half' },
    reason: 'InvalidSource',
    message: 'has only one of the parameters csi.storage.k8s.io/snapshotter-secret-name and',
  },
  'a volume without a CSI handle': {
    spec: { persistentVolumeClaimRef: { name: 'local' } },
    reason: 'InvalidSource',
    message: 'PersistentVolume pv-local has no CSI volume handle',
  },
  'a claim that is being deleted': {
    spec: { persistentVolumeClaimRef: { name: 'old' } },
    reason: 'InvalidSource',
    message: 'PersistentVolumeClaim default/old is being deleted',
  },
  'a claim that is not bound': {
    spec: { persistentVolumeClaimRef: { name: 'waiting' } },
    reason: 'NotBound',
    message: 'PersistentVolumeClaim default/waiting is not bound to a volume',
  },
};

for (const [what, { spec, reason, message }] of Object.entries(CAPTURES))
  scenario(`a capture of ${what} ends with ${reason} and creates nothing`, async (scene) => {
    const { given, when, then } = scene;
    const driver = await stockCluster(given);
    await given.object([
      snapshotClass('other', { driver: 'csi.other' }),
      snapshotClass('half', { parameters: SECRET }),
      volume('pv-local', { csi: undefined, hostPath: { path: '/x' } }),
      claim('local'),
      claim('old', {}, TERMINATING),
      claim('waiting', { volumeName: undefined, storageClassName: '' }, {}, 'Pending'),
    ]);
    await when.timePasses(seconds(1));
    await when.user.delete('pvc/old');
    const before = await created(scene);
    await when.user.apply(capture('nightly', spec));
    await when.timePasses(seconds(5));
    const { status } = await then.object<RequestObject>(REF);
    expect(status?.conditions).toMatchObject([{ reason, message: expect.stringContaining(message) }]);
    expect(await created(scene)).toEqual(before);
    expect(driver.snapshots).toEqual([]);
  });

scenario('an absent secret is reported in an Event, and ends the capture at its deadline', async (scene) => {
  const { given, when, then } = scene;
  // csi-snapshotter reads the secret; Lapse does not. Its error arrives like every other one.
  const message = 'error getting secret key in namespace storage: secrets "key" not found';
  const absent = { method: 'CreateSnapshot', error: { code: 'Internal', message } } as const;
  await stockCluster(given, { faults: [absent] });
  await when.timePasses(seconds(1));
  const before = await created(scene);
  await when.user.apply(capture('nightly', { timeout: '1m' }));
  await when.timePasses(seconds(30));
  expect(await readyOf(then, REF)).toBeUndefined();
  expect(await then.events('volumecapturerequest/nightly')).toMatchObject([
    { reason: 'SnapshotRetried', note: expect.stringContaining('secrets "key" not found') },
  ]);
  await when.timePasses(minutes(1));
  expect(await readyOf(then, REF)).toBe('False SnapshotCreationFailed');
  await when.timePasses(minutes(11));
  expect(await created(scene)).toEqual(before);
});

interface Restore {
  readonly spec: object;
  readonly reason: string;
  readonly message: string;
}

const RESTORES: Record<string, Restore> = {
  'a storage class that does not exist': {
    spec: { storageClassName: 'none' },
    reason: 'NotFound',
    message: 'StorageClass none does not exist',
  },
  'no storage class, and no default': {
    spec: { storageClassName: undefined },
    reason: 'InvalidReference',
    message: 'spec.storageClassName is not set, and the cluster has no default StorageClass',
  },
  'a storage class of another driver': {
    spec: { storageClassName: 'slow' },
    reason: 'InvalidSource',
    message: 'StorageClass slow is of provisioner csi.other, the snapshot of driver csi.example',
  },
  'another volume mode': {
    spec: { volumeMode: 'Block' },
    reason: 'InvalidSource',
    message: 'spec.volumeMode is Block, the volume mode of VolumeSnapshotContent',
  },
  'the name of a claim with other data': {
    spec: { targetPVCName: 'data' },
    reason: 'TargetConflict',
    message: 'PersistentVolumeClaim default/data existed before this request',
  },
  'a source that does not exist': {
    spec: { sourceRef: { kind: 'VolumeSnapshotContent', name: 'none' } },
    reason: 'NotFound',
    message: 'VolumeSnapshotContent none does not exist',
  },
};

for (const [what, { spec, reason, message }] of Object.entries(RESTORES))
  scenario(`a restore with ${what} ends with ${reason} and leaves nothing`, async (scene) => {
    const { given, when, then } = scene;
    await stockCluster(given);
    await given.object([{ ...storageClass('slow'), provisioner: 'csi.other' } as never]);
    const sourceRef = sourceOf(await captured(scene));
    const before = await created(scene);
    await when.user.apply(restore('back', { sourceRef, ...spec }));
    await when.timePasses(seconds(40));
    const { status, metadata } = await then.object<RequestObject>('vrr/back');
    expect(status?.conditions).toMatchObject([{ reason, message: expect.stringContaining(message) }]);
    const left = (await created(scene)).filter((one) => one !== `ObjectKeeper ret-pvc-${metadata.uid}`);
    expect(left).toEqual(before);
  });

scenario('a source that is being deleted is not restored', async (scene) => {
  const { given, when, then } = scene;
  await stockCluster(given);
  const { name, kind } = sourceOf(await captured(scene));
  const finalizers = ['example.com/hold'];
  await when.user.patch(`vsc/${name}`, { metadata: { finalizers } });
  await when.user.delete(`vsc/${name}`);
  await when.user.apply(restore('back', { sourceRef: { kind, name } }));
  await when.timePasses(seconds(5));
  expect(await readyOf(then, 'vrr/back')).toBe('False SourceFailed');
  await then.isGone('pvc/restored');
});
