// More of the numbered rules of rules.soak.ts: TTL, reads, permissions and errors.

import { hours, minutes, seconds } from '@lapse/base/instant';
import { rightsOf } from '@lapse/runtime/definition';
import type { ManifestCaptureRequest } from 'lapse/api/manifestCaptureRequest';
import { ManifestCheckpoint } from 'lapse/api/manifestCheckpoint';
import { manifestCaptureController } from 'lapse/controllers/manifest-capture/controller';
import { describe, expect, test } from 'vitest';
import { servicesForRights } from '../requests/built.ts';
import { requestScenario as rule } from '../requests/invariants.ts';
import { readyOf } from '../requests/kit.ts';
import { configMap, manifests, manifestWorld, REF, target } from './kit.ts';
import { captured, creates, MISSING, ONE_EACH, WHOLE } from './rulesKit.ts';

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
