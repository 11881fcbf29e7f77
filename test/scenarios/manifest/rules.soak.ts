// The pattern of fire-and-forget requests as numbered rules, for captures of manifests. Volumes have theirs in
// ../requests/rules.test.ts; the history of every test here is checked by ../requests/invariants.ts as well (rules 3, 11,
// 20, 22, 30, 56). Rule 19 is ../requests/words.test.ts, rule 54 compute.test.ts and reasons.test.ts.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import { rightsOf } from '@lapse/runtime/definition';
import type { Simulation } from '@lapse/simulation/simulate';
import type { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import { ManifestCheckpoint } from 'lapse/api/manifestCheckpoint';
import { ManifestCheckpointContentChunk } from 'lapse/api/manifestCheckpointContentChunk';
import { ObjectKeeper } from 'lapse/api/objectKeeper';
import { manifestCaptureController } from 'lapse/controllers/manifest-capture/controller';
import { describe, expect, test } from 'vitest';
import { servicesForRights } from '../requests/built.ts';
import { requestScenario as rule } from '../requests/invariants.ts';
import { readyOf } from '../requests/kit.ts';
import { askedText, expectNotReused } from '../requests/ruleScenarios.ts';
import type { Scene } from '../scene.ts';
import {
  checkpointOf,
  configMap,
  FAMILIES,
  manifests,
  manifestWorld,
  REF,
  target,
  type WorldOptions,
} from './kit.ts';

const WHOLE: WorldOptions = { families: FAMILIES };
const MISSING = [target('ConfigMap', 'none')];

const creates = (simulation: Simulation): Record<string, number> => {
  const count: Record<string, number> = {};
  for (const { verb, resource, status } of simulation.writes())
    if (verb === 'create' && status === 201) count[resource] = (count[resource] ?? 0) + 1;
  return count;
};
const ONE_EACH = { objectkeepers: 1, manifestcheckpoints: 1, manifestcheckpointcontentchunks: 1 };

async function captured(
  { given, when, then }: Scene,
  world: WorldOptions = {},
): Promise<ManifestCaptureRequest> {
  await manifestWorld(given, world);
  await when.user.apply(manifests());
  expect(await readyOf(then, REF)).toBe('True Completed');
  return then.object<ManifestCaptureRequest>(REF);
}
const keeperOf = ({ metadata }: ManifestCaptureRequest) => `objectkeeper/ret-mcr-${metadata.uid}`;

describe('fire and forget', () => {
  rule('1, 9. captured once, however often it is reconciled; a second run does nothing', async (scene) => {
    await captured(scene);
    for (let i = 0; i < 3; i++)
      await scene.when.user.patch(REF, { metadata: { labels: { look: String(i) } } });
    await scene.when.processRestarts();
    await scene.when.timePasses(minutes(9));
    expect(creates(await scene.simulation())).toEqual(ONE_EACH);
  });

  rule(
    '2, 48, 51. no retry after an error; a target that appears later does not restart it; a new request succeeds',
    async (scene) => {
      const { given, when, then, simulation } = scene;
      await manifestWorld(given);
      await when.user.apply(manifests('before', MISSING));
      expect(await readyOf(then, REF)).toBe('False NotFound');
      await when.user.apply(configMap('none'));
      await when.user.patch(REF, { metadata: { labels: { look: 'again' } } });
      await when.timePasses(minutes(6));
      expect(await readyOf(then, REF)).toBe('False NotFound');
      expect(creates(await simulation())).toEqual({});
      await when.user.delete(REF);
      await when.user.apply(manifests('before', MISSING));
      expect(await readyOf(then, REF)).toBe('True Completed');
    },
  );

  rule('3, 10, 12. pending, then Ready, and never back', async (scene) => {
    await captured(scene);
    const states = (await scene.simulation()).changes
      .filter(({ kind }) => kind === 'ManifestCaptureRequest')
      .map(({ after }) => (after as ManifestCaptureRequest).status?.conditions?.[0]?.status ?? 'pending');
    expect([...new Set(states)]).toEqual(['pending', 'True']);
  });

  rule(
    '4. a request is never reused: metadata edits change nothing, spec edits are refused',
    async (scene) => {
      await captured(scene);
      await expectNotReused(scene, REF, { targets: MISSING });
    },
  );

  rule(
    '5, 17. its writes: keeper, checkpoint, chunks, the two statuses, its annotation; then nothing',
    async (scene) => {
      await captured(scene);
      await scene.when.timePasses(hours(1));
      const writes = (await scene.simulation()).writes().map(askedText);
      expect(writes.filter((text) => !text.endsWith(' events'))).toEqual([
        'create objectkeepers',
        'create manifestcheckpoints',
        'create manifestcheckpointcontentchunks',
        'patch manifestcheckpoints/status',
        'patch manifestcapturerequests/status',
        'patch manifestcapturerequests',
      ]);
    },
  );

  rule('6, 13, 14. objects changed or deleted after completion are not repaired', async (scene) => {
    await captured(scene);
    const { when, then, simulation } = scene;
    const { metadata } = await checkpointOf(then);
    await when.user.delete(`mcpchunk/${metadata.name}-0`);
    await when.user.patch(`mcp/${metadata.name}`, { metadata: { annotations: { tampered: 'yes' } } });
    const writes = (await simulation()).writes().length;
    await when.processRestarts();
    await when.timePasses(minutes(6));
    await then.isGone(`mcpchunk/${metadata.name}-0`);
    expect((await simulation()).writes()).toHaveLength(writes);
  });

  rule('15, 16. a completed request causes no API request, and is unchanged by a restart', async (scene) => {
    const { metadata } = await captured(scene);
    const { when, then, simulation } = scene;
    await when.processRestarts();
    const asked = (await simulation()).requests.length;
    await when.user.patch(REF, { metadata: { labels: { a: 'b' } } });
    await when.user.patch(REF, { metadata: { labels: { a: null } } });
    expect((await simulation()).requests.slice(asked).filter(({ verb }) => verb !== 'watch')).toEqual([]);
    expect((await then.object(REF)).metadata.annotations).toEqual(metadata.annotations);
  });
});

describe('ownership', () => {
  rule(
    '21, 24, 25, 27. the keeper follows the request, and is read back before it owns anything',
    async (scene) => {
      const request = await captured(scene);
      const { then, simulation } = scene;
      const keeper = await then.object<ObjectKeeper>(keeperOf(request));
      const { name, namespace, uid } = request.metadata;
      expect(keeper.spec).toEqual({
        mode: 'FollowObject',
        followObjectRef: { apiVersion: request.apiVersion, kind: request.kind, name, namespace, uid },
      });
      const checkpoint = await checkpointOf(then);
      expect(checkpoint.metadata.ownerReferences).toEqual([
        expect.objectContaining({ kind: 'ObjectKeeper', uid: keeper.metadata.uid, controller: true }),
      ]);
      const chunk = await then.object(`mcpchunk/${checkpoint.metadata.name}-0`);
      expect(chunk.metadata.ownerReferences).toEqual([
        expect.objectContaining({
          kind: 'ManifestCheckpoint',
          uid: checkpoint.metadata.uid,
          controller: true,
        }),
      ]);
      const order = (await simulation()).requests
        .filter(
          ({ resource, verb }) =>
            resource.startsWith('objectkeepers') || (resource === 'manifestcheckpoints' && verb === 'create'),
        )
        .filter(({ verb }) => verb === 'get' || verb === 'create')
        .map(({ verb, resource }) => `${verb} ${resource}`);
      expect(order).toEqual(['create objectkeepers', 'get objectkeepers', 'create manifestcheckpoints']);
    },
  );

  rule(
    '23, 26. keeper, checkpoint and chunks are deleted with the request, and nothing else',
    async (scene) => {
      await captured(scene, WHOLE);
      const { when, then, simulation } = scene;
      await when.timePasses(minutes(9));
      await then.exists(REF);
      await when.user.delete(REF);
      await when.timePasses(seconds(5));
      for (const kind of [ObjectKeeper, ManifestCheckpoint, ManifestCheckpointContentChunk] as Kind[])
        expect((await (await simulation()).user.list(kind)).items).toEqual([]);
      await then.exists('configmap/a');
    },
  );

  rule(
    'with retention, the checkpoint outlives its request; an adopted checkpoint is kept',
    async (scene) => {
      const world = { ...WHOLE, configuration: { retention: { mode: 'FollowObjectWithTTL', ttl: '1h' } } };
      await captured(scene, world);
      const { when, then } = scene;
      const { metadata } = await checkpointOf(then);
      const owner = await then.object('configmap/a');
      const ownerReferences = [
        ...metadata.ownerReferences!,
        { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', uid: owner.metadata.uid! },
      ];
      await when.timePasses(minutes(20));
      await then.isGone(REF);
      await when.user.patch(`mcp/${metadata.name}`, { metadata: { ownerReferences } });
      await when.timePasses(hours(2));
      await then.exists(`mcp/${metadata.name}`);
      await then.exists(`mcpchunk/${metadata.name}-0`);
    },
  );

  rule(
    '28, 31. a failed read-back ends the attempt without a checkpoint; the next attempt continues',
    async ({ given, when, then, simulation }) => {
      await manifestWorld(given);
      // One attempt and its retry by the client.
      when.serverAnswers('get objectkeepers', 500, { times: 2 });
      await when.user.apply(manifests());
      expect(creates(await simulation())).toEqual({ objectkeepers: 1 });
      await when.timePasses(seconds(9));
      expect(await readyOf(then, REF)).toBe('True Completed');
      expect(creates(await simulation())).toEqual(ONE_EACH);
    },
  );

  rule('a stale keeper of an older request of this name is not changed', async (scene) => {
    const first = await captured(scene);
    const { when, then } = scene;
    await when.user.delete(REF);
    await when.user.apply(manifests());
    await when.timePasses(seconds(1));
    const second = await then.object<ManifestCaptureRequest>(REF);
    expect(await readyOf(then, REF)).toBe('True Completed');
    await then.exists(keeperOf(first));
    await then.exists(keeperOf(second));
    expect(second.status?.checkpointName).not.toBe(first.status?.checkpointName);
  });

  rule('52. a refused keeper fails the request, once', async ({ given, when, then, simulation }) => {
    await manifestWorld(given);
    when.serverAnswers('create objectkeepers', 403, { times: 99 });
    await when.user.apply(manifests());
    await when.timePasses(hours(1));
    expect(await readyOf(then, REF)).toBe('False RBACDenied');
    expect(
      (await simulation()).requests.filter(
        ({ verb, resource }) => verb === 'create' && resource === 'objectkeepers',
      ),
    ).toHaveLength(1);
  });

  rule(
    '26. a request deleted during the capture leaves nothing behind',
    async ({ given, when, then, simulation }) => {
      await manifestWorld(given, WHOLE);
      when.justBefore('create manifestcheckpointcontentchunks', () => when.user.delete(REF));
      await when.user.apply(manifests());
      await when.timePasses(minutes(10));
      await then.isGone(REF);
      for (const kind of [ObjectKeeper, ManifestCheckpoint, ManifestCheckpointContentChunk] as Kind[])
        expect((await (await simulation()).user.list(kind)).items).toEqual([]);
    },
  );
});

describe('time to live', () => {
  rule(
    '32, 33, 34. deleted ten minutes after completion, whatever the annotation says',
    async ({ given, when, then }) => {
      await manifestWorld(given, WHOLE);
      await when.user.apply(
        manifests('before', MISSING, { annotations: { 'state-snapshotter.deckhouse.io/ttl': '1s' } }),
      );
      await when.timePasses(seconds(599));
      const { metadata } = await then.object(REF);
      expect(metadata.annotations).toEqual({ 'state-snapshotter.deckhouse.io/ttl': '1s' });
      await when.timePasses(seconds(1));
      await then.isGone(REF);
    },
  );
  rule(
    '32. a capture that takes longer than its TTL is kept for the whole TTL after its completion',
    async ({ given, when, then, simulation }) => {
      await manifestWorld(given, { ...WHOLE, configuration: { requestTTL: { ttl: '1m' } } });
      // Admission reads from the server too, so the request is created while no process runs.
      (await simulation()).crash();
      await when.user.apply(manifests());
      const { metadata } = await then.object(REF);
      when.serverIsSlow(seconds(10));
      await when.processRestarts();
      await when.timePasses(seconds(150));
      await when.faultsEnd();
      const { status } = await then.object<ManifestCaptureRequest>(REF);
      expect(status?.conditions?.[0]?.reason).toBe('Completed');
      const took = Date.parse(status!.completionTimestamp!) - Date.parse(metadata.creationTimestamp!);
      expect(took).toBeGreaterThan(minutes(1));
      await when.timePasses(minutes(1));
      await then.isGone(REF);
    },
  );

  rule('the annotation has the configured text, and is set once', async (scene) => {
    const world = { ...WHOLE, configuration: { requestTTL: { ttl: '90m' } } };
    const { metadata } = await captured(scene, world);
    expect(metadata.annotations).toEqual({ 'state-snapshotter.deckhouse.io/ttl': '90m' });
    await scene.when.timePasses(minutes(89));
    await scene.then.exists(REF);
    await scene.when.timePasses(minutes(1));
    await scene.then.isGone(REF);
  });
  rule(
    '35. without request-ttl no controller deletes the request or schedules its deletion',
    async (scene) => {
      await captured(scene);
      await scene.when.timePasses(hours(9));
      await scene.when.processRestarts();
      await scene.then.exists(REF);
      expect((await scene.simulation()).reconciles.at(-1)!.outcome.kind).toBe('settled');
    },
  );
  rule('in the annotation mode, this controller deletes the request', async (scene) => {
    await captured(scene, {
      families: ['manifest-capture'],
      configuration: { requestTTL: { mode: 'annotation' } },
    });
    await scene.when.timePasses(minutes(11));
    await scene.then.isGone(REF);
  });
  rule(
    '55. a crash before the annotation: the next reconcile adds it, and nothing else',
    async ({ given, when, then, simulation }) => {
      await manifestWorld(given);
      when.serverAnswers(
        (request) =>
          request.verb === 'patch' &&
          request.resource === 'manifestcapturerequests' &&
          request.subresource === undefined,
        { hang: 'before' },
      );
      await when.user.apply(manifests());
      (await simulation()).crash();
      const before = await then.object<ManifestCaptureRequest>(REF);
      expect(before.metadata.annotations).toBeUndefined();
      await when.processRestarts();
      await when.timePasses(seconds(1));
      const after = await then.object<ManifestCaptureRequest>(REF);
      expect(after.metadata.annotations).toEqual({ 'state-snapshotter.deckhouse.io/ttl': '10m' });
      expect(after.status).toEqual(before.status);
    },
  );
});

describe('reads, rights and errors', () => {
  rule(
    '41–43. targets, checkpoints and chunks are read live, and are never listed or watched',
    async (scene) => {
      await captured(scene);
      const watched = new Set(
        (await scene.simulation()).requests
          .filter(({ verb }) => verb === 'list' || verb === 'watch')
          .map(({ resource }) => resource),
      );
      expect([...watched].sort()).toEqual(['manifestcapturerequests', 'objectkeepers']);
    },
  );

  test('42, 57. rights to chunks and statuses', () => {
    const families = servicesForRights();
    const rights = families.flatMap(({ name, controllers }) =>
      controllers.flatMap(rightsOf).map((right) => ({ ...right, name })),
    );
    const of = (resource: string) =>
      rights
        .filter((right) => right.resource === resource)
        .map(({ name, verbs }) => `${name}: ${verbs.join(' ')}`);
    expect(of('manifestcheckpointcontentchunks')).toEqual(['manifest-capture: create get']);
    expect(of('manifestcheckpoints')).toEqual(['manifest-capture: create get']);
    expect(of('manifestcheckpoints/status')).toEqual(['manifest-capture: patch']);
    expect(of('manifestcapturerequests/status')).toEqual(['manifest-capture: patch']);
    expect(rights.filter(({ name, resource }) => name === 'manifest-capture' && resource === '*')).toEqual(
      [],
    );
  });

  test('44, 45. no controller is built without its dependencies', () => {
    expect(() => manifestCaptureController({} as never)).toThrow('controller manifest-capture needs rules');
  });

  rule(
    'with the webhook: the author is signed, and what the author may read is captured',
    async ({ given, when, then }) => {
      const configuration = { actAs: 'author', capture: { authorization: 'Webhook' } };
      const place = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'lapse-system' } };
      await manifestWorld(given, { configuration, objects: [place, configMap('a'), configMap('b')] });
      await when.user.apply(manifests());
      expect(await readyOf(then, REF)).toBe('True Completed');
      const { metadata } = await then.object(REF);
      expect(Object.keys(metadata.annotations!)).toEqual([
        'lapse.dev/author',
        'state-snapshotter.deckhouse.io/ttl',
      ]);
      await expect(when.user.create(manifests('x', [target('Node', 'n')]))).rejects.toThrow(
        'it is in no namespace',
      );
    },
  );

  rule(
    '46. a request that exists only in a stale cache is not captured',
    async ({ given, when, simulation }) => {
      await manifestWorld(given);
      (await simulation()).crash();
      await when.user.apply(manifests());
      await when.processRestarts();
      expect(creates(await simulation())).toEqual(ONE_EACH);
    },
  );

  rule.each(
    {
      '47. a transport error is not final: reads': 'get configmaps',
      '47. a transport error is not final: chunks': 'create manifestcheckpointcontentchunks',
      '47. a transport error is not final: the checkpoint’s status': 'patch manifestcheckpoints/status',
    },
    async ({ given, when, then }, matcher) => {
      await manifestWorld(given);
      when.serverAnswers(matcher, 503, { times: 8 });
      await when.user.apply(manifests());
      expect(await readyOf(then, REF)).toBeUndefined();
      await when.timePasses(minutes(5));
      expect(await readyOf(then, REF)).toBe('True Completed');
    },
  );

  rule('50. a conflict on the status is retried', async ({ given, when, then, simulation }) => {
    await manifestWorld(given);
    when.justBefore('patch manifestcapturerequests/status', () =>
      when.user.patch(REF, { metadata: { labels: { x: 'y' } } }),
    );
    await when.user.apply(manifests());
    expect(await readyOf(then, REF)).toBe('True Completed');
    const reconciles = (await simulation()).reconciles.filter(
      ({ controller }) => controller === 'manifest-capture',
    );
    expect(reconciles[0]!.outcome.kind).toBe('settled');
  });

  rule(
    '53. objects created by a request with a lost answer are reused: no second checkpoint, no second chunk',
    async ({ given, when, then, simulation }) => {
      await manifestWorld(given);
      when.serverAnswers('create manifestcheckpoints', { drop: 'after' });
      when.serverAnswers('create manifestcheckpointcontentchunks', { drop: 'after' });
      await when.user.apply(manifests());
      await when.timePasses(minutes(1));
      expect(await readyOf(then, REF)).toBe('True Completed');
      const made = (await simulation()).changes.filter(
        ({ kind, before }) => /^ManifestCheckpoint/.test(kind) && before === undefined,
      );
      expect(made).toHaveLength(2);
    },
  );

  rule(
    'a checkpoint that another client deletes during the capture: Interrupted, and it is not created again',
    async ({ given, when, then, simulation }) => {
      await manifestWorld(given);
      when.justBefore('patch manifestcheckpoints/status', async () => {
        const { user, userClient } = await simulation();
        for (const { metadata } of (await user.list(ManifestCheckpoint)).items)
          await userClient.delete(`mcp/${metadata.name}`);
      });
      await when.user.apply(manifests());
      await when.timePasses(minutes(5));
      expect(await readyOf(then, REF)).toBe('False Interrupted');
      expect(creates(await simulation())).toEqual(ONE_EACH);
    },
  );

  rule(
    'a conflict on the checkpoint’s status is left to the next attempt, which continues',
    async ({ given, when, then, simulation }) => {
      await manifestWorld(given);
      when.serverAnswers('patch manifestcheckpoints/status', 409);
      await when.user.apply(manifests());
      await when.timePasses(minutes(1));
      expect(await readyOf(then, REF)).toBe('True Completed');
      expect(creates(await simulation())).toEqual(ONE_EACH);
    },
  );

  rule('two leaders: one checkpoint and one completion', async ({ given, when, then, simulation }) => {
    await manifestWorld(given);
    // Another process is one step ahead, and stops there.
    when.serverAnswers('create manifestcheckpoints', { duplicate: true });
    when.serverAnswers('create manifestcheckpointcontentchunks', { duplicate: true });
    await when.user.apply(manifests());
    await when.timePasses(minutes(1));
    expect(await readyOf(then, REF)).toBe('True Completed');
    expect((await (await simulation()).user.list(ManifestCheckpoint)).items).toHaveLength(1);
  });

  rule('a dry run reads everything and writes nothing', async ({ given, when, then, simulation }) => {
    given.noDoubleRun('a dry run stops at the keeper each time');
    await manifestWorld(given, { configuration: { dryRun: true } });
    await when.user.apply(manifests());
    expect(await readyOf(then, REF)).toBeUndefined();
    expect((await (await simulation()).user.list(ManifestCheckpoint)).items).toEqual([]);
    const [event] = await then.events('ManifestCaptureRequest/before');
    expect(event?.note).toBe('would capture 2 targets (dry run)');
  });
});

const VERBS = [
  'get manifestcheckpoints',
  'create manifestcheckpoints',
  'create manifestcheckpointcontentchunks',
  'patch manifestcheckpoints/status',
  'patch manifestcapturerequests/status',
  'patch manifestcapturerequests',
  'get objectkeepers',
  'create objectkeepers',
];
rule.each(
  Object.fromEntries(VERBS.map((verb) => [`403 on ${verb}: never hot, never Completed by halves`, verb])),
  async ({ given, when, simulation }, verb) => {
    given.noDoubleRun('what is forbidden is tried again by the double run, and should be');
    await manifestWorld(given, WHOLE);
    (await simulation()).faults.answer(verb, 403, { times: 1e9 });
    await when.user.apply(manifests());
    await when.timePasses(hours(1));
    const { requests, changes } = await simulation();
    const refused = requests.filter(({ status }) => status === 403);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.length, 'one per five minutes in the end').toBeLessThan(40);
    const said = (kind: string) =>
      changes.some(
        (change) =>
          change.kind === kind &&
          (change.after as ManifestCaptureRequest | undefined)?.status?.conditions?.[0]?.status === 'True',
      );
    if (said('ManifestCaptureRequest')) expect(said('ManifestCheckpoint')).toBe(true);
  },
);
