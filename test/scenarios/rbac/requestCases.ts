// The cases of the request families: captures, restores, checkpoints, their keepers, and their expiry.

import { formatTime, minutes, plus, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ObjectKeeper } from 'lapse/api/objectKeeper';
import type { RequestObject } from 'lapse/api/storage/request';
import { FAMILIES } from 'lapse/controllers/registry';
import { expect } from 'vitest';
import { configMap, manifests } from '../manifest/kit.ts';
import {
  capture,
  claim,
  content,
  detach,
  restore,
  snapshotClass,
  storageClass,
  usualObjects,
  volume,
} from '../requests/kit.ts';
import { conditionOf, expectGone, loseRace, type RightsCase } from './rightsCase.ts';
import type { World } from './world.ts';

const REQUESTS = FAMILIES.filter(({ name }) => /capture|restore/.test(name));
const claimRef = (name: string) => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  namespace: 'default',
  name,
});

/** The controller that completes a request writes its TTL annotation. */
async function expectTtl({ userClient }: World, ref: string): Promise<void> {
  const { annotations = {} } = (await userClient.get(ref))!.metadata;
  expect(Object.keys(annotations).filter((key) => key.endsWith('/ttl'))).toHaveLength(1);
}

const BROKEN = 'broken';
const fails = (text: string) => ({ annotations: { [text]: 'error: broken' } });

/** `artifacts`: the resource that captures create. */
const captureWith = (artifacts: string): RightsCase['run'] =>
  async function run(world) {
    await world.start();
    await world.apply(usualObjects());
    await world.apply([
      snapshotClass(BROKEN, {}, fails('simulation.lapse.dev/snapshot')),
      volume('pv-old', { claimRef: claimRef('old') }),
      claim('old', { volumeName: 'pv-old' }),
    ]);
    // Its answer is lost, and the cache does not contain the object yet: the retry meets the object of the first
    // attempt.
    world.faults.answer(`create ${artifacts}`, { drop: 'after' });
    world.faults.justBefore(`create ${artifacts}`, () => world.faults.holdEvents());
    await world.apply(capture('nightly'));
    await world.timePasses(seconds(10));
    world.faults.releaseEvents();
    await world.apply([
      capture('failing', { volumeSnapshotClassName: BROKEN, timeout: '20s' }),
      detach('moved', { persistentVolumeClaimRef: { name: 'old' } }),
      capture('of-nothing', { persistentVolumeClaimRef: { name: 'not-there' } }),
    ]);
    await world.timePasses(minutes(1));
    expect(await conditionOf(world, 'volumecapturerequest/nightly')).toBe('True Completed');
    expect(await conditionOf(world, 'volumecapturerequest/moved')).toBe('True Completed');
    expect(await conditionOf(world, 'volumecapturerequest/of-nothing')).toBe('False NotFound');
    expect(await conditionOf(world, 'volumecapturerequest/failing')).toBe('False SnapshotCreationFailed');
    const { uid } = (await world.userClient.get('volumecapturerequest/failing'))!.metadata;
    await expectGone(world, 'persistentvolumeclaim/old', `${artifacts}/snapshot-${uid}`);
    await expectTtl(world, 'volumecapturerequest/nightly');
  };

export const volumeCapture: RightsCase = {
  simulatedControllers: ['csi-snapshotter', 'pvc-protection'],
  run: captureWith('volumesnapshotcontents'),
};

export const captureViaSnapshots: RightsCase = {
  simulatedControllers: ['csi-snapshotter', 'snapshot-controller', 'pvc-protection'],
  configuration: { snapshot: { via: 'VolumeSnapshot' } },
  run: captureWith('volumesnapshots'),
};

const released = volume('pv-released', { claimRef: { ...claimRef('gone'), uid: 'gone' } });

export const volumeRestore: RightsCase = {
  simulatedControllers: [
    'pv-binder',
    'pvc-protection',
    'csi-provisioner',
    'snapshot-controller',
    'csi-snapshotter',
  ],
  async run(world) {
    await world.start();
    await world.apply([...usualObjects(), content(), claim('taken', { volumeName: '' }), released]);
    const broken = {
      ...storageClass(BROKEN),
      metadata: { name: BROKEN, ...fails('simulation.lapse.dev/volume') },
    };
    await world.apply(broken);
    await world.userClient.status('persistentvolumeclaim/taken', { phase: 'Lost' });
    await adopt(world, 'volumesnapshotcontent/kept');
    await world.timePasses(seconds(1));
    const from = (kind: string, name = 'not-there') => ({ sourceRef: { kind, name } });
    await world.apply([
      restore('back'),
      restore('again', { ...from('PersistentVolume', 'pv-released'), targetPVCName: 'again' }),
      restore('failing', { targetPVCName: 'failing', storageClassName: BROKEN }),
      restore('of-no-content', from('VolumeSnapshotContent')),
      restore('of-no-volume', from('PersistentVolume')),
      restore('where-others-are', { targetPVCName: 'taken' }),
    ]);
    await world.timePasses(minutes(6));
    for (const name of ['back', 'again'])
      expect(await conditionOf(world, `volumerestorerequest/${name}`)).toBe('True Completed');
    for (const name of ['of-no-content', 'of-no-volume'])
      expect(await conditionOf(world, `volumerestorerequest/${name}`)).toBe('False NotFound');
    expect(await conditionOf(world, 'volumerestorerequest/where-others-are')).toMatch(
      /^False (?!RBACDenied)/,
    );
    expect(await conditionOf(world, 'volumerestorerequest/failing')).toBe('False RestoreFailed');
    const { uid } = (await world.userClient.get('volumerestorerequest/failing'))!.metadata;
    const helpers = [`volumesnapshot/restore-${uid}`, `volumesnapshotcontent/restore-${uid}`];
    await expectGone(world, 'persistentvolumeclaim/failing', ...helpers);
    await expectTtl(world, 'volumerestorerequest/back');
  },
};

/** Gives an object an owner, so that a restore must protect it from the garbage collector. */
async function adopt({ userClient }: World, ref: string): Promise<void> {
  const { apiVersion, kind, metadata } = (await userClient.get('storageclass/fast'))!;
  const owner = { apiVersion, kind, name: metadata.name!, uid: metadata.uid! };
  await userClient.patch(ref, { metadata: { ownerReferences: [owner] } });
}

export const manifestCapture: RightsCase = {
  granted: ['configmaps'],
  async run(world) {
    await world.start();
    await world.apply([configMap('a'), configMap('b')]);
    // Killed when everything is stored but the checkpoint does not report it: the next run reads the stored chunks.
    world.faults.answer('patch manifestcheckpoints/status', { hang: 'before' });
    await world.apply(manifests('before'));
    world.crash();
    await world.start();
    await world.timePasses(seconds(30));
    expect(await conditionOf(world, 'manifestcapturerequest/before')).toBe('True Completed');
    await expectTtl(world, 'manifestcapturerequest/before');
  },
};

const followed = [capture('v'), restore('r'), manifests('m')];

export async function keeperOf(
  { userClient }: World,
  { apiVersion, kind, metadata }: KubeObject,
): Promise<ObjectKeeper> {
  const { name = '', namespace = '' } = metadata;
  const { uid } = (await userClient.get(`${kind.toLowerCase()}/${name}`))!.metadata;
  const followObjectRef = { apiVersion, kind, namespace, name, uid: uid! };
  return {
    apiVersion: 'deckhouse.io/v1alpha1',
    kind: 'ObjectKeeper',
    metadata: { name },
    spec: { mode: 'FollowObject', followObjectRef },
  };
}

export const objectKeeper: RightsCase = {
  kinds: REQUESTS,
  async run(world) {
    await world.start();
    await world.timePasses(seconds(5));
    await world.apply(followed);
    for (const request of followed) await world.apply(await keeperOf(world, request));
    await world.timePasses(seconds(5));
    expect(await conditionOf(world, 'objectkeeper/v', 'Active')).toMatch(/^True/);
    loseRace(world, 'delete objectkeepers v', 'objectkeeper/v');
    for (const { kind, metadata } of followed)
      await world.userClient.delete(`${kind.toLowerCase()}/${metadata.name}`);
    await world.timePasses(seconds(30));
    await expectGone(world, 'objectkeeper/v', 'objectkeeper/r', 'objectkeeper/m');
  },
};

export const requestTtl: RightsCase = {
  async run(world) {
    await world.start();
    // Twelve seconds of its ten minutes are left.
    const time = formatTime(plus(world.clock.now(), minutes(-9.8)));
    const completed = {
      type: 'Ready',
      status: 'True',
      reason: 'Completed',
      message: '',
      lastTransitionTime: time,
    };
    const ended = { completionTimestamp: time, conditions: [completed] };
    await world.apply(followed.map((request) => ({ ...request, status: ended }) as RequestObject));
    await world.timePasses(seconds(30));
    await expectGone(world, 'volumecapturerequest/v', 'volumerestorerequest/r', 'manifestcapturerequest/m');
  },
};

/** No controller serves the restore: the Event repeats every five minutes, which makes a series. */
export async function expectSeries(world: World): Promise<void> {
  await world.apply([...usualObjects(), content(), restore('unserved')]);
  await world.timePasses(minutes(10));
  await world.start();
  await world.timePasses(minutes(6));
  const said = (await world.events()).filter(({ reason }) => reason === 'WaitingForProvisioner');
  expect(said).toMatchObject([{ regarding: { name: 'unserved' }, series: { count: 2 } }]);
}
