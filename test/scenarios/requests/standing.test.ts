// The standard failure scenarios of every controller: all sorts of failures during a request, which still completes
// correctly.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { expect } from 'vitest';
import type { Scene } from '../scene.ts';
import { requestScenario } from './invariants.ts';
import {
  capture,
  claim,
  content,
  readyOf,
  restore,
  snapshotClass,
  storageClass,
  volume,
  volumeWorld,
} from './kit.ts';

const claimed = volume('pv-data', {
  claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' },
});
const OBJECTS: readonly KubeObject[] = [
  snapshotClass('snap', {}, { annotations: { 'simulation.lapse.dev/snapshot': '30s' } }),
  storageClass(),
  claimed,
  claim(),
  content(),
];
const REFS = ['vcr/nightly', 'vrr/back'];

/** A capture and a restore are in progress: ten of the thirty seconds have passed. */
async function underWay({ given, when }: Scene, configuration: object = {}): Promise<void> {
  await volumeWorld(given, {
    families: ['volume-capture', 'volume-restore', 'object-keeper', 'request-ttl'],
    simulatedControllers: ['owner-gc', 'csi-snapshotter', 'deckhouse-provisioner'],
    objects: OBJECTS,
    configuration: configuration as never,
  });
  await when.user.apply([
    capture(),
    restore('back', {}, { annotations: { 'simulation.lapse.dev/restore': '30s' } }),
  ]);
  await when.timePasses(seconds(10));
}

const trouble: Record<string, (scene: Scene) => Promise<void> | void> = {
  'the process restarts': ({ when }) => when.processRestarts(),
  'the process is killed and stays down': ({ when }) => when.processCrashes({ downFor: minutes(1) }),
  'watches end': ({ when }) => when.watchesBreak(),
  'watches end with 410: everything is listed again': ({ when }) => when.watchesBreak('gone'),
  'leadership is lost and comes back': async ({ when }) => {
    await when.leadershipIsLost();
    await when.timePasses(minutes(2));
    await when.leadershipReturns();
  },
  'the clock jumps forward': ({ when }) => when.clockJumps(seconds(20)),
  'caches are stale for a while': async ({ when }) => {
    when.cachesAreStale();
    await when.timePasses(minutes(1));
    await when.cachesCatchUp();
  },
  'the server is slow': ({ when }) => when.serverIsSlow(seconds(2)),
  'the server is overloaded': ({ when }) =>
    when.serverAnswers('PATCH', { answer: 429, retryAfter: 3 }, { times: 3 }),
  'the server fails': ({ when }) => when.serverAnswers('PATCH', 500, { times: 4 }),
};
requestScenario.each(trouble, async (scene, happens) => {
  const { when, then } = scene;
  await underWay(scene);
  await happens(scene);
  await when.timePasses(minutes(2));
  await when.faultsEnd();
  for (const ref of REFS) expect([ref, await readyOf(then, ref)]).toEqual([ref, 'True Completed']);
  const uids = await Promise.all(REFS.map(async (ref) => (await then.object(ref)).metadata.uid));
  await when.timePasses(minutes(12));
  for (const ref of REFS) await then.isGone(ref);
  await then.isGone(`objectkeeper/ret-snapshot-${uids[0]}`);
  await then.isGone(`vsc/snapshot-${uids[0]}`);
  await then.isGone(`objectkeeper/ret-pvc-${uids[1]}`);
});

requestScenario('two leaders at once: one keeper, one content, one completion', async (scene) => {
  const { given, when, then, simulation } = scene;
  await volumeWorld(given, { families: ['volume-capture'], simulatedControllers: ['csi-snapshotter'] });
  // The other process is slightly faster at every write except the record of the content, which only one of them can
  // make.
  const other = async ({
    method,
    path,
    query,
    body,
    subresource,
  }: {
    method: string;
    path: string;
    query: string;
    body?: Uint8Array;
    subresource?: string;
  }) => {
    const { user } = await simulation();
    const headers = {
      'content-type': method === 'PATCH' ? 'application/merge-patch+json' : 'application/json',
    };
    await user.raw({
      method,
      path: query === '' ? path : `${path}?${query}`,
      headers,
      ...(body === undefined ? {} : { body }),
    });
    expect(subresource === 'scale').toBe(false);
  };
  for (const verb of [
    'create objectkeepers',
    'create volumesnapshotcontents',
    'patch volumecapturerequests/status',
  ])
    when.justBefore(verb, other);
  await when.user.apply(capture());
  await when.timePasses(seconds(5));
  expect(await readyOf(then, 'vcr/nightly')).toBe('True Completed');
  const { changes } = await simulation();
  const made = (kind: string) =>
    changes.filter((change) => change.kind === kind && change.before === undefined);
  expect([made('ObjectKeeper').length, made('VolumeSnapshotContent').length]).toEqual([1, 1]);
});

requestScenario(
  'a request that is deleted before completion takes all of its objects with it',
  async (scene) => {
    const { when, then } = scene;
    await underWay(scene);
    const { uid } = (await then.object('vcr/nightly')).metadata;
    await then.exists(`vsc/snapshot-${uid}`);
    await when.user.delete('vcr/nightly');
    await then.isGone(`objectkeeper/ret-snapshot-${uid}`);
    await then.isGone(`vsc/snapshot-${uid}`);
    await when.user.apply(capture());
    await when.timePasses(minutes(1));
    expect(await readyOf(then, 'vcr/nightly')).toBe('True Completed');
  },
);

requestScenario('a dry run changes nothing, and reports what it would have done', async (scene) => {
  const { then, simulation } = scene;
  scene.given.noDoubleRun('in a dry run the same is asked again and again');
  await underWay(scene, { dryRun: true });
  await scene.when.timePasses(hours(1));
  const { changes } = await simulation();
  expect(changes.filter(({ by }) => by === 'process').map(({ kind, name }) => `${kind} ${name}`)).toEqual([]);
  expect((await then.events('VolumeCaptureRequest/nightly')).map(({ reason }) => reason)).toContain(
    'WouldCapture',
  );
  expect(await readyOf(then, 'vcr/nightly')).toBeUndefined();
  await scene.when.user.apply(capture('typo', { persistentVolumeClaimRef: { name: 'none' } }));
  expect(await readyOf(then, 'vcr/typo')).toBeUndefined();
  const [said] = await then.events('VolumeCaptureRequest/typo');
  expect(said).toMatchObject({
    reason: 'WouldFinish',
    note: expect.stringContaining('Ready=False NotFound'),
  });
});
