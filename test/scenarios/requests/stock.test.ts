// Captures on the stock snapshot stack: the CRDs of external-snapshotter, snapshot-controller, csi-snapshotter and a CSI
// driver, all simulated as recorded from the real ones.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { PersistentVolume, PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import { type CsiFault, SimulatedDriver } from '@lapse/simulation/csi/driver';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { csiStack } from '@lapse/simulation/csi/stack';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Given, Scene } from '../scene.ts';
import {
  capture,
  claim,
  DRIVER,
  detach,
  FAMILIES,
  readyOf,
  restore,
  snapshotClass,
  storageClass,
} from './kit.ts';

const REF = 'vcr/nightly';
const DOWN = { code: 'Unavailable', message: 'controller is restarting' } as const;

/** A cluster with a claim that the driver provisions. */
async function stockCluster(given: Given, ...faults: readonly CsiFault[]): Promise<SimulatedDriver> {
  const driver = new SimulatedDriver(DRIVER);
  driver.inject(...faults);
  given.controllers(...FAMILIES, 'volume-restore');
  given.configuration({ actAs: 'controller' });
  given.kinds(...STOCK_SNAPSHOT_KINDS);
  given.simulatedControllers('owner-gc', ...csiStack({ driver }));
  const unbound = claim('data', { volumeName: undefined }, {}, 'Pending');
  await given.object([snapshotClass('snap', { deletionPolicy: 'Retain' }), storageClass(), unbound]);
  return driver;
}

/** Captures the claim and returns the request. */
async function captured({ when, then }: Scene, request = capture()): Promise<RequestObject> {
  await when.timePasses(seconds(1));
  await when.user.apply(request);
  await when.timePasses(seconds(5));
  expect(await readyOf(then, REF)).toBe('True Completed');
  return then.object<RequestObject>(REF);
}

const sourceOf = ({ metadata }: RequestObject) => ({
  kind: 'VolumeSnapshotContent',
  name: `snapshot-${metadata.uid}`,
});
const helperOf = ({ metadata }: RequestObject) => `restore-${metadata.uid}`;

scenario(
  'a snapshot is taken, and deleted from the storage system with the request',
  async ({ given, when, then }) => {
    const driver = await stockCluster(given);
    await when.timePasses(seconds(1));
    await when.user.apply(capture());
    await when.timePasses(seconds(5));
    expect(await readyOf(then, REF)).toBe('True Completed');
    expect(driver.snapshots).toHaveLength(1);
    await when.timePasses(minutes(11));
    await then.isGone(REF);
    expect(driver.snapshots).toEqual([]);
  },
);

scenario('an error is retried, and the request completes', async ({ given, when, then }) => {
  const driver = await stockCluster(given, { method: 'CreateSnapshot', times: 3, error: DOWN });
  await when.timePasses(seconds(1));
  await when.user.apply(capture());
  await when.timePasses(seconds(5));
  expect(await readyOf(then, REF)).toBeUndefined();
  await when.timePasses(minutes(1));
  expect(await readyOf(then, REF)).toBe('True Completed');
  expect(driver.snapshots).toHaveLength(1);
});

scenario(
  'an error that lasts ends the request at its deadline, and nothing is left in the storage system',
  async ({ given, when, then }) => {
    const driver = await stockCluster(given, {
      method: 'CreateSnapshot',
      times: 30,
      error: { code: 'InvalidArgument', message: 'thick volumes have no snapshots' },
    });
    await when.timePasses(seconds(1));
    await when.user.apply(capture());
    await when.timePasses(minutes(4));
    expect(await readyOf(then, REF)).toBeUndefined();
    await when.timePasses(minutes(2));
    const request = await then.object<RequestObject>(REF);
    expect(request.status?.conditions).toMatchObject([
      { reason: 'SnapshotCreationFailed', message: expect.stringContaining('thick volumes') },
    ]);
    await then.isGone(`vsc/snapshot-${request.metadata.uid}`);
    expect(driver.snapshots).toEqual([]);
  },
);

scenario('a retained snapshot stays, and the message names it', async ({ given, when, then }) => {
  const driver = await stockCluster(given);
  await when.timePasses(seconds(1));
  await when.user.apply(capture('nightly', { retain: true }));
  await when.timePasses(seconds(5));
  const { status } = await then.object<RequestObject>(REF);
  const [handle] = driver.snapshots;
  expect(status?.conditions?.[0]?.message).toContain(`the snapshot ${handle} stays in the storage system`);
  await when.timePasses(minutes(11));
  await then.isGone(REF);
  expect(driver.snapshots).toEqual([handle]);
});

scenario(
  'a request that is deleted while the driver takes the snapshot leaves nothing',
  async ({ given, when, then }) => {
    const driver = await stockCluster(given, { method: 'CreateSnapshot', times: 1, delay: seconds(20) });
    await when.timePasses(seconds(1));
    await when.user.apply(capture());
    await when.timePasses(seconds(5));
    await when.user.delete(REF);
    await when.timePasses(minutes(1));
    await then.isGone(REF);
    expect(driver.snapshots).toEqual([]);
  },
);

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
