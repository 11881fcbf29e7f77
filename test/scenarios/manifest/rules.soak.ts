// The pattern of fire-and-forget requests as numbered rules, for captures of manifests. Volumes have theirs in
// ../requests/rules.test.ts; the history of every test here is checked by ../requests/invariants.ts as well (rules 3, 11,
// 20, 22, 30, 56). Rule 19 is ../requests/words.test.ts, rule 54 compute.test.ts and reasons.test.ts.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import { ManifestCheckpoint } from 'lapse/api/manifestCheckpoint';
import { ManifestCheckpointContentChunk } from 'lapse/api/manifestCheckpointContentChunk';
import { ObjectKeeper } from 'lapse/api/objectKeeper';
import { describe, expect } from 'vitest';
import { requestScenario as rule } from '../requests/invariants.ts';
import { readyOf } from '../requests/kit.ts';
import { askedText, expectNotReused } from '../requests/ruleScenarios.ts';
import { checkpointOf, configMap, manifests, manifestWorld, REF } from './kit.ts';
import { captured, creates, MISSING, ONE_EACH, WHOLE } from './rulesKit.ts';

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
