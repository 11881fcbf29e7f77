// Captures with `snapshot.via: VolumeSnapshot` on the stock snapshot stack: snapshot-controller creates the content.

import { minutes, seconds } from '@lapse/base/instant';
import type { VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import type { RequestObject } from 'lapse/api/storage/request';
import type { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { expect } from 'vitest';
import { scenario } from '../scenario.ts';
import type { Given, Scene, Then } from '../scene.ts';
import { capture, readyOf, restore, snapshotClass } from './kit.ts';
import { captured, REF, type StockOptions, stockCluster } from './stock.testkit.ts';

const DENIED = { code: 'InvalidArgument', message: 'thick volumes have no snapshots' } as const;

const cluster = (given: Given, options: StockOptions = {}) =>
  stockCluster(given, {
    configuration: { snapshot: { via: 'VolumeSnapshot' } },
    snapshotClass: snapshotClass(),
    ...options,
  });

const artifactOf = ({ metadata }: RequestObject) => `volumesnapshot/snapshot-${metadata.uid}`;

async function sourceOf(then: Then) {
  const { status } = await then.object<VolumeCaptureRequest>(REF);
  const { kind, name } = status!.dataRef!;
  return { kind, name };
}

scenario(
  'a capture creates a VolumeSnapshot and no content, and both are deleted with the request',
  async (scene) => {
    const { given, when, then } = scene;
    const driver = await cluster(given);
    const request = await captured(scene);
    const { kind, name } = await sourceOf(then);
    expect(kind).toBe('VolumeSnapshotContent');
    const made = await then.object<VolumeSnapshotContent>(`vsc/${name}`);
    expect(made.spec?.volumeSnapshotRef?.name).toBe(`snapshot-${request.metadata.uid}`);
    expect(then.requests('create volumesnapshotcontents')).toEqual([]);
    await then.exists(artifactOf(request));
    await when.timePasses(minutes(11));
    await then.isGone(REF);
    await then.isGone(artifactOf(request));
    await then.isGone(`vsc/${name}`);
    expect(driver.snapshots).toEqual([]);
  },
);

scenario('an error that lasts ends the request, and its VolumeSnapshot is deleted', async (scene) => {
  const { given, when, then } = scene;
  const driver = await cluster(given, { faults: [{ method: 'CreateSnapshot', times: 30, error: DENIED }] });
  await when.timePasses(seconds(1));
  await when.user.apply(capture());
  await when.timePasses(minutes(4));
  expect(await readyOf(then, REF)).toBeUndefined();
  await when.timePasses(minutes(2));
  const request = await then.object<RequestObject>(REF);
  expect(request.status?.conditions).toMatchObject([
    { reason: 'SnapshotCreationFailed', message: expect.stringContaining('thick volumes') },
  ]);
  await then.isGone(artifactOf(request));
  expect(driver.snapshots).toEqual([]);
});

scenario('a request that is deleted while the driver takes the snapshot leaves nothing', async (scene) => {
  const { given, when, then } = scene;
  const slow = { method: 'CreateSnapshot', times: 1, delay: seconds(20) } as const;
  const driver = await cluster(given, { faults: [slow] });
  await when.timePasses(seconds(1));
  await when.user.apply(capture());
  await when.timePasses(seconds(5));
  const request = await then.object<RequestObject>(REF);
  await when.user.delete(REF);
  await when.timePasses(minutes(2));
  await then.isGone(artifactOf(request));
  expect(driver.snapshots).toEqual([]);
});

scenario(
  'a class with the policy Retain is refused, and nothing is created',
  async ({ given, when, then }) => {
    const retained = snapshotClass('snap', { deletionPolicy: 'Retain' });
    const driver = await cluster(given, { snapshotClass: retained });
    await when.timePasses(seconds(1));
    await when.user.apply(capture());
    await when.timePasses(seconds(5));
    expect(await readyOf(then, REF)).toBe('False InvalidSource');
    expect(then.requests('create objectkeepers')).toEqual([]);
    expect(driver.snapshots).toEqual([]);
  },
);

scenario('a retained snapshot stays, and the message names it', async (scene: Scene) => {
  const { given, when, then } = scene;
  const driver = await cluster(given, { snapshotClass: snapshotClass('snap', { deletionPolicy: 'Retain' }) });
  const { status } = await captured(scene, capture('nightly', { retain: true }));
  const [handle] = driver.snapshots;
  expect(status?.conditions?.[0]?.message).toContain(`the snapshot ${handle} stays in the storage system`);
  await when.timePasses(minutes(11));
  await then.isGone(REF);
  expect(driver.snapshots).toEqual([handle]);
});

scenario('a source that is deleted during the restore stays until the claim is bound', async (scene) => {
  const { given, when, then } = scene;
  const driver = await cluster(given);
  const request = await captured(scene);
  const source = await sourceOf(then);
  driver.inject({ method: 'CreateVolume', times: 1, delay: seconds(40) });
  await when.user.apply(restore('back', { sourceRef: source }));
  await when.timePasses(seconds(5));
  await when.user.delete(REF);
  await when.timePasses(seconds(20));
  await then.exists(`vsc/${source.name}`);
  await when.timePasses(minutes(2));
  expect(await readyOf(then, 'vrr/back')).toBe('True Completed');
  await when.timePasses(minutes(11));
  await then.isGone(artifactOf(request));
  await then.isGone(`vsc/${source.name}`);
  expect(driver.snapshots).toEqual([]);
});
