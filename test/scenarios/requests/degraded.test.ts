// If the snapshot API or a right is missing, only the requests that need it are affected.

import { minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { claimProtection } from '@lapse/simulation/controllers/volumeProtection/controllers';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { expect } from 'vitest';
import type { Scene } from '../scene.ts';
import { storageControllers } from './deckhouseProvisioner.ts';
import { requestScenario } from './invariants.ts';
import {
  capture,
  claim,
  content,
  detach,
  readyOf,
  restore,
  snapshotClass,
  storageClass,
  volume,
} from './kit.ts';

const claimRef = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' };
const VOLUMES: KubeObject[] = [storageClass(), volume('pv-data', { claimRef }), claim()];
const pod: KubeObject = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'user', namespace: 'default' },
  spec: {
    containers: [{ name: 'c', image: 'i' }],
    volumes: [{ name: 'v', persistentVolumeClaim: { claimName: 'data' } }],
  },
};

interface World {
  readonly snapshots?: boolean;
  /** Resources that may be neither listed nor watched. */
  readonly unlisted?: readonly string[];
  readonly objects?: readonly KubeObject[];
}

async function world(
  { given, when, simulation }: Scene,
  { snapshots = true, unlisted = [], objects = [] }: World,
) {
  given.noDoubleRun('what is not watched is read again');
  given.controllers('volume-capture', 'volume-restore');
  given.configuration({ actAs: 'controller', restore: { executor: 'External' } });
  if (snapshots) given.kinds(...STOCK_SNAPSHOT_KINDS);
  given.simulatedControllers(
    ...storageControllers(snapshots ? ['csi-snapshotter', 'deckhouse-provisioner'] : []),
    claimProtection(),
  );
  await given.object([...(snapshots ? [snapshotClass(), content()] : []), ...VOLUMES, ...objects]);
  const { faults } = await simulation();
  for (const resource of unlisted)
    for (const verb of ['list', 'watch']) faults.answer(`${verb} ${resource}`, 403, { times: 1e9 });
  await when.processRestarts();
  await when.timePasses(seconds(1));
}

requestScenario('without the snapshot API a Detach completes', async (scene) => {
  await world(scene, { snapshots: false });
  await scene.when.user.apply(detach());
  await scene.when.timePasses(minutes(1));
  expect(await readyOf(scene.then, 'vcr/nightly')).toBe('True Completed');
});

requestScenario('without the snapshot API a Snapshot fails with UnsupportedSnapshotStack', async (scene) => {
  await world(scene, { snapshots: false });
  await scene.when.user.apply(capture('nightly', { volumeSnapshotClassName: 'snap' }));
  await scene.when.timePasses(minutes(1));
  expect(await readyOf(scene.then, 'vcr/nightly')).toBe('False UnsupportedSnapshotStack');
});

requestScenario(
  'without the snapshot API a restore of a content fails, one of a volume waits',
  async (scene) => {
    const { when, then } = scene;
    await world(scene, { snapshots: false });
    await when.user.apply([
      restore('back'),
      restore('moved', { sourceRef: { kind: 'PersistentVolume', name: 'pv-data' }, targetPVCName: 'other' }),
    ]);
    await when.timePasses(minutes(1));
    expect(await readyOf(then, 'vrr/back')).toBe('False UnsupportedSnapshotStack');
    expect(await readyOf(then, 'vrr/moved')).toBeUndefined();
  },
);

requestScenario('without the right to list contents a Snapshot completes by polling', async (scene) => {
  await world(scene, { unlisted: ['volumesnapshotcontents'] });
  await scene.when.user.apply(capture());
  await scene.when.timePasses(minutes(2));
  expect(await readyOf(scene.then, 'vcr/nightly')).toBe('True Completed');
});

requestScenario('without the right to list Pods a Detach fails and keeps the claim', async (scene) => {
  await world(scene, { unlisted: ['pods'], objects: [pod] });
  await scene.when.user.apply(detach());
  await scene.when.timePasses(minutes(1));
  expect(await readyOf(scene.then, 'vcr/nightly')).toBe('False RBACDenied');
  expect((await scene.then.object('pvc/data')).metadata.deletionTimestamp).toBeUndefined();
});

requestScenario('without the right to list Pods a Snapshot completes', async (scene) => {
  await world(scene, { unlisted: ['pods'] });
  await scene.when.user.apply(capture());
  await scene.when.timePasses(minutes(1));
  expect(await readyOf(scene.then, 'vcr/nightly')).toBe('True Completed');
});
