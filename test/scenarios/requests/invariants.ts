// Invariants of every history with requests, checked after each scenario.

import { equal, type Json } from '@lapse/kube/api/json';
import { CONTENT_PROTECTION } from '@lapse/kube/api/kinds/snapshotNames';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Change } from '@lapse/simulation/history';
import type { Simulation } from '@lapse/simulation/simulate';
import { PROGRESS_REASONS } from 'lapse/api/storage/conditions';
import type { RequestObject } from 'lapse/api/storage/request';
import { expect, test } from 'vitest';
import type { Scene } from '../scene.ts';
import { runScene } from '../sceneRunner.ts';

const REQUESTS = new Set(['VolumeCaptureRequest', 'VolumeRestoreRequest', 'ManifestCaptureRequest']);
const MADE = new Set([
  'ObjectKeeper',
  'VolumeSnapshotContent',
  'ManifestCheckpoint',
  'ManifestCheckpointContentChunk',
  ...REQUESTS,
]);

const readyOf = (object: KubeObject | undefined) =>
  (object as RequestObject | undefined)?.status?.conditions?.find(({ type }) => type === 'Ready');

type Check = (change: Change, after: KubeObject) => string | undefined;

const noEmptyOwner: Check = (_change, after) =>
  (after.metadata.ownerReferences ?? []).some(({ uid }) => !uid)
    ? 'an owner reference without uid'
    : undefined;

const noRequestOwns: Check = (_change, after) =>
  (after.metadata.ownerReferences ?? []).some(({ kind }) => REQUESTS.has(kind))
    ? 'a request owns it'
    : undefined;

/** Lapse removes no finalizers of its own. That of a content is removed by csi-snapshotter. */
const noFinalizers: Check = ({ by, kind }, after) =>
  by === 'process' &&
  MADE.has(kind) &&
  (after.metadata.finalizers ?? []).some((name) => name !== CONTENT_PROTECTION)
    ? 'a finalizer'
    : undefined;

const onlyReady: Check = ({ kind, by }, after) => {
  if (!REQUESTS.has(kind) || by !== 'process') return undefined;
  const types = (after as RequestObject).status?.conditions?.map(({ type }) => type) ?? [];
  return types.length > 1 || types.some((type) => type !== 'Ready')
    ? `conditions ${types.join()}`
    : undefined;
};

/** Writes of the process: a completed request changes only by its TTL annotation, by InvalidTTL, or by deletion. */
const endIsFinal: Check = ({ kind, before, by }, after) => {
  const was = readyOf(before);
  if (
    !REQUESTS.has(kind) ||
    by !== 'process' ||
    was === undefined ||
    PROGRESS_REASONS.includes(was.reason ?? '')
  )
    return undefined;
  if (readyOf(after)?.reason === 'InvalidTTL') return undefined;
  return equal(before!.status as Json, after.status as Json) ? undefined : 'the end was rewritten';
};

const completeEnd: Check = ({ kind, by }, after) => {
  const ready = readyOf(after);
  if (!REQUESTS.has(kind) || by !== 'process' || ready === undefined) return undefined;
  const { completionTimestamp } = (after as RequestObject).status!;
  return completionTimestamp && ready.reason && ready.message
    ? undefined
    : 'an end without time, reason or message';
};

/** Only the process writes the status of a request. */
const singleWriter: Check = ({ kind, by, before }, after) =>
  REQUESTS.has(kind) && by === 'simulated controller' && !equal(before?.status as Json, after.status as Json)
    ? 'a simulated controller wrote the status'
    : undefined;

/** A capture creates no VolumeSnapshot, a restore by Lapse its helper. */
const noSnapshots: Check = ({ kind, by, name }) =>
  kind === 'VolumeSnapshot' && by === 'process' && !name.startsWith('restore-') ? 'was written' : undefined;

const CHECKS: readonly Check[] = [
  noEmptyOwner,
  noRequestOwns,
  noFinalizers,
  onlyReady,
  endIsFinal,
  completeEnd,
  singleWriter,
  noSnapshots,
];

export function checkHistory(simulation: Simulation): void {
  const broken: string[] = [];
  for (const change of simulation.changes) {
    if (change.after === undefined) continue;
    for (const check of CHECKS) {
      const problem = check(change, change.after);
      if (problem !== undefined) broken.push(`${change.kind} ${change.name}: ${problem}`);
    }
  }
  for (const { verb, body } of simulation.requests)
    if (verb === 'create' && body !== undefined && /"uid":\s*""/.test(Buffer.from(body).toString()))
      broken.push('a create with an empty uid was sent');
  expect(broken).toEqual([]);
}

/** A scenario with requests in it. */
export function requestScenario(name: string, story: (scene: Scene) => Promise<void>): void {
  test(name, () =>
    runScene(async (scene) => {
      await story(scene);
      checkHistory(await scene.simulation());
    }),
  );
}
requestScenario.each = <Row>(
  rows: Readonly<Record<string, Row>>,
  story: (scene: Scene, row: Row) => Promise<void>,
): void => {
  for (const [name, row] of Object.entries(rows)) requestScenario(name, (scene) => story(scene, row));
};
