// The cases of the request families: captures, restores, checkpoints, their keepers, and their expiry.

import { formatTime, minutes, plus, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ObjectKeeper } from 'lapse/api/objectKeeper';
import type { RequestObject } from 'lapse/api/storage/request';
import { FAMILIES } from 'lapse/controllers/registry';
import { expect } from 'vitest';
import { configMap, manifests } from '../manifest/kit.ts';
import { capture, claim, content, detach, restore, usualObjects, volume } from '../requests/kit.ts';
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

export const volumeCapture: RightsCase = {
  simulatedControllers: ['csi-snapshotter', 'pvc-protection'],
  async run(world) {
    await world.start();
    await world.apply(usualObjects());
    await world.apply([
      volume('pv-old', { claimRef: claimRef('old') }),
      claim('old', { volumeName: 'pv-old' }),
    ]);
    // Its answer is lost, and the cache does not contain the object yet: the retry meets the object of the first
    // attempt.
    world.faults.answer('create volumesnapshotcontents', { drop: 'after' });
    world.faults.justBefore('create volumesnapshotcontents', () => world.faults.holdEvents());
    await world.apply(capture('nightly'));
    await world.timePasses(seconds(10));
    world.faults.releaseEvents();
    await world.apply([
      detach('moved', { persistentVolumeClaimRef: { name: 'old' } }),
      capture('of-nothing', { persistentVolumeClaimRef: { name: 'not-there' } }),
    ]);
    await world.timePasses(minutes(1));
    expect(await conditionOf(world, 'volumecapturerequest/nightly')).toBe('True Completed');
    expect(await conditionOf(world, 'volumecapturerequest/moved')).toBe('True Completed');
    expect(await conditionOf(world, 'volumecapturerequest/of-nothing')).toBe('False NotFound');
    await expectGone(world, 'persistentvolumeclaim/old');
    await expectTtl(world, 'volumecapturerequest/nightly');
  },
};

export const volumeRestore: RightsCase = {
  simulatedControllers: ['pv-binder', 'csi-provisioner', 'snapshot-controller', 'csi-snapshotter'],
  async run(world) {
    await world.start();
    await world.apply([...usualObjects(), content(), claim('taken', { volumeName: '' })]);
    await world.userClient.status('persistentvolumeclaim/taken', { phase: 'Lost' });
    await world.timePasses(seconds(1));
    const by = (kind: string) => ({ sourceRef: { kind, name: 'not-there' } });
    await world.apply([
      restore('back'),
      restore('of-no-content', by('VolumeSnapshotContent')),
      restore('of-no-volume', by('PersistentVolume')),
      restore('where-others-are', { targetPVCName: 'taken' }),
    ]);
    await world.timePasses(minutes(1));
    expect(await conditionOf(world, 'volumerestorerequest/back')).toBe('True Completed');
    for (const name of ['of-no-content', 'of-no-volume'])
      expect(await conditionOf(world, `volumerestorerequest/${name}`)).toBe('False NotFound');
    expect(await conditionOf(world, 'volumerestorerequest/where-others-are')).toMatch(
      /^False (?!RBACDenied)/,
    );
    await expectTtl(world, 'volumerestorerequest/back');
  },
};

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
