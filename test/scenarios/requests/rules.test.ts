// The pattern of fire-and-forget requests as numbered rules, each a test. ManifestCaptureRequests have theirs in
// ../manifest/rules.soak.ts; the history of every test here is checked by invariants.ts as well (rules 3, 11, 20, 22, 30).
// Here: what a request does, until it ends and after.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { ControllerDefinition } from '@lapse/runtime/definition';
import type { RequestObject } from 'lapse/api/storage/request';
import { FAMILIES } from 'lapse/controllers/registry';
import { volumeCaptureController } from 'lapse/controllers/volume-capture/controller';
import { type DirectReader, directReader } from 'lapse/requests/direct';
import { describe, expect } from 'vitest';
import { captureOptions } from './built.ts';
import { requestScenario } from './invariants.ts';
import { capture, claim, readyOf, restore, snapshotClass, usualObjects, volumeWorld } from './kit.ts';
import { askedText, expectNotReused, isAccepted } from './ruleScenarios.ts';
import { CAPTURE, captured, created, REF, RESTORE, verbs, WHOLE } from './volumeRules.ts';

const rule = requestScenario;

describe('fire and forget', () => {
  rule('1. the operation is initiated once, however often the request is reconciled', async (scene) => {
    await volumeWorld(scene.given, { ...CAPTURE, simulatedControllers: [] });
    await scene.when.user.apply(capture());
    for (let i = 0; i < 5; i++)
      await scene.when.user.patch(REF, { metadata: { labels: { look: String(i) } } });
    await scene.when.processRestarts();
    await scene.when.timePasses(hours(1));
    const simulation = await scene.simulation();
    expect(created(simulation, 'volumesnapshotcontents')).toHaveLength(1);
    expect(created(simulation, 'objectkeepers')).toHaveLength(1);
  });

  rule(
    '2. there is no retry after an error; 48. a source that appears later does not restart it; 51. a new request succeeds',
    async (scene) => {
      const { given, when, then, simulation } = scene;
      await volumeWorld(given, {
        ...CAPTURE,
        objects: usualObjects().filter(({ kind }) => kind !== 'PersistentVolumeClaim'),
      });
      await when.user.apply(capture());
      expect(await readyOf(then, REF)).toBe('False NotFound');
      await when.user.apply(claim());
      await when.user.patch(REF, { metadata: { labels: { look: 'again' } } });
      await when.timePasses(minutes(6));
      expect(await readyOf(then, REF)).toBe('False NotFound');
      expect((await simulation()).writes().filter(({ verb }) => verb === 'create')).toEqual([]);
      await when.user.delete(REF);
      await when.user.apply(capture());
      await when.timePasses(seconds(1));
      expect(await readyOf(then, REF)).toBe('True Completed');
    },
  );

  rule(
    '3. the only states are pending, Ready=True and Ready=False; 10. none goes back; 12. Ready only at the end',
    async (scene) => {
      await captured(scene);
      const states = (await scene.simulation()).changes
        .filter(({ kind }) => kind === 'VolumeCaptureRequest')
        .map(
          ({ after }) => (after as RequestObject | undefined)?.status?.conditions?.[0]?.status ?? 'pending',
        );
      expect([...new Set(states)]).toEqual(['pending', 'True']);
    },
  );

  rule(
    '4. a request is never reused: metadata edits change nothing, spec edits are refused',
    async (scene) => {
      await captured(scene);
      await expectNotReused(scene, REF, { mode: 'Detach' });
    },
  );

  rule(
    '5. its writes are: a keeper, an artifact, its own status, its own annotations; 8. the content directly',
    async (scene) => {
      await captured(scene);
      const writes = (await scene.simulation()).writes().filter(isAccepted).map(askedText);
      expect(writes).toEqual([
        'create objectkeepers',
        'patch volumecapturerequests',
        'create volumesnapshotcontents',
        'patch volumecapturerequests/status',
        'patch volumecapturerequests',
      ]);
    },
  );

  rule(
    '6. an artifact that failed is neither changed nor deleted; 18. its error becomes the message',
    async (scene) => {
      const { given, when, then, simulation } = scene;
      const objects = [
        ...usualObjects().slice(1),
        snapshotClass('snap', {}, { annotations: { 'simulation.lapse.dev/snapshot': 'error: boom' } }),
      ];
      await volumeWorld(given, { ...CAPTURE, objects });
      await when.user.apply(capture('nightly', { timeout: '0s' }));
      await when.timePasses(minutes(9));
      const request = await then.object<RequestObject>(REF);
      expect(request.status).toMatchObject({
        dataRef: { kind: 'VolumeSnapshotContent' },
        conditions: [{ reason: 'SnapshotCreationFailed', message: expect.stringContaining('boom') }],
      });
      expect(
        (await simulation())
          .writes()
          .filter((write) => write.resource === 'volumesnapshotcontents' && isAccepted(write)),
      ).toHaveLength(1);
      await then.exists(`vsc/snapshot-${request.metadata.uid}`);
    },
  );

  rule('7. a restore creates neither claims nor snapshots', async ({ given, when, then, simulation }) => {
    await volumeWorld(given, RESTORE);
    await when.user.apply(restore());
    await when.timePasses(seconds(2));
    expect(await readyOf(then, 'vrr/back')).toBe('True Completed');
    expect(
      (await simulation())
        .writes()
        .filter(({ verb }) => verb === 'create')
        .map(({ resource }) => resource),
    ).toEqual(['objectkeepers']);
  });
});

describe('completion', () => {
  rule(
    '9, 15, 16, 17. a completed request causes no API request and no write, also after a restart',
    async (scene) => {
      const before = await captured(scene);
      const { when, then, simulation } = scene;
      const mark = (await simulation()).requests.length;
      await when.user.patch(REF, { metadata: { labels: { look: 'here' } } });
      expect(verbs(await simulation(), mark)).toEqual([]);
      await when.processRestarts();
      await when.timePasses(hours(3));
      expect((await simulation()).writes().slice(-1)[0]).toMatchObject({
        verb: 'patch',
        resource: 'volumecapturerequests',
      });
      expect((await then.object(REF)).status).toEqual(before.status);
    },
  );

  rule(
    '13. an artifact that is deleted afterwards is not created again; 14. a changed one is not repaired',
    async (scene) => {
      const { metadata } = await captured(scene);
      const { when, then } = scene;
      await when.user.patch(`vsc/snapshot-${metadata.uid}`, { spec: { driver: 'tampered' } });
      await when.user.patch(REF, { metadata: { labels: { look: 'here' } } });
      expect(await then.object(`vsc/snapshot-${metadata.uid}`)).toMatchObject({
        spec: { driver: 'tampered' },
      });
      await when.user.delete(`vsc/snapshot-${metadata.uid}`);
      await when.processRestarts();
      await when.timePasses(minutes(6));
      await then.isGone(`vsc/snapshot-${metadata.uid}`);
    },
  );

  rule(
    '55. after a crash between status and annotation only the annotation is added; 56. every completion has all parts',
    async (scene) => {
      const { given, when, then, simulation } = scene;
      await volumeWorld(given, CAPTURE);
      when.justBefore('patch volumecapturerequests', async () => (await simulation()).crash());
      when.serverAnswers('patch volumecapturerequests', { hang: 'before' });
      await when.user.apply(capture('nightly', { persistentVolumeClaimRef: { name: 'none' } }));
      const crashed = await then.object<RequestObject>(REF);
      expect(crashed.status?.completionTimestamp).toBeDefined();
      expect(crashed.metadata.annotations).toBeUndefined();
      await when.timePasses(minutes(3));
      await when.processRestarts();
      const after = await then.object(REF);
      expect(after.metadata.annotations).toEqual({ 'storage.deckhouse.io/ttl': '10m' });
      expect(after.status).toEqual(crashed.status);
    },
  );

  rule('16. a completion that another leader wrote a moment earlier is kept', async (scene) => {
    const { given, when, then } = scene;
    await volumeWorld(given, CAPTURE);
    const end = {
      type: 'Ready',
      status: 'False',
      reason: 'InUse',
      message: 'first',
      lastTransitionTime: '2026-01-01T00:00:00Z',
    };
    when.justBefore('patch volumecapturerequests/status', () =>
      when.user.status(REF, { completionTimestamp: '2026-01-01T00:00:00Z', conditions: [end] }),
    );
    await when.user.apply(capture('nightly', { persistentVolumeClaimRef: { name: 'none' } }));
    expect(await readyOf(then, REF)).toBe('False InUse');
    expect((await then.object(REF)).metadata.annotations).toEqual({ 'storage.deckhouse.io/ttl': '10m' });
  });
});

describe('ownership', () => {
  rule(
    '20, 21, 24, 25. the keeper is the only controller owner, follows the request by uid, and has no TTL',
    async (scene) => {
      const { metadata } = await captured(scene);
      const keeper = await scene.then.object(`objectkeeper/ret-snapshot-${metadata.uid}`);
      expect(keeper.spec).toEqual({
        mode: 'FollowObject',
        followObjectRef: {
          apiVersion: 'storage.deckhouse.io/v1alpha1',
          kind: 'VolumeCaptureRequest',
          namespace: 'default',
          name: 'nightly',
          uid: metadata.uid,
        },
      });
      expect((await scene.then.object(`vsc/snapshot-${metadata.uid}`)).metadata.ownerReferences).toEqual([
        {
          apiVersion: 'deckhouse.io/v1alpha1',
          kind: 'ObjectKeeper',
          name: keeper.metadata.name,
          uid: keeper.metadata.uid,
          controller: true,
          blockOwnerDeletion: true,
        },
      ]);
    },
  );

  rule(
    '23, 26. deleting the request deletes the keeper at once, with everything it owns; 39. only requests have a TTL',
    async (scene) => {
      const { metadata } = await captured(scene, WHOLE);
      const { when, then } = scene;
      await then.exists(`objectkeeper/ret-snapshot-${metadata.uid}`);
      await when.user.delete(REF);
      await then.isGone(`objectkeeper/ret-snapshot-${metadata.uid}`);
      await then.isGone(`vsc/snapshot-${metadata.uid}`);
    },
  );

  rule(
    '26. a request that was recreated under its name is a new request with a new keeper',
    async (scene) => {
      const { metadata } = await captured(scene, WHOLE);
      const { when, then } = scene;
      await when.user.delete(REF);
      await when.user.apply(capture());
      await then.isGone(`objectkeeper/ret-snapshot-${metadata.uid}`);
      const { uid } = (await then.object(REF)).metadata;
      await then.exists(`objectkeeper/ret-snapshot-${uid}`);
    },
  );
});

describe('the uid barrier', () => {
  rule('27. after the create the keeper is read, and only then is anything owned by it', async (scene) => {
    await captured(scene);
    const steps = (await scene.simulation()).requests
      .filter(isAccepted)
      .map(askedText)
      .filter((step) => /objectkeepers|create volumesnapshotcontents/.test(step) && !/watch|list/.test(step));
    expect(steps).toEqual(['create objectkeepers', 'get objectkeepers', 'create volumesnapshotcontents']);
  });

  rule(
    '28, 29, 46. a keeper without uid: retried in a second, no artifact; then the request continues',
    async ({ given, when, simulation }) => {
      const withheld: DirectReader = {
        async get(pass, kind, key) {
          const found = await directReader.get(pass, kind, key);
          if (kind.kind !== 'ObjectKeeper' || found === undefined) return found;
          return { ...found, metadata: { ...found.metadata, uid: '' } };
        },
      };
      given.controllers(
        volumeCaptureController(captureOptions({ direct: withheld })) as ControllerDefinition,
      );
      const families = { families: ['request-ttl'], simulatedControllers: ['csi-snapshotter'] };
      given.kinds(...FAMILIES.find(({ name }) => name === 'object-keeper')!.kinds);
      await volumeWorld(given, families);
      await when.user.apply(capture());
      const waits = (await simulation()).reconciles
        .filter(({ controller }) => controller === 'volume-capture')
        .map(({ outcome, now }) => (outcome.kind === 'waitUntil' ? outcome.at - now : outcome.kind));
      expect(waits[0]).toBe(1000);
      expect(created(await simulation(), 'volumesnapshotcontents')).toHaveLength(0);
      await when.timePasses(seconds(1));
      expect(created(await simulation(), 'volumesnapshotcontents')).toHaveLength(1);
    },
  );

  rule(
    '31. a create or a read-back that fails ends the attempt: no artifact; 52. it is not repeated within the attempt',
    async ({ given, when, then, simulation }) => {
      given.noDoubleRun('it is retried until the faults end');
      await volumeWorld(given, CAPTURE);
      when.serverAnswers('create objectkeepers', 500);
      when.serverAnswers('get objectkeepers', 500, { times: 2 });
      await when.user.apply(capture());
      const reconciles = (await simulation()).reconciles.filter(
        ({ controller }) => controller === 'volume-capture',
      );
      expect(reconciles[0]!.outcome.kind).toBe('failed');
      expect(created(await simulation(), 'volumesnapshotcontents')).toHaveLength(0);
      await when.timePasses(seconds(5));
      expect(await readyOf(then, REF)).toBe('True Completed');
      expect(created(await simulation(), 'objectkeepers')).toHaveLength(1);
    },
  );
});
