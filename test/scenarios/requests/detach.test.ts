// Detaching a volume: the claim is deleted, the volume is kept, and no other claim binds it.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { PersistentVolume } from '@lapse/kube/api/kinds/volumes';
import type { KubeObject } from '@lapse/kube/api/object';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import type { Fault } from '@lapse/simulation/faults';
import type { RequestInfo } from '@lapse/simulation/requestInfo';
import { expect } from 'vitest';
import { requestScenario } from './invariants.ts';
import {
  claim,
  detach,
  readyOf,
  snapshotClass,
  storageClass,
  volume,
  volumeWorld,
  type WorldOptions,
} from './kit.ts';

const CLAIM_REF = { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace: 'default', name: 'data' };
const OBJECTS = [snapshotClass(), storageClass(), volume('pv-data', { claimRef: CLAIM_REF }), claim()];
const ALONE: WorldOptions = { families: ['volume-capture'], simulatedControllers: [], objects: OBJECTS };
const REF = 'vcr/nightly';
const isDryRun = ({ query }: RequestInfo): boolean => /dryRun=All/.test(query);
const isMark = (request: RequestInfo): boolean =>
  request.verb === 'patch' && request.resource === 'persistentvolumes' && !isDryRun(request);

requestScenario(
  'the record of a detached volume outlives its request by a day',
  async ({ given, when, then, simulation }) => {
    await volumeWorld(given, {
      families: ['volume-capture', 'object-keeper', 'request-ttl'],
      simulatedControllers: ['owner-gc'],
      objects: OBJECTS,
    });
    await when.user.apply(detach());
    expect(await readyOf(then, REF)).toBe('True Completed');
    const request = await then.object(REF);
    expect(request.status).toMatchObject({ dataRef: { kind: 'PersistentVolume', name: 'pv-data' } });
    expect(request.metadata.annotations).toMatchObject({ 'storage.deckhouse.io/detach-pv-name': 'pv-data' });
    await then.isGone('pvc/data');
    const kept = await then.object<PersistentVolume>('pv/pv-data');
    const keeper = await then.object(`objectkeeper/ret-pv-${request.metadata.uid}`);
    expect(kept.metadata).toMatchObject({
      annotations: { 'storage.deckhouse.io/detached': 'true' },
      ownerReferences: [
        { kind: 'ObjectKeeper', uid: keeper.metadata.uid, controller: true, blockOwnerDeletion: true },
      ],
    });
    expect(kept.spec?.claimRef, 'nobody else can bind it').toMatchObject({ name: 'data' });
    expect((await simulation()).writes().filter(isMark)).toHaveLength(1);
    await when.timePasses(minutes(10));
    await then.isGone(REF);
    await when.timePasses(hours(23));
    await then.exists('pv/pv-data');
    await when.timePasses(hours(1));
    await then.isTerminating('pv/pv-data');
  },
);

requestScenario(
  'the keeper exists and the volume can be marked before anything is deleted',
  async ({ given, when, simulation }) => {
    await volumeWorld(given, ALONE);
    await when.user.apply(detach());
    const steps = (await simulation())
      .writes()
      .map(
        ({ verb, resource, query }) => `${verb} ${resource}${/dryRun=All/.test(query) ? ' dryRun=All' : ''}`,
      );
    expect(steps).toEqual([
      'patch volumecapturerequests',
      'create objectkeepers',
      'patch persistentvolumes dryRun=All',
      'delete persistentvolumeclaims',
      'patch persistentvolumes',
      'patch volumecapturerequests',
      'patch volumecapturerequests',
    ]);
  },
);

requestScenario(
  'with clearClaimRef the volume is reserved for a claim of the same name',
  async ({ given, when, then }) => {
    await volumeWorld(given, { ...ALONE, configuration: { detach: { clearClaimRef: true } } });
    await when.user.apply(detach());
    expect(await readyOf(then, REF)).toBe('True Completed');
    const { spec } = await then.object<PersistentVolume>('pv/pv-data');
    expect(spec?.claimRef).toMatchObject({ namespace: 'default', name: 'data' });
    expect(spec?.claimRef?.uid).toBeUndefined();
  },
);

requestScenario('waits for a protected claim', async ({ given, when, then, simulation }) => {
  given.controllers('volume-capture');
  given.configuration({ actAs: 'controller' });
  given.kinds(...STOCK_SNAPSHOT_KINDS);
  await given.object(OBJECTS);
  await when.user.apply(detach());
  await when.timePasses(hours(2));
  await then.isTerminating('pvc/data');
  expect(await readyOf(then, REF)).toBeUndefined();
  expect((await simulation()).writes().filter(({ verb }) => verb === 'delete')).toHaveLength(1);
  await when.user.patch('pvc/data', { metadata: { finalizers: null } });
  expect(await readyOf(then, REF)).toBe('True Completed');
});

requestScenario(
  'a volume whose reclaim policy changes to Delete at the last moment is kept',
  async ({ given, when, then }) => {
    await volumeWorld(given, ALONE);
    when.cachesAreStale();
    await when.user.patch('pv/pv-data', { spec: { persistentVolumeReclaimPolicy: 'Delete' } });
    await when.user.apply(detach());
    await when.cachesCatchUp();
    expect(await readyOf(then, REF)).toBe('False InvalidReclaimPolicy');
    await then.exists('pvc/data');
  },
);

requestScenario(
  'a new claim of the same name, created by another client, is kept',
  async ({ given, when, then }) => {
    await volumeWorld(given, ALONE);
    when.justBefore(isMark, async () => {
      await when.user.apply(claim('data', { volumeName: 'pv-other' }));
    });
    when.serverAnswers(isMark, 409);
    await when.user.apply(detach());
    await when.timePasses(seconds(9));
    expect(await readyOf(then, REF)).toBe('True Completed');
    await then.exists('pvc/data');
  },
);

requestScenario('a detach record forged by the author has no effect', async ({ given, when, then }) => {
  const victim = volume('victim', { claimRef: { ...CLAIM_REF, namespace: 'other' } });
  await volumeWorld(given, { ...ALONE, objects: [victim] });
  await when.user.apply(
    detach('nightly', {}, { annotations: { 'storage.deckhouse.io/detach-pv-name': 'victim' } }),
  );
  expect(await readyOf(then, REF)).toBe('False NotBound');
  expect((await then.object('pv/victim')).metadata.ownerReferences).toBeUndefined();
});

requestScenario(
  'a detach record about a volume that another request detached has no effect',
  async ({ given, when, then }) => {
    const victim = volume('victim', {}, { annotations: { 'storage.deckhouse.io/detached': 'true' } });
    await volumeWorld(given, { ...ALONE, objects: [victim] });
    await when.user.apply(
      detach('nightly', {}, { annotations: { 'storage.deckhouse.io/detach-pv-name': 'victim' } }),
    );
    expect(await readyOf(then, REF)).toBe('False NotBound');
  },
);

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', uid: 'someone', controller: true };
const claimed = (metadata: object = {}) => volume('pv-data', { claimRef: CLAIM_REF }, metadata);

const refusals: Record<string, { volume?: KubeObject; fault?: Fault | number; ends: string }> = {
  'a volume that has a controller already keeps its claim': {
    volume: claimed({ ownerReferences: [owner] }),
    ends: 'False OwnershipConflict',
  },
  'a volume that is being deleted keeps its claim': {
    volume: claimed({
      finalizers: ['kubernetes.io/pv-protection'],
      deletionTimestamp: '2026-01-01T00:00:00Z',
    }),
    ends: 'False InvalidSource',
  },
  'a volume that Lapse may not patch keeps its claim': { fault: 403, ends: 'False RBACDenied' },
  'a volume whose patch the server refuses keeps its claim': { fault: 422, ends: 'False InternalError' },
  'a volume whose patch the server rejects as malformed keeps its claim': {
    fault: 400,
    ends: 'False InternalError',
  },
};
requestScenario.each(refusals, async ({ given, when, then, simulation }, row) => {
  await volumeWorld(given, { ...ALONE, objects: [row.volume ?? claimed(), claim()] });
  if (row.volume?.metadata.deletionTimestamp !== undefined) await when.user.delete('pv/pv-data');
  if (row.fault !== undefined) when.serverAnswers('patch persistentvolumes', row.fault, { times: 9 });
  await when.user.apply(detach());
  await when.timePasses(seconds(9));
  expect(await readyOf(then, REF)).toBe(row.ends);
  expect((await then.object('pvc/data')).metadata.deletionTimestamp).toBeUndefined();
  expect((await simulation()).writes().filter(({ verb }) => verb === 'delete')).toEqual([]);
});

requestScenario(
  'a volume that gets a controller after the first check keeps its claim',
  async ({ given, when, then }) => {
    await volumeWorld(given, ALONE);
    when.justBefore('create objectkeepers', async () => {
      await when.user.patch('pv/pv-data', { metadata: { ownerReferences: [owner] } });
    });
    await when.user.apply(detach());
    await when.timePasses(seconds(9));
    expect(await readyOf(then, REF)).toBe('False OwnershipConflict');
    expect((await then.object('pvc/data')).metadata.deletionTimestamp).toBeUndefined();
  },
);

requestScenario(
  'a request that is deleted before completion leaves no half-detached volume',
  async ({ given, when, then, simulation }) => {
    await volumeWorld(given, {
      families: ['volume-capture', 'object-keeper'],
      simulatedControllers: ['owner-gc'],
      objects: OBJECTS,
    });
    when.justBefore('create objectkeepers', () => when.user.delete(REF));
    await when.user.apply(detach());
    await when.timePasses(hours(25));
    const { changes } = await simulation();
    const last = changes.filter(({ kind }) => kind === 'ObjectKeeper').at(-1);
    expect(last?.after, 'the keeper went a day after the request').toBeUndefined();
  },
);

requestScenario(
  'a detached volume that is bound again loses its keeper and outlives it',
  async ({ given, when, then }) => {
    await volumeWorld(given, {
      families: ['volume-capture', 'object-keeper', 'request-ttl'],
      simulatedControllers: ['owner-gc'],
      objects: OBJECTS,
    });
    await when.user.apply(detach());
    expect(await readyOf(then, REF)).toBe('True Completed');
    await when.timePasses(minutes(11));
    await then.isGone(REF);
    await when.user.apply(claim('again', { volumeName: 'pv-data' }));
    const { uid } = (await then.object('pvc/again')).metadata;
    await when.user.patch('pv/pv-data', { spec: { claimRef: { ...CLAIM_REF, name: 'again', uid } } });
    const { metadata } = await then.object('pv/pv-data');
    expect(metadata.ownerReferences ?? []).toEqual([]);
    expect(metadata.annotations?.['storage.deckhouse.io/detached']).toBeUndefined();
    await when.timePasses(hours(30));
    expect((await then.object('pv/pv-data')).metadata.deletionTimestamp).toBeUndefined();
  },
);

requestScenario(
  'a detached volume keeps its keeper while a claim only names it',
  async ({ given, when, then }) => {
    await volumeWorld(given, ALONE);
    await when.user.apply(detach());
    await when.user.apply(claim('data', { volumeName: 'pv-data' }));
    await when.timePasses(minutes(5));
    expect((await then.object('pv/pv-data')).metadata.ownerReferences).toHaveLength(1);
  },
);
