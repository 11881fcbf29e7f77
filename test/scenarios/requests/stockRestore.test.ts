// Restores on the stock snapshot stack, by Lapse itself.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { PersistentVolume, PersistentVolumeClaim, VolumeSnapshot } from '@lapse/kube/api/kinds/volumes';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect } from 'vitest';
import { scenario } from '../scenario.ts';
import { claim, detach, readyOf, restore } from './kit.ts';
import { captured, helperOf, REF, sourceOf, stockCluster } from './stock.testkit.ts';

scenario('a capture is restored as a new claim with its data', async (scene) => {
  const { given, when, then } = scene;
  const driver = await stockCluster(given);
  const source = sourceOf(await captured(scene));
  await when.user.apply(restore('back', { sourceRef: source }));
  await when.timePasses(minutes(1));
  expect(await readyOf(then, 'vrr/back')).toBe('True Completed');
  const request = await then.object<RequestObject>('vrr/back');
  const { spec } = await then.object<PersistentVolumeClaim>('pvc/restored');
  const { spec: volume } = await then.object<PersistentVolume>(`pv/${spec?.volumeName}`);
  const [snapshot] = driver.snapshots;
  expect(driver.volumes.get(volume!.csi!.volumeHandle)?.from).toBe(snapshot);
  await then.isGone(`volumesnapshot/${helperOf(request)}`);
  await then.isGone(`vsc/${helperOf(request)}`);
  await when.timePasses(minutes(11));
  await then.isGone('vrr/back');
  await then.exists('pvc/restored');
  expect(driver.snapshots).toEqual([]);
});

scenario('a source that is deleted during the restore stays until the claim is bound', async (scene) => {
  const { given, when, then } = scene;
  const driver = await stockCluster(given);
  const request = await captured(scene);
  driver.inject({ method: 'CreateVolume', times: 1, delay: seconds(40) });
  await when.user.apply(restore('back', { sourceRef: sourceOf(request) }));
  await when.timePasses(seconds(5));
  await when.user.delete(REF);
  await when.timePasses(seconds(20));
  await then.exists(`vsc/${sourceOf(request).name}`);
  await when.timePasses(minutes(2));
  expect(await readyOf(then, 'vrr/back')).toBe('True Completed');
  await when.timePasses(minutes(11));
  await then.isGone(`vsc/${sourceOf(request).name}`);
  expect(driver.snapshots).toEqual([]);
});

scenario('a restore that cannot be provisioned fails at its deadline and leaves nothing', async (scene) => {
  const { given, when, then } = scene;
  const driver = await stockCluster(given);
  const source = sourceOf(await captured(scene));
  const error = { code: 'OutOfRange', message: 'pool is full' } as const;
  driver.inject({ method: 'CreateVolume', error });
  await when.user.apply(restore('back', { sourceRef: source }));
  await when.timePasses(minutes(4));
  expect(await readyOf(then, 'vrr/back')).toBeUndefined();
  await when.timePasses(minutes(3));
  const request = await then.object<RequestObject>('vrr/back');
  expect(request.status?.conditions).toMatchObject([
    { reason: 'RestoreFailed', message: expect.stringContaining('pool is full') },
  ]);
  await then.isGone('pvc/restored');
  await then.isGone(`volumesnapshot/${helperOf(request)}`);
  await then.isGone(`vsc/${helperOf(request)}`);
});

scenario('a claim of the target name with other data is a conflict, and it is not changed', async (scene) => {
  const { given, when, then } = scene;
  await stockCluster(given);
  const source = sourceOf(await captured(scene));
  await when.user.apply(claim('restored', { volumeName: undefined }, {}, 'Pending'));
  await when.timePasses(seconds(5));
  await when.user.apply(restore('back', { sourceRef: source }));
  await when.timePasses(seconds(5));
  expect(await readyOf(then, 'vrr/back')).toBe('False TargetConflict');
  await then.exists('pvc/restored');
});

scenario('a capture of another namespace is not restored', async (scene) => {
  const { given, when, then } = scene;
  await stockCluster(given);
  const source = sourceOf(await captured(scene));
  await when.user.apply({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'team' } });
  await when.user.apply(restore('back', { sourceRef: source }, { namespace: 'team' }));
  await when.timePasses(seconds(5));
  expect(await readyOf(then, 'team/vrr/back')).toBe('False InvalidSource');
});

scenario('a detached volume is restored under another name', async (scene) => {
  const { given, when, then } = scene;
  await stockCluster(given);
  await when.timePasses(seconds(1));
  const { spec } = await then.object<PersistentVolumeClaim>('pvc/data');
  await when.user.patch(`pv/${spec!.volumeName}`, { spec: { persistentVolumeReclaimPolicy: 'Retain' } });
  await captured(scene, detach());
  await then.isGone('pvc/data');
  const source = { kind: 'PersistentVolume', name: spec!.volumeName! };
  await when.user.apply(restore('back', { sourceRef: source }));
  await when.timePasses(minutes(1));
  expect(await readyOf(then, 'vrr/back')).toBe('True Completed');
  const restored = await then.object<PersistentVolumeClaim>('pvc/restored');
  expect(restored.spec?.volumeName).toBe(source.name);
  const volume = await then.object<PersistentVolume>(`pv/${source.name}`);
  expect(volume.metadata.ownerReferences).toBeUndefined();
  // The keeper of the detach ends 24 h after its request.
  await when.timePasses(hours(26));
  await then.exists(`pv/${source.name}`);
});

scenario('a claim that a user creates during the restore is a conflict, and it is kept', async (scene) => {
  const { given, when, then } = scene;
  const driver = await stockCluster(given);
  const source = sourceOf(await captured(scene));
  driver.inject({ method: 'CreateVolume', error: { code: 'OutOfRange', message: 'pool is full' } });
  when.justBefore('create persistentvolumeclaims', () =>
    when.user.apply(claim('restored', { volumeName: undefined }, {}, 'Pending')),
  );
  await when.user.apply(restore('back', { sourceRef: source }));
  await when.timePasses(minutes(8));
  expect(await readyOf(then, 'vrr/back')).toBe('False TargetConflict');
  await then.exists('pvc/restored');
});

scenario('with ownership Keeper the restored claim is deleted with the request', async (scene) => {
  const { given, when, then } = scene;
  given.configuration({ restore: { ownership: 'Keeper' } });
  await stockCluster(given);
  const source = sourceOf(await captured(scene));
  await when.user.apply(restore('back', { sourceRef: source }));
  await when.timePasses(minutes(1));
  expect(await readyOf(then, 'vrr/back')).toBe('True Completed');
  await then.exists('pvc/restored');
  await when.timePasses(minutes(11));
  await then.isGone('pvc/restored');
});

scenario('a restore leaves the snapshot of a user as it is', async (scene) => {
  const { given, when, then } = scene;
  const driver = await stockCluster(given);
  await when.timePasses(seconds(1));
  await when.user.apply({
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshot',
    metadata: { name: 'own', namespace: 'default' },
    spec: { volumeSnapshotClassName: 'snap', source: { persistentVolumeClaimName: 'data' } },
  } as never);
  await when.timePasses(seconds(5));
  const { status } = await then.object<VolumeSnapshot>('volumesnapshot/own');
  const name = status!.boundVolumeSnapshotContentName!;
  await when.user.apply(restore('back', { sourceRef: { kind: 'VolumeSnapshotContent', name } }));
  await when.timePasses(minutes(1));
  expect(await readyOf(then, 'vrr/back')).toBe('True Completed');
  await when.timePasses(minutes(15));
  await then.isGone('vrr/back');
  const { metadata } = await then.object(`vsc/${name}`);
  expect([metadata.ownerReferences, metadata.deletionTimestamp]).toEqual([undefined, undefined]);
  expect(driver.snapshots).toHaveLength(1);
});
