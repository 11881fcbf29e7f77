// The numbered rules of rules.test.ts about the TTL of requests.

import { hours, minutes, seconds } from '@lapse/base/instant';
import type { RequestObject } from 'lapse/api/storage/request';
import { describe, expect } from 'vitest';
import { requestScenario } from './invariants.ts';
import { capture, readyOf, snapshotClass, usualObjects, volumeWorld } from './kit.ts';
import { captured, REF, WHOLE } from './volumeRules.ts';

const rule = requestScenario;

describe('TTL by the controller', () => {
  rule('32. it counts from the completion, not from the creation', async ({ given, when, then }) => {
    const objects = [
      ...usualObjects().slice(1),
      // csi-snapshotter checks it 1, 3, 7, … 511 s after the first attempt.
      snapshotClass('snap', {}, { annotations: { 'simulation.lapse.dev/snapshot': '511s' } }),
    ];
    await volumeWorld(given, { ...WHOLE, simulatedControllers: ['csi-snapshotter'], objects });
    await when.user.apply(capture());
    await when.timePasses(seconds(511));
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
