// The TTL mechanism in the mode in which the annotation decides: the nine testing requirements of its document, by
// number, each for both request kinds. (The tenth row is its rule on terminal conditions.)

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { RequestObject } from 'lapse/api/storage/request';
import { describe, expect, test } from 'vitest';
import type { Scene } from '../scene.ts';
import { runScene } from '../sceneRunner.ts';
import { checkHistory } from './invariants.ts';
import { capture, content, readyOf, restore, usualObjects, volumeWorld } from './kit.ts';

const TTL = 'storage.deckhouse.io/ttl';
const ANNOTATION = { requestTTL: { mode: 'annotation' } };

interface Subject {
  readonly ref: string;
  readonly request: (metadata?: object) => RequestObject;
  /** The same, with a source that does not exist. */
  readonly wrong: (metadata?: object) => RequestObject;
  readonly family: string;
}
const subjects: Record<string, Subject> = {
  VolumeCaptureRequest: {
    ref: 'vcr/it',
    request: (metadata) => capture('it', {}, metadata),
    wrong: (metadata) => capture('it', { persistentVolumeClaimRef: { name: 'none' } }, metadata),
    family: 'volume-capture',
  },
  VolumeRestoreRequest: {
    ref: 'vrr/it',
    request: (metadata) => restore('it', {}, metadata),
    wrong: (metadata) => restore('it', { sourceRef: { kind: 'PersistentVolume', name: 'none' } }, metadata),
    family: 'volume-restore',
  },
};
const readyFor = (status: string, reason: string) => ({
  type: 'Ready',
  status,
  reason,
  message: 'x',
  lastTransitionTime: '2026-01-01T00:00:00Z',
});
const annotated = (ttl: string) => ({ annotations: { [TTL]: ttl } });
const ttlOf = (object: KubeObject) => object.metadata.annotations?.[TTL];

describe.each(Object.entries(subjects))('%s', (_kind, { ref, request, wrong, family }) => {
  const inWorld = (
    name: string,
    story: (scene: Scene) => Promise<void>,
    configuration: object = {},
    retained = false,
  ) =>
    test(name, () =>
      runScene(async (scene) => {
        await volumeWorld(scene.given, {
          families: retained ? [family, 'object-keeper', 'request-ttl'] : [family, 'request-ttl'],
          simulatedControllers: retained
            ? ['owner-gc', 'csi-snapshotter', 'deckhouse-provisioner']
            : ['csi-snapshotter', 'deckhouse-provisioner'],
          configuration: { ...ANNOTATION, ...configuration },
          objects: [...usualObjects(), content()],
        });
        await story(scene);
        checkHistory(await scene.simulation());
      }),
    );

  inWorld(
    '1. the TTL is written on Ready, with the configured text',
    async ({ when, then }) => {
      await when.user.apply(request());
      expect(ttlOf(await then.object(ref))).toBeUndefined();
      await when.timePasses(seconds(2));
      expect(await readyOf(then, ref)).toBe('True Completed');
      expect(ttlOf(await then.object(ref))).toBe('90m');
    },
    { requestTTL: { mode: 'annotation', ttl: '90m' } },
  );

  inWorld('2. the TTL is written on Failed', async ({ when, then }) => {
    await when.user.apply(wrong());
    expect(await readyOf(then, ref)).toBe('False NotFound');
    expect(ttlOf(await then.object(ref))).toBe('10m');
  });

  inWorld('3. an existing TTL is not overwritten, and decides', async ({ when, then }) => {
    await when.user.apply(request(annotated('2h')));
    await when.timePasses(minutes(90));
    expect(await readyOf(then, ref)).toBe('True Completed');
    expect(ttlOf(await then.object(ref))).toBe('2h');
    await when.timePasses(minutes(31));
    await then.isGone(ref);
  });

  inWorld('4. without completion there is no TTL', async ({ given, when, then, simulation }) => {
    given.noDoubleRun('a status that no controller of ours would write');
    (await simulation()).crash();
    await when.user.apply({
      ...request(annotated('1s')),
      status: {
        conditions: [readyFor('True', 'X')],
      },
    } as KubeObject);
    await when.processRestarts();
    await when.timePasses(hours(5));
    await then.exists(ref);
  });

  inWorld(
    '5. an expired TTL deletes the request, from its very instant on',
    async ({ when, then, simulation }) => {
      await when.user.apply(wrong(annotated('5m')));
      await when.timePasses(seconds(299));
      await then.exists(ref);
      await when.timePasses(seconds(34));
      await then.isGone(ref);
      expect((await simulation()).writes().filter(({ verb }) => verb === 'delete')).toHaveLength(1);
    },
  );

  inWorld(
    '6. a TTL that has not expired is evaluated again after 30 to 66 seconds',
    async ({ when, simulation }) => {
      await when.user.apply(wrong());
      await when.timePasses(minutes(9));
      const { reconciles } = await simulation();
      const waits = reconciles.flatMap(({ outcome, now, controller }) =>
        controller === family && outcome.kind === 'waitUntil' ? [outcome.at - now] : [],
      );
      expect(waits.length).toBeGreaterThan(7);
      expect(Math.min(...waits)).toBeGreaterThanOrEqual(30_000);
      expect(Math.max(...waits)).toBeLessThanOrEqual(66_000);
      expect(new Set(waits).size).toBeGreaterThan(1);
    },
  );

  inWorld(
    '7. an invalid TTL: InvalidTTL, not deleted, not evaluated again, unchanged',
    async ({ when, then, simulation }) => {
      await when.user.apply(request(annotated('10minutes')));
      await when.timePasses(seconds(2));
      expect(await readyOf(then, ref)).toBe('False InvalidTTL');
      const before = await then.object<RequestObject>(ref);
      expect(before.status!.conditions![0]!.message).toBe(
        'Invalid TTL annotation format: 10minutes (error: time: unknown unit "minutes" in duration "10minutes")',
      );
      const reconciles = (await simulation()).reconciles.length;
      await when.timePasses(hours(50));
      expect(await then.object(ref)).toEqual(before);
      expect(
        (await simulation()).reconciles.slice(reconciles).filter(({ controller }) => controller === family),
      ).toEqual([]);
      await when.user.patch(ref, { metadata: { annotations: { [TTL]: '1m' } } });
      await then.isGone(ref);
    },
  );

  inWorld(
    '8. request TTL and retention TTL are independent of each other',
    async ({ when, then }) => {
      await when.user.apply(request());
      await when.timePasses(seconds(2));
      const { uid } = (await then.object(ref)).metadata;
      const keeper = `objectkeeper/${family === 'volume-capture' ? 'ret-snapshot' : 'ret-pvc'}-${uid}`;
      await when.timePasses(minutes(11));
      await then.isGone(ref);
      if (family === 'volume-restore') {
        await then.exists('pvc/restored');
        return;
      }
      await when.timePasses(hours(23));
      await then.exists(keeper);
      await then.exists(`vsc/snapshot-${uid}`);
      await when.timePasses(hours(1));
      await then.isGone(keeper);
      await then.isGone(`vsc/snapshot-${uid}`);
    },
    family === 'volume-capture' ? { retention: { mode: 'FollowObjectWithTTL', ttl: '24h' } } : {},
    true,
  );

  inWorld(
    'a request whose annotation was removed is not deleted, and the annotation stays removed',
    async ({ when, then }) => {
      await when.user.apply(wrong());
      expect(ttlOf(await then.object(ref))).toBe('10m');
      await when.user.patch(ref, { metadata: { annotations: { [TTL]: null } } });
      await when.timePasses(hours(1));
      expect(ttlOf(await then.object(ref))).toBeUndefined();
      await when.processRestarts();
      await when.timePasses(hours(1));
      expect(ttlOf(await then.object(ref))).toBeUndefined();
    },
  );

  inWorld(
    'a crash before the completion is written leaves the annotation to the next attempt',
    async (scene) => {
      const { when, then } = scene;
      when.serverAnswers('patch status', 500, { times: 3 });
      await when.user.apply(wrong());
      await when.processRestarts();
      await when.timePasses(seconds(30));
      expect(await readyOf(then, ref)).toBe('False NotFound');
      expect(ttlOf(await then.object(ref))).toBe('10m');
    },
  );

  inWorld(
    'a request that another controller marked as running has not completed',
    async ({ when, then, simulation }) => {
      (await simulation()).crash();
      await when.user.apply({
        ...wrong(annotated('5m')),
        status: {
          completionTimestamp: '2026-01-01T00:00:00Z',
          conditions: [readyFor('False', 'Running')],
        },
      } as KubeObject);
      await when.processRestarts();
      await when.timePasses(seconds(2));
      expect(await readyOf(then, ref)).toBe('False NotFound');
    },
  );
});

test('9. the same behaviour for both kinds: everything above runs for each of them', () => {
  expect(Object.keys(subjects)).toEqual(['VolumeCaptureRequest', 'VolumeRestoreRequest']);
});
