// Every reason with which a capture of manifests can end, each reached from a realistic cluster state. A capture that
// was not started leaves nothing behind: no keeper, no checkpoint, no chunk.

import { seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Fault } from '@lapse/simulation/faults';
import type { Matcher } from '@lapse/simulation/requestInfo';
import type { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import { ManifestCheckpoint } from 'lapse/api/manifestCheckpoint';
import { ManifestCheckpointContentChunk } from 'lapse/api/manifestCheckpointContentChunk';
import { ObjectKeeper } from 'lapse/api/objectKeeper';
import { chunkObject, encodeAll, noise } from 'lapse/checkpoint/checkpoint.testkit';
import { checkpointName } from 'lapse/checkpoint/names';
import { expect } from 'vitest';
import { requestScenario } from '../requests/invariants.ts';
import { readyOf } from '../requests/kit.ts';
import type { Scene } from '../scene.ts';
import { configMap, manifests, manifestWorld, REF, target } from './kit.ts';

interface Row {
  readonly targets?: Parameters<typeof manifests>[1];
  readonly objects?: readonly KubeObject[];
  readonly capture?: object;
  /** Admission would report it first, so the request is created while no webhook runs. */
  readonly unseen?: true;
  readonly fault?: readonly [Matcher, Fault | number];
  readonly before?: readonly [Matcher, (scene: Scene) => unknown];
  readonly ends: string;
  readonly says: RegExp;
  readonly leaves?: 'checkpoint' | 'keeper';
}

const A = [target('ConfigMap', 'a')];

/**
 * Another client creates the chunk just before the controller does: of the same checkpoint and capture, without
 * objects.
 */
async function foreignChunk({ simulation }: Scene, change: (chunk: KubeObject) => void): Promise<void> {
  const { user } = await simulation();
  const [checkpoint] = (await user.list(ManifestCheckpoint)).items;
  const { apiVersion, kind, metadata } = checkpoint!;
  const chunk = chunkObject(metadata.name!, 0, encodeAll([])[0]!);
  chunk.metadata.annotations = { ...metadata.annotations };
  chunk.metadata.ownerReferences = [
    { apiVersion, kind, name: metadata.name!, uid: metadata.uid!, controller: true },
  ];
  change(chunk);
  await user.create(ManifestCheckpointContentChunk, chunk);
}

/** Another client creates the checkpoint just before the controller does, for another request. */
async function foreignCheckpoint({ simulation }: Scene): Promise<void> {
  const { user, userClient } = await simulation();
  const request = await userClient.get(REF);
  await user.create(ManifestCheckpoint, {
    apiVersion: 'state-snapshotter.deckhouse.io/v1alpha1',
    kind: 'ManifestCheckpoint',
    metadata: { name: checkpointName(request!.metadata.uid!) },
    spec: { sourceNamespace: 'x', manifestCaptureRequestRef: { name: 'x', namespace: 'x', uid: 'other' } },
  });
}

const rows: Record<string, Row> = {
  'Completed: the message names the checkpoint and when it is deleted': {
    ends: 'True Completed',
    says: /^ManifestCheckpoint mcp-\w{16} has 2 objects; it ends when this request is deleted/,
    leaves: 'checkpoint',
  },
  'NotFound: one target of several': {
    targets: [...A, target('ConfigMap', 'none')],
    ends: 'False NotFound',
    says: /^v1 ConfigMap default\/none does not exist$/,
  },
  'RBACDenied: Lapse may not read the target': {
    fault: ['get configmaps', 403],
    ends: 'False RBACDenied',
    says: /^reading v1 ConfigMap default\/a: /,
  },
  'RBACDenied: the request has no author': {
    capture: { authorization: 'Webhook' },
    unseen: true,
    ends: 'False RBACDenied',
    says: /has no verified author; delete it and create it again while the Lapse webhook is running$/,
  },
  'InvalidTarget: a cluster-scoped object': {
    targets: [target('Node', 'n1')],
    unseen: true,
    ends: 'False InvalidTarget',
    says: /only Namespace default itself/,
  },
  'ObjectTooLarge: names the object': {
    objects: [configMap('a'), configMap('huge', { x: noise(1_048_570) })],
    targets: [...A, target('ConfigMap', 'huge')],
    ends: 'False ObjectTooLarge',
    says: /^v1 ConfigMap default\/huge is too large for a checkpoint: compressed it has \d+ bytes, a chunk holds 786432$/,
  },
  'ChunkConflict: a chunk of this name has other contents': {
    before: ['create manifestcheckpointcontentchunks', (scene) => foreignChunk(scene, () => {})],
    ends: 'False ChunkConflict',
    says: /-0 exists and is not ours: it holds something else/,
    leaves: 'checkpoint',
  },
  'ChunkConflict: a chunk of this name belongs to another checkpoint': {
    before: [
      'create manifestcheckpointcontentchunks',
      (scene) => foreignChunk(scene, (chunk) => delete chunk.metadata.ownerReferences),
    ],
    ends: 'False ChunkConflict',
    says: /exists and is not ours: it has no controlling owner/,
    leaves: 'checkpoint',
  },
  'OwnershipConflict: a checkpoint of this name belongs to another request': {
    before: ['create manifestcheckpoints', foreignCheckpoint],
    ends: 'False OwnershipConflict',
    says: /is of the request with uid other/,
    leaves: 'checkpoint',
  },
  'Failed: the checkpoint is refused': {
    fault: ['create manifestcheckpoints', { answer: 422, reason: 'Invalid', message: 'no' }],
    ends: 'False Failed',
    says: /ManifestCheckpoint mcp-\w+ was refused: no/,
    leaves: 'keeper',
  },
  'Failed: a chunk is too large for the server': {
    fault: [
      'create manifestcheckpointcontentchunks',
      { answer: 413, reason: 'RequestEntityTooLarge', message: 'no' },
    ],
    ends: 'False Failed',
    says: /creating chunk mcp-\w+-0: no/,
    leaves: 'checkpoint',
  },
};

requestScenario.each(rows, async (scene, row) => {
  const { given, when, then, simulation } = scene;
  await manifestWorld(given, {
    configuration: { capture: row.capture ?? {} } as never,
    ...(row.objects === undefined ? {} : { objects: row.objects }),
  });
  if (row.fault !== undefined) when.serverAnswers(row.fault[0], row.fault[1], { times: 1e9 });
  if (row.before !== undefined) when.justBefore(row.before[0], () => row.before![1](scene));
  if (row.unseen) (await simulation()).crash();
  await when.user.apply(manifests('before', row.targets ?? undefined));
  if (row.unseen) await when.processRestarts();
  await when.timePasses(seconds(5));
  expect(await readyOf(then, REF)).toBe(row.ends);
  const { status } = await then.object<ManifestCaptureRequest>(REF);
  expect(status?.conditions?.[0]?.message).toMatch(row.says);
  const isReady = row.ends === 'True Completed';
  expect(status?.checkpointName === undefined).toBe(!isReady);
  const { user } = await simulation();
  const checkpoints = (await user.list(ManifestCheckpoint)).items;
  expect(checkpoints.length).toBe(row.leaves === 'checkpoint' ? 1 : 0);
  expect((await user.list(ObjectKeeper)).items.length).toBe(row.leaves === undefined ? 0 : 1);
  // No incomplete checkpoint is referenced, and the checkpoint reports the same as the request.
  for (const checkpoint of checkpoints.filter(({ spec }) => spec?.sourceNamespace === 'default')) {
    const ready = checkpoint.status?.conditions?.[0];
    expect(`${ready?.status} ${ready?.reason}`).toBe(row.ends);
    expect(checkpoint.status?.chunks === undefined).toBe(!isReady);
  }
  const events = await then.events('ManifestCaptureRequest/before');
  expect(events.map(({ reason }) => reason)).toEqual([row.ends.split(' ')[1]]);
  await when.faultsEnd();
});

requestScenario(
  'Interrupted: the objects of an earlier attempt belong to another capture',
  async ({ given, when, then, simulation }) => {
    await manifestWorld(given);
    when.serverAnswers('create manifestcheckpointcontentchunks', { hang: 'after' });
    await when.user.apply(manifests());
    (await simulation()).crash();
    const [checkpoint] = (await (await simulation()).user.list(ManifestCheckpoint)).items;
    const annotations = { 'state-snapshotter.deckhouse.io/capture-id': 'another' };
    await when.user.patch(`mcp/${checkpoint!.metadata.name}`, { metadata: { annotations } });
    await when.processRestarts();
    await when.timePasses(seconds(1));
    expect(await readyOf(then, REF)).toBe('False Interrupted');
  },
);
