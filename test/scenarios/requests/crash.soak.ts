// The process is killed before and after every single write of every scenario about requests, and answers are lost or
// sent twice. In every case there is one keeper, one artifact and one completion with one time, and nothing is left at
// the end. A process that is killed between the record of a content and its creation leaves no artifact: ArtifactLost.

import { hours, seconds } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import {
  type PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import type { KubeObject } from '@lapse/kube/api/object';
import { claimProtection } from '@lapse/simulation/controllers/volumeProtection/controllers';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import { ObjectKeeper } from 'lapse/api/objectKeeper';
import type { RequestObject } from 'lapse/api/storage/request';
import { describe, expect, test } from 'vitest';
import { composeFamilies, findFamily } from '../compose.ts';
import { storageControllers } from './deckhouseProvisioner.ts';
import { arm, FAULTS, type Way } from './faultAt.ts';
import { checkHistory } from './invariants.ts';
import { capture, claim, content, detach, restore, snapshotClass, storageClass, volume } from './kit.ts';

interface Story {
  readonly request: RequestObject;
  readonly objects?: readonly KubeObject[];
  readonly configuration?: JsonObject;
  /** Default: EXTERNAL. */
  readonly simulatedControllers?: readonly string[];
  /** Keepers and contents that are created, whatever fails. */
  readonly keepers: number;
  readonly contents: number;
  readonly ends: string;
  /** Additional checks of the scenario at the very end. */
  afterwards?(simulation: Simulation): Promise<void>;
}

const claimed = volume('pv-data', {
  claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' },
});
const WORLD = [snapshotClass(), storageClass(), claimed, claim(), content()];
const FAILING = snapshotClass(
  'snap',
  {},
  { annotations: { 'simulation.lapse.dev/snapshot': 'error: boom' } },
);
const EXTERNAL = ['csi-snapshotter', 'deckhouse-provisioner'];
const CSI = ['pv-binder', 'csi-provisioner', 'snapshot-controller', 'csi-snapshotter'];
const families = ['volume-capture', 'volume-restore', 'object-keeper', 'request-ttl'].map(findFamily);

const stories: Record<string, Story> = {
  'a snapshot': { request: capture(), keepers: 1, contents: 1, ends: 'True Completed' },
  'a snapshot that fails': {
    request: capture(),
    objects: [FAILING, ...WORLD.slice(1)],
    keepers: 1,
    contents: 1,
    ends: 'False SnapshotCreationFailed',
  },
  'a snapshot of a missing claim': {
    request: capture('nightly', { persistentVolumeClaimRef: { name: 'none' } }),
    keepers: 0,
    contents: 0,
    ends: 'False NotFound',
  },
  'a snapshot that outlives its request, by annotation': {
    request: capture(),
    configuration: {
      requestTTL: { mode: 'annotation' },
      retention: { mode: 'FollowObjectWithTTL', ttl: '30m' },
    },
    keepers: 1,
    contents: 1,
    ends: 'True Completed',
  },
  'an invalid annotation': {
    request: capture('nightly', {}, { annotations: { 'storage.deckhouse.io/ttl': '1d' } }),
    configuration: { requestTTL: { mode: 'scanner' } },
    keepers: 1,
    contents: 1,
    ends: 'True Completed',
  },
  'a detached volume': {
    request: detach(),
    configuration: { detach: { retention: { mode: 'FollowObjectWithTTL', ttl: '30m' } } },
    keepers: 1,
    contents: 0,
    ends: 'True Completed',
    async afterwards(simulation) {
      const marks = simulation.changes.filter(
        ({ kind, before, after }) =>
          kind === 'PersistentVolume' &&
          before?.metadata.annotations === undefined &&
          after?.metadata.annotations?.['storage.deckhouse.io/detached'] === 'true',
      );
      expect(marks).toHaveLength(1);
    },
  },
  'a restored claim': { request: restore(), keepers: 1, contents: 0, ends: 'True Completed' },
  'a restored claim owned by the keeper': {
    request: restore(),
    configuration: { restore: { executor: 'External', ownership: 'Keeper' } },
    keepers: 1,
    contents: 0,
    ends: 'True Completed',
  },
  'a claim that Lapse restores, through a content and a VolumeSnapshot': {
    request: restore(),
    configuration: { restore: { executor: 'Lapse' } },
    simulatedControllers: CSI,
    keepers: 1,
    contents: 1,
    ends: 'True Completed',
    async afterwards(simulation) {
      expect((await simulation.user.list(VolumeSnapshot)).items).toEqual([]);
      expect((await simulation.get<PersistentVolumeClaim>('pvc/restored'))?.status?.phase).toBe('Bound');
    },
  },
};

async function tell(
  story: Story,
  fault?: { index: number; way: Way },
): Promise<{ simulation: Simulation; hit: boolean }> {
  const simulation = await simulate({
    compose: composeFamilies({
      families,
      controllers: [],
      configuration: { actAs: 'controller', restore: { executor: 'External' }, ...story.configuration },
      gates: {},
    }),
    kinds: [...new Set([...families.flatMap(({ kinds }) => kinds), ...STOCK_SNAPSHOT_KINDS])],
    simulatedControllers: [
      ...storageControllers(['owner-gc', ...(story.simulatedControllers ?? EXTERNAL)]),
      claimProtection(),
    ],
  });
  await simulation.apply([...(story.objects ?? WORLD)]);
  const isHit = fault === undefined ? () => false : arm(simulation, fault.index, fault.way);
  await simulation.userClient.create(story.request);
  if (fault?.way.startsWith('killed')) {
    const met = await simulation.until(isHit, hours(2)).then(
      () => true,
      () => false,
    );
    if (met) {
      simulation.crash();
      await simulation.timePasses(seconds(3));
      await simulation.restart();
    }
  }
  await simulation.timePasses(hours(2));
  return { simulation, hit: isHit() };
}

async function check(simulation: Simulation, story: Story, way?: Way): Promise<void> {
  const { changes } = simulation;
  const made = (kind: string) =>
    changes.filter(
      (change) => change.kind === kind && change.before === undefined && change.by === 'process',
    );
  expect(made('ObjectKeeper').map(({ name }) => name)).toHaveLength(story.keepers);
  const contentsMade = made('VolumeSnapshotContent').length;
  const lost = way?.startsWith('killed') === true && story.contents === 1 && contentsMade === 0;
  if (!lost) expect(contentsMade).toBe(story.contents);
  const states = changes
    .filter(({ kind, after }) => kind === story.request.kind && after !== undefined)
    .map(({ after }) => (after as RequestObject).status);
  const ends = states.flatMap(
    (status) => status?.conditions?.map(({ status: ready, reason }) => `${ready} ${reason}`) ?? [],
  );
  expect(new Set(ends)).toEqual(new Set([lost ? 'False ArtifactLost' : story.ends]));
  expect(new Set(states.flatMap((status) => status?.completionTimestamp ?? [])).size).toBe(1);
  expect((await simulation.user.list(ObjectKeeper)).items).toEqual([]);
  const contents = (await simulation.user.list(VolumeSnapshotContent)).items.map(
    ({ metadata }) => metadata.name,
  );
  expect(contents).toEqual(['kept']);
  const ref = story.request.kind === 'VolumeCaptureRequest' ? 'vcr/nightly' : 'vrr/back';
  expect(await simulation.get(ref)).toBeUndefined();
  await story.afterwards?.(simulation);
  checkHistory(simulation);
}

describe.each(Object.entries(stories))('%s', (_name, story) => {
  test.each(Object.keys(FAULTS) as Way[])('%s, at every write', async (way) => {
    const plain = await tell(story);
    const writes = plain.simulation.writes().length;
    await check(plain.simulation, story);
    await plain.simulation.close();
    expect(writes).toBeGreaterThan(2);
    for (let index = 0; index < writes; index++) {
      const { simulation, hit } = await tell(story, { index, way });
      try {
        expect(hit, `write ${index} happened`).toBe(true);
        await check(simulation, story, way);
      } catch (error) {
        const asked = simulation
          .writes()
          .map(
            ({ verb, resource, subresource, status }) => `${verb} ${resource}/${subresource ?? ''} ${status}`,
          );
        throw new Error(
          `write ${index}, ${way}: ${String(error)}\n${asked.join('\n')}\n${simulation.timeline()}`,
        );
      } finally {
        await simulation.close();
      }
    }
  });
});
