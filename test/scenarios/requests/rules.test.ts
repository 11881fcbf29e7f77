// The pattern of fire-and-forget requests as numbered rules, each a test. ManifestCaptureRequests have theirs in
// ../manifest/rules.soak.ts; the history of every test here is checked by invariants.ts as well (rules 3, 11, 20, 22, 30).

import { hours, minutes, seconds } from '@lapse/base/instant';
import { type ControllerDefinition, rightsOf } from '@lapse/runtime/definition';
import type { Simulation } from '@lapse/simulation/simulate';
import type { RequestObject } from 'lapse/api/storage/request';
import { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { FAMILIES } from 'lapse/controllers/registry';
import { requestTtlController } from 'lapse/controllers/request-ttl/controller';
import { volumeCaptureController } from 'lapse/controllers/volume-capture/controller';
import { volumeRestoreController } from 'lapse/controllers/volume-restore/controller';
import { type DirectReader, directReader } from 'lapse/requests/direct';
import { describe, expect, test } from 'vitest';
import type { Scene } from '../scene.ts';
import { captureOptions, servicesForRights } from './built.ts';
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
  usualObjects,
  volume,
  volumeWorld,
  type WorldOptions,
} from './kit.ts';
import { askedText, expectNotReused } from './ruleScenarios.ts';

const CAPTURE: WorldOptions = { families: ['volume-capture'], simulatedControllers: ['csi-snapshotter'] };
const WHOLE: WorldOptions = { families: ['volume-capture', 'object-keeper', 'request-ttl'] };
const RESTORE: WorldOptions = {
  families: ['volume-restore'],
  simulatedControllers: ['provisioner'],
  objects: [content()],
};
const CLAIMED = [
  snapshotClass(),
  storageClass(),
  volume('pv-data', { claimRef: { namespace: 'default', name: 'data' } }),
  claim(),
];
const REF = 'vcr/nightly';

const created = (simulation: Simulation, resource: string) =>
  simulation
    .writes()
    .filter((write) => write.verb === 'create' && write.resource === resource && write.status === 201);
const verbs = (simulation: Simulation, from = 0) => simulation.requests.slice(from).map(askedText);

/** Applies a snapshot request, and returns it one second later. */
async function captured({ given, when, then }: Scene, world: WorldOptions = CAPTURE): Promise<RequestObject> {
  await volumeWorld(given, world);
  await when.user.apply(capture());
  await when.timePasses(seconds(1));
  return then.object<RequestObject>(REF);
}
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
      const writes = (await scene.simulation()).writes().map(askedText);
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
      await when.user.apply(capture());
      await when.timePasses(minutes(9));
      const request = await then.object<RequestObject>(REF);
      expect(request.status).toMatchObject({
        dataRef: { kind: 'VolumeSnapshotContent' },
        conditions: [{ reason: 'SnapshotCreationFailed', message: expect.stringContaining('boom') }],
      });
      expect(
        (await simulation()).writes().filter(({ resource }) => resource === 'volumesnapshotcontents'),
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
    const steps = verbs(await scene.simulation()).filter(
      (step) => /objectkeepers|create volumesnapshotcontents/.test(step) && !/watch|list/.test(step),
    );
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

describe('TTL by the controller', () => {
  rule('32. it counts from the completion, not from the creation', async ({ given, when, then }) => {
    const objects = [
      ...usualObjects().slice(1),
      snapshotClass('snap', {}, { annotations: { 'simulation.lapse.dev/snapshot': '2h' } }),
    ];
    await volumeWorld(given, { ...WHOLE, simulatedControllers: ['csi-snapshotter'], objects });
    await when.user.apply(capture());
    await when.timePasses(hours(2));
    expect(await readyOf(then, REF)).toBe('True Completed');
    await when.timePasses(seconds(599));
    await then.exists(REF);
    await when.timePasses(seconds(1));
    await then.isGone(REF);
  });

  requestScenario.each(
    {
      '33, 34. a longer annotation changes nothing': '900h',
      '33, 34. a shorter annotation changes nothing': '1s',
      '33, 34. an invalid annotation changes nothing': 'for ever',
    },
    async ({ given, when, then }, ttl) => {
      await volumeWorld(given, { families: ['volume-capture', 'request-ttl'], simulatedControllers: [] });
      await when.user.apply(
        capture(
          'nightly',
          { persistentVolumeClaimRef: { name: 'none' } },
          { annotations: { 'storage.deckhouse.io/ttl': ttl } },
        ),
      );
      await when.timePasses(seconds(599));
      expect(await readyOf(then, REF)).toBe('False NotFound');
      await when.timePasses(seconds(1));
      await then.isGone(REF);
    },
  );

  rule(
    '35. reconcile contains no TTL: an expired request is neither deleted nor scheduled',
    async (scene) => {
      await captured(scene);
      const { when, then, simulation } = scene;
      await when.timePasses(hours(9));
      await when.processRestarts();
      await then.exists(REF);
      expect((await simulation()).reconciles.at(-1)!.outcome.kind).toBe('settled');
    },
  );

  rule(
    '36. it lists, watches and deletes, and does nothing else; 38. only requests with a completion time',
    async ({ given, when, then, simulation }) => {
      await volumeWorld(given, { families: ['request-ttl'], simulatedControllers: [] });
      const ready = [
        {
          type: 'Ready',
          status: 'True',
          reason: 'X',
          message: 'x',
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
      ];
      await when.user.apply([
        capture('pending'),
        { ...capture('timeless'), status: { conditions: ready } } as RequestObject,
        {
          ...capture('ended'),
          status: { conditions: ready, completionTimestamp: '2026-01-01T00:00:00Z' },
        } as RequestObject,
      ]);
      await when.timePasses(hours(1));
      await then.exists('vcr/pending');
      await then.exists('vcr/timeless');
      await then.isGone('vcr/ended');
      const used = new Set((await simulation()).requests.map(({ verb }) => verb));
      // `other`: the server is asked for its time before each deletion.
      for (const verb of used) expect(['list', 'watch', 'delete', 'other']).toContain(verb);
    },
  );

  rule(
    '36. a conflict is left to the next reconcile: nothing is read',
    async ({ given, when, then, simulation }) => {
      await volumeWorld(given, { families: ['volume-capture', 'request-ttl'], simulatedControllers: [] });
      await when.user.apply(capture('nightly', { persistentVolumeClaimRef: { name: 'none' } }));
      when.justBefore('DELETE', () => when.user.patch(REF, { metadata: { labels: { changed: 'yes' } } }));
      await when.timePasses(minutes(10));
      await when.timePasses(seconds(1));
      await then.isGone(REF);
      const deletes = (await simulation()).requests
        .filter(({ verb }) => verb === 'delete')
        .map(({ status }) => status);
      expect(deletes).toEqual([409, 200]);
      expect((await simulation()).reconciles.filter(({ outcome }) => outcome.kind === 'failed')).toEqual([]);
      expect(
        (await simulation()).requests.filter(
          ({ verb, resource }) => verb === 'get' && resource === 'volumecapturerequests',
        ),
      ).toEqual([]);
    },
  );

  rule(
    '37. only the leader deletes, and stops when it loses the lease; 40. it starts and stops with the process',
    async ({ given, when, then, simulation }) => {
      await volumeWorld(given, { families: ['volume-capture', 'request-ttl'], simulatedControllers: [] });
      await when.user.apply(capture('nightly', { persistentVolumeClaimRef: { name: 'none' } }));
      await when.leadershipIsLost();
      await when.timePasses(hours(1));
      await then.exists(REF);
      await when.leadershipReturns();
      await then.isGone(REF);
      await (await simulation()).stop();
      expect((await simulation()).running).toBe(false);
    },
  );

  rule(
    '40. requests that expired while no process ran are deleted at startup',
    async ({ given, when, then }) => {
      await volumeWorld(given, { families: ['volume-capture', 'request-ttl'], simulatedControllers: [] });
      await when.user.apply(capture('nightly', { persistentVolumeClaimRef: { name: 'none' } }));
      await when.processCrashes({ downFor: hours(9) });
      await then.isGone(REF);
    },
  );
});

describe('reads', () => {
  rule(
    '41. claims, volumes and contents come from the cache; 42. classes are read live and never watched',
    async (scene) => {
      await captured(scene);
      const seen = new Set(verbs(await scene.simulation()));
      for (const resource of [
        'persistentvolumeclaims',
        'persistentvolumes',
        'volumesnapshotcontents',
        'pods',
      ]) {
        expect(seen).toContain(`watch ${resource}`);
        expect(seen).not.toContain(`get ${resource}`);
      }
      for (const resource of ['storageclasses', 'volumesnapshotclasses']) {
        expect(seen).toContain(`get ${resource}`);
        expect(seen).not.toContain(`watch ${resource}`);
        expect(seen).not.toContain(`list ${resource}`);
      }
    },
  );

  test('42. no controller declares a right to list or watch classes', () => {
    for (const { name, controllers } of servicesForRights())
      for (const right of controllers.flatMap(rightsOf))
        if (/storageclasses|volumesnapshotclasses/.test(right.resource))
          expect([name, right.verbs]).toEqual([name, ['get']]);
  });

  test.each(['rules', 'policy', 'direct', 'expirer', 'guard', 'random'])(
    '44, 45. without %s no controller is built',
    (missing) => {
      const options = { ...captureOptions(), [missing]: undefined } as never;
      expect(() => volumeCaptureController(options)).toThrow(`controller volume-capture needs ${missing}`);
      expect(() => volumeRestoreController(options)).toThrow(`controller volume-restore needs ${missing}`);
    },
  );
  test('45. the TTL controller is not built either', () => {
    const { rules } = captureOptions();
    expect(() => requestTtlController({ rules, expirer: undefined as never })).toThrow('needs expirer');
  });

  rule(
    '46. a cache that is behind completes no request: the server is read first',
    async ({ given, when, then }) => {
      await volumeWorld(given, { ...CAPTURE, objects: usualObjects().slice(0, 2) });
      when.cachesAreStale();
      await when.user.apply([volume(), claim()]);
      await when.user.apply(capture());
      await when.cachesCatchUp();
      await when.timePasses(seconds(1));
      expect(await readyOf(then, REF)).toBe('True Completed');
    },
  );
});

describe('errors and speed', () => {
  requestScenario.each(
    {
      '47. NotFound fails the request': [usualObjects().slice(1), undefined, 'False NotFound'],
      '47. Forbidden fails the request': [usualObjects(), 403, 'False RBACDenied'],
      '47. a configuration that cannot work fails the request': [
        [...usualObjects().slice(1), snapshotClass('snap', { driver: 'x' })],
        undefined,
        'False InvalidSource',
      ],
      '47. an error of the storage system fails the request': [
        [
          ...usualObjects().slice(1),
          snapshotClass('snap', {}, { annotations: { 'simulation.lapse.dev/snapshot': 'error: x' } }),
        ],
        undefined,
        'False SnapshotCreationFailed',
      ],
      '47. a missing status does not fail the request': [
        [
          ...usualObjects().slice(1),
          snapshotClass('snap', {}, { annotations: { 'simulation.lapse.dev/snapshot': 'never' } }),
        ],
        undefined,
        undefined,
      ],
    } as const,
    async ({ given, when, then }, [objects, fault, ends]) => {
      await volumeWorld(given, { ...CAPTURE, objects });
      if (fault !== undefined) when.serverAnswers('get volumesnapshotclasses', fault, { times: 3 });
      await when.user.apply(capture());
      await when.timePasses(minutes(1));
      expect(await readyOf(then, REF)).toBe(ends);
      await when.faultsEnd();
    },
  );

  rule('49. no reconcile blocks to wait; events trigger the next one', async (scene) => {
    await captured(scene);
    const { reconciles } = await scene.simulation();
    expect(reconciles.map(({ took }) => took)).toEqual(reconciles.map(() => 0));
    expect(reconciles.filter(({ controller }) => controller === 'volume-capture').length).toBeLessThanOrEqual(
      5,
    );
  });

  rule('50. a conflict on the status is retried', async ({ given, when, then, simulation }) => {
    await volumeWorld(given, CAPTURE);
    when.justBefore('patch volumecapturerequests/status', () =>
      when.user.patch(REF, { metadata: { labels: { changed: 'yes' } } }),
    );
    await when.user.apply(capture('nightly', { persistentVolumeClaimRef: { name: 'none' } }));
    expect(await readyOf(then, REF)).toBe('False NotFound');
    const first = (await simulation()).reconciles.find(({ controller }) => controller === 'volume-capture')!;
    expect(first.outcome.kind).toBe('settled');
  });

  rule('50. a conflict on anything else is not retried', async ({ given, when, then, simulation }) => {
    await volumeWorld(given, { ...CAPTURE, objects: CLAIMED });
    when.serverAnswers('patch persistentvolumes', 409);
    await when.user.apply(detach());
    await when.timePasses(seconds(9));
    expect(await readyOf(then, REF)).toBe('True Completed');
    expect((await simulation()).reconciles.filter(({ outcome }) => outcome.kind === 'again')).toHaveLength(1);
  });

  rule('53. an existing content of this request is success', async ({ given, when, then, simulation }) => {
    await volumeWorld(given, CAPTURE);
    when.serverAnswers('create volumesnapshotcontents', { drop: 'after' });
    await when.user.apply(capture());
    await when.timePasses(seconds(9));
    expect(await readyOf(then, REF)).toBe('True Completed');
    expect(
      (await simulation()).changes.filter(
        ({ kind, before }) => kind === 'VolumeSnapshotContent' && before === undefined,
      ),
    ).toHaveLength(1);
  });
});

describe('who writes', () => {
  test('57. the status of a request has one writer: its controller', () => {
    const writers = servicesForRights().flatMap(({ name, controllers }) =>
      controllers
        .flatMap(rightsOf)
        .filter(({ resource }) => /requests\/status$/.test(resource))
        .map(({ resource }) => [resource, name]),
    );
    expect(Object.fromEntries(writers)).toEqual({
      'volumecapturerequests/status': 'volume-capture',
      'volumerestorerequests/status': 'volume-restore',
      'manifestcapturerequests/status': 'manifest-capture',
    });
    expect(writers).toHaveLength(3);
  });

  rule(
    '58. a provisioner reports through its own objects: the request’s status follows from them',
    async ({ given, when, simulation }) => {
      await volumeWorld(given, RESTORE);
      await when.user.apply(restore());
      await when.timePasses(seconds(2));
      const writers = (await simulation()).changes
        .filter(
          ({ kind, after }) =>
            kind === 'VolumeRestoreRequest' && (after as RequestObject).status !== undefined,
        )
        .map(({ by }) => by);
      expect(new Set(writers)).toEqual(new Set(['process']));
    },
  );
});

test('the kind of the rules is the kind of the controller', () => {
  expect(captureOptions().rules.kind).toBe(VolumeCaptureRequest);
});
