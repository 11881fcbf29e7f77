// The numbered rules of rules.test.ts about reads, errors and writers.

import { minutes, seconds } from '@lapse/base/instant';
import { rightsOf } from '@lapse/runtime/definition';
import type { RequestObject } from 'lapse/api/storage/request';
import { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { requestTtlController } from 'lapse/controllers/request-ttl/controller';
import { volumeCaptureController } from 'lapse/controllers/volume-capture/controller';
import { volumeRestoreController } from 'lapse/controllers/volume-restore/controller';
import { describe, expect, test } from 'vitest';
import { captureOptions, servicesForRights } from './built.ts';
import { requestScenario } from './invariants.ts';
import {
  capture,
  claim,
  detach,
  readyOf,
  restore,
  snapshotClass,
  usualObjects,
  volume,
  volumeWorld,
} from './kit.ts';
import { CAPTURE, CLAIMED, captured, REF, RESTORE, verbs } from './volumeRules.ts';

const rule = requestScenario;

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
      await when.user.apply(capture('nightly', { timeout: '0s' }));
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
