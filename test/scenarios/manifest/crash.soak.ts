// The process is killed at every single request of a capture, and answers are lost or sent twice. In every case there
// is one keeper, one checkpoint, each chunk once, and one completion with one time. No request reports Completed before
// its checkpoint is complete, and at the end nothing is left.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Change } from '@lapse/simulation/history';
import { isWrite, type RequestInfo } from '@lapse/simulation/requestInfo';
import { type Simulation, simulate } from '@lapse/simulation/simulate';
import type { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import { ManifestCheckpoint } from 'lapse/api/manifestCheckpoint';
import { ManifestCheckpointContentChunk } from 'lapse/api/manifestCheckpointContentChunk';
import { ObjectKeeper } from 'lapse/api/objectKeeper';
import { noise } from 'lapse/checkpoint/checkpoint.testkit';
import { decodeChunk } from 'lapse/checkpoint/decode';
import { simulatedControllersNamed } from 'lapse/simulation/simulatedControllers';
import { describe, expect, test } from 'vitest';
import { composeFamilies, findFamily } from '../compose.ts';
import { arm, type Way } from '../requests/faultAt.ts';
import { checkHistory } from '../requests/invariants.ts';
import { configMap, FAMILIES, manifests, target } from './kit.ts';

const families = FAMILIES.map(findFamily);

interface Story {
  readonly objects: readonly KubeObject[];
  readonly names: readonly string[];
  readonly chunks: number;
  readonly ends: string;
}

const stories: Record<string, Story> = {
  'one chunk': {
    objects: [configMap('a'), configMap('b')],
    names: ['a', 'b'],
    chunks: 1,
    ends: 'True Completed',
  },
  'two chunks': {
    objects: [configMap('a', { x: noise(700_000, 1) }), configMap('b', { x: noise(700_000, 2) })],
    names: ['a', 'b'],
    chunks: 2,
    ends: 'True Completed',
  },
  'an object that is not there': {
    objects: [configMap('a')],
    names: ['a', 'b'],
    chunks: 0,
    ends: 'False NotFound',
  },
};

/** Requests of the capture itself, without watches and reads of other controllers. */
const isCapturing = (request: RequestInfo): boolean =>
  isWrite(request) || (request.verb === 'get' && request.resource !== 'customresourcedefinitions');

interface Trouble {
  readonly index: number;
  readonly way: Way;
  readonly counts: (request: RequestInfo) => boolean;
}

async function tell(story: Story, trouble?: Trouble): Promise<{ simulation: Simulation; hit: boolean }> {
  const simulation = await simulate({
    compose: composeFamilies({
      families,
      controllers: [],
      configuration: { actAs: 'controller' },
      gates: {},
    }),
    kinds: [...new Set(families.flatMap(({ kinds }) => kinds))],
    simulatedControllers: simulatedControllersNamed(['owner-gc']),
  });
  await simulation.apply([...story.objects]);
  const isHit =
    trouble === undefined ? () => false : arm(simulation, trouble.index, trouble.way, trouble.counts);
  await simulation.userClient.create(
    manifests(
      'before',
      story.names.map((name) => target('ConfigMap', name)),
    ),
  );
  if (trouble?.way.startsWith('killed')) {
    const met = await simulation.until(isHit, hours(2)).then(
      () => true,
      () => false,
    );
    if (met) {
      simulation.crash();
      // Stored objects are not read again: only objects not stored yet may be newer.
      if (story.names.length === story.objects.length)
        await simulation.userClient.patch('configmap/b', { metadata: { labels: { changed: 'meanwhile' } } });
      await simulation.timePasses(seconds(3));
      await simulation.restart();
    }
  }
  await simulation.timePasses(minutes(5));
  return { simulation, hit: isHit() };
}

const created = (changes: readonly Change[], kind: string): Change[] =>
  changes.filter((change) => change.kind === kind && change.before === undefined && change.by === 'process');

const readyIn = (object: KubeObject | undefined): string | undefined => {
  const { conditions } = (object as ManifestCaptureRequest | undefined)?.status ?? {};
  const ready = conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined ? undefined : `${ready.status} ${ready.reason}`;
};

/**
 * At every moment: a request that reports Completed has a ready checkpoint, all of whose chunks exist and are valid.
 */
function checkOrder(changes: readonly Change[]): void {
  const chunks = new Map<string, ManifestCheckpointContentChunk>();
  let checkpoint: ManifestCheckpoint | undefined;
  for (const { kind, after, before } of changes) {
    if (kind === 'ManifestCheckpointContentChunk' && after !== undefined)
      chunks.set(after.metadata.name!, after);
    if (kind === 'ManifestCheckpoint') checkpoint = after as ManifestCheckpoint | undefined;
    if (
      kind === 'ManifestCheckpoint' &&
      readyIn(checkpoint) === 'True Completed' &&
      readyIn(before) === undefined
    )
      for (const { name, index, checksum, objectsCount } of checkpoint!.status!.chunks!) {
        const chunk = chunks.get(name);
        expect(chunk, `chunk ${name} was there`).toBeDefined();
        const expected = { checkpointName: checkpoint!.metadata.name!, index, checksum, objectsCount };
        expect(decodeChunk(chunk!, expected).kind).toBe('manifests');
      }
    if (
      kind === 'ManifestCaptureRequest' &&
      readyIn(after) === 'True Completed' &&
      readyIn(before) === undefined
    )
      expect(readyIn(checkpoint)).toBe('True Completed');
  }
}

async function check(simulation: Simulation, story: Story): Promise<void> {
  const { changes } = simulation;
  const made = story.chunks > 0 ? 1 : 0;
  expect(created(changes, 'ObjectKeeper')).toHaveLength(made);
  expect(created(changes, 'ManifestCheckpoint')).toHaveLength(made);
  expect(created(changes, 'ManifestCheckpointContentChunk').map(({ name }) => name.split('-')[2])).toEqual(
    Array.from({ length: story.chunks }, (_, i) => String(i)),
  );
  checkOrder(changes);
  await simulation.timePasses(hours(2));
  const states = changes
    .filter(({ kind, after }) => kind === 'ManifestCaptureRequest' && after !== undefined)
    .map(({ after }) => after as ManifestCaptureRequest);
  expect(new Set(states.flatMap((state) => readyIn(state) ?? []))).toEqual(new Set([story.ends]));
  expect(new Set(states.flatMap(({ status }) => status?.completionTimestamp ?? [])).size).toBe(1);
  expect(await simulation.get('mcr/before')).toBeUndefined();
  for (const kind of [ObjectKeeper, ManifestCheckpoint, ManifestCheckpointContentChunk] as Kind[])
    expect((await simulation.user.list(kind)).items).toEqual([]);
  checkHistory(simulation);
}

async function checkAll(story: Story, way: Way, counts: Trouble['counts']): Promise<void> {
  const plain = await tell(story);
  const asked = plain.simulation.requests.filter(counts).length;
  await check(plain.simulation, story);
  await plain.simulation.close();
  expect(asked).toBeGreaterThan(2);
  for (let index = 0; index < asked; index++) {
    const { simulation, hit } = await tell(story, { index, way, counts });
    try {
      expect(hit, `request ${index} happened`).toBe(true);
      await check(simulation, story);
    } catch (error) {
      const story = simulation.requests
        .filter(isCapturing)
        .map(
          ({ verb, resource, subresource, status }) => `${verb} ${resource}/${subresource ?? ''} ${status}`,
        );
      throw new Error(
        `request ${index}, ${way}: ${String(error)}\n${story.join('\n')}\n${simulation.timeline()}`,
      );
    } finally {
      await simulation.close();
    }
  }
}

/** Only with one chunk, where it is cheap: with two, only the chunk left behind by the crash differs. */
const WAYS: Record<string, readonly Way[]> = {
  'one chunk': ['killed after', 'lost before', 'lost after', 'twice'],
};

describe.each(Object.entries(stories))('%s', (name, story) => {
  test('the process is killed at every request', () => checkAll(story, 'killed before', isCapturing));
  for (const way of WAYS[name] ?? []) test(`${way}, at every write`, () => checkAll(story, way, isWrite));
});
