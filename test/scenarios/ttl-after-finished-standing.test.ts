// The standard failure scenarios of every controller, with Jobs and with Pods.

import { hours, millis, minutes, seconds } from '@lapse/base/instant';
import type { Fault } from '@lapse/simulation/faults';
import type { Verb } from '@lapse/simulation/requestInfo';
import { describe, expect } from 'vitest';
import { at } from './kit.ts';
import { scenario, WATCH_ENDS } from './scenario.ts';
import type { Scene } from './scene.ts';
import { askedOf, countOf, type Ending, expectCounted, JOBS, PODS } from './ttl-after-finished-kit.ts';

const FOREVER = { times: Number.POSITIVE_INFINITY };

describe.each([
  ['Jobs', JOBS],
  ['Pods', PODS],
])('%s', (_name, kind) => {
  const { ref, finished, resource } = kind;

  scenario('a restart in the middle loses nothing', async (scene) => {
    kind.begin(scene);
    const { given, when, then } = scene;
    await given.object([finished('soon', { ttl: minutes(10) }), finished('later', { ttl: minutes(30) })]);
    await when.timePasses(minutes(5));
    await when.processRestarts();
    await when.timePasses(minutes(5));
    await then.isGone(ref('soon'));
    await when.processCrashes({ downFor: minutes(60) });
    await when.timePasses(millis(0));
    await then.isGone(ref('later'));
    expect(askedOf(scene, kind)).toEqual(['DELETE', 'DELETE']);
  });

  scenario.each(WATCH_ENDS, async (scene, how) => {
    kind.begin(scene);
    const { given, when, then } = scene;
    await given.object([finished('a', { ttl: minutes(10) }), finished('b', { ttl: minutes(10) })]);
    await when.timePasses(minutes(1));
    await when.watchesBreak(how);
    await when.user.patch(ref('a'), kind.ttl(minutes(2)));
    await when.user.delete(ref('b'));
    await when.timePasses(minutes(2));
    await then.isGone(ref('a'));
    await when.timePasses(minutes(20));
    expect(askedOf(scene, kind)).toEqual(['DELETE']);
    await expectCounted(scene, 1);
  });

  scenario(
    'reconciled on a stale cache after its own DELETE: neither deleted nor counted twice',
    async (scene) => {
      kind.begin(scene);
      const { given, when, then, simulation } = scene;
      await given.object(finished('report', { ttl: minutes(1) }));
      when.cachesAreStale();
      await when.timePasses(minutes(1));
      await then.isGone(ref('report'));
      const { reconciles } = await simulation();
      const before = reconciles.length;
      // A new leader reconciles everything. A key waits for its cache for at most ten seconds.
      await when.leadershipIsLost();
      await when.leadershipReturns();
      await when.timePasses(minutes(1));
      expect(reconciles.length).toBeGreaterThan(before);
      await when.cachesCatchUp();
      await when.timePasses(minutes(5));
      expect(askedOf(scene, kind)).toEqual(['DELETE']);
      await expectCounted(scene, 1);
    },
  );

  scenario('deleted and recreated under its name: the new object has its own TTL', async (scene) => {
    kind.begin(scene);
    const { given, when, then } = scene;
    await given.object(finished('report', { ttl: minutes(10) }));
    when.justBefore('DELETE', async () => {
      await when.user.delete(ref('report'), { propagation: 'Background' });
      await when.user.create(finished('report', { ttl: minutes(10), finishedAt: at(minutes(10)) }));
    });
    await when.timePasses(millis(minutes(20) - 1));
    await then.exists(ref('report'));
    await when.timePasses(millis(1));
    await then.isGone(ref('report'));
    await expectCounted(scene, 1);
  });

  scenario.each<({ when }: Scene) => Promise<void>>(
    {
      'its metadata changes while the DELETE is on its way': ({ when }) =>
        when.user.patch(ref('report'), { metadata: { labels: { touched: 'yes' } } }),
      'its status changes while the DELETE is on its way': ({ when }) =>
        when.user.status(ref('report'), kind.restatus),
    },
    async (scene, change) => {
      kind.begin(scene);
      const { given, when, then } = scene;
      await given.object(finished('report', { ttl: minutes(10) }));
      when.justBefore('DELETE', () => change(scene));
      await when.timePasses(minutes(10));
      await then.isGone(ref('report'));
      expect(askedOf(scene, kind)).toEqual(['DELETE', 'GET', 'DELETE']);
      await expectCounted(scene, 1);
    },
  );

  scenario('opted out while the DELETE is on its way', async (scene) => {
    kind.begin(scene);
    const { given, when, then } = scene;
    await given.object(finished('report', { ttl: minutes(10) }));
    const never = { metadata: { annotations: { 'lapse.dev/ttl': 'never' } } };
    when.justBefore('DELETE', () => when.user.patch(ref('report'), never));
    await when.timePasses(hours(100));
    await then.exists(ref('report'));
    expect(askedOf(scene, kind)).toEqual(['DELETE', 'GET']);
    await expectCounted(scene, 0);
  });

  scenario.each(
    {
      'a clock that is set an hour ahead causes no early deletion': hours(1),
      'a clock that is set an hour back only delays until it is detected': hours(-1),
    },
    async (scene, by) => {
      kind.begin(scene);
      const { given, when, then } = scene;
      await given.object(finished('report', { ttl: minutes(10) }));
      await when.timePasses(minutes(1));
      await when.clockJumps(by);
      await when.timePasses(millis(minutes(9) - seconds(2)));
      await then.exists(ref('report'));
      await when.clockJumps(millis(-by));
      await when.timePasses(minutes(2));
      await then.isGone(ref('report'));
    },
  );

  scenario('leadership lost while waiting: nothing is deleted until it is won again', async (scene) => {
    kind.begin(scene);
    const { given, when, then } = scene;
    await given.object(finished('report', { ttl: minutes(1) }));
    await when.leadershipIsLost();
    await when.timePasses(minutes(10));
    await then.exists(ref('report'));
    expect(askedOf(scene, kind)).toEqual([]);
    await when.leadershipReturns();
    await then.isGone(ref('report'));
  });

  scenario('60 due at one instant: one request each', async (scene) => {
    kind.begin(scene);
    const { given, when } = scene;
    const names = Array.from({ length: 60 }, (_, i) => `report-${i}`);
    await given.object(names.map((name) => finished(name, { ttl: minutes(10) })));
    await when.timePasses(minutes(10));
    expect(await countOf(scene, kind)).toBe(0);
    expect(askedOf(scene, kind)).toEqual(names.map(() => 'DELETE'));
    await expectCounted(scene, 60);
  });

  scenario.each<Fault>(
    {
      'a DELETE that never arrived': { drop: 'before' },
      'a DELETE that was executed, and the answer lost': { drop: 'after' },
      'a DELETE that hangs and never arrived': { hang: 'before' },
      'a DELETE that hangs and was executed': { hang: 'after' },
      'a DELETE that arrives twice': { duplicate: true },
      'a DELETE that takes a minute': { delay: minutes(1), when: 'before' },
      'no connection': { unreachable: true },
    },
    async (scene, fault) => {
      kind.begin(scene);
      const { given, when, then } = scene;
      await given.object([finished('report', { ttl: minutes(1) }), finished('other', { ttl: minutes(9) })]);
      when.serverAnswers('DELETE', fault);
      await when.timePasses(minutes(5));
      await then.isGone(ref('report'));
      await then.exists(ref('other'));
      expect(askedOf(scene, kind).filter((method) => method === 'DELETE').length).toBeLessThanOrEqual(3);
      await expectCounted(scene, 1);
    },
  );

  /** After the first minutes a refused request is retried every two and a half to five minutes. */
  const RARELY = { least: 12, most: 24 };

  scenario.each<{ refused: Verb; asks: Verb[]; ends: boolean }>(
    {
      'forbidden to list: no object is known, and no other request is sent': {
        refused: 'list',
        asks: ['list'],
        ends: false,
      },
      'forbidden to watch: listed objects are deleted': {
        refused: 'watch',
        asks: ['list', 'watch'],
        ends: true,
      },
      'forbidden to get: needed only after a conflict': {
        refused: 'get',
        asks: ['delete', 'get'],
        ends: false,
      },
      'forbidden to delete': { refused: 'delete', asks: ['delete'], ends: false },
    },
    async (scene, { refused, asks, ends }) => {
      kind.begin(scene);
      const { given, when, then } = scene;
      await given.object(finished('report', { ttl: minutes(10) }));
      when.serverAnswers(`${refused} ${resource}`, 403, FOREVER);
      if (refused === 'get') whoeverDeletesIsLate(scene, kind);
      await when.processRestarts();
      await when.timePasses(hours(1));
      const askedBefore = countVerbs(scene, kind);
      await when.timePasses(hours(1));
      const asked = countVerbs(scene, kind);
      const inAnHour = Object.keys(asked).filter((verb) => asked[verb] !== (askedBefore[verb] ?? 0));
      expect(inAnHour.sort()).toEqual(asks);
      for (const verb of asks) {
        const times = asked[verb]! - (askedBefore[verb] ?? 0);
        expect(times).toBeGreaterThanOrEqual(RARELY.least);
        expect(times).toBeLessThanOrEqual(RARELY.most);
      }
      await (ends ? then.isGone(ref('report')) : then.exists(ref('report')));
      await when.faultsEnd();
      await when.user.apply(finished('other', { ttl: minutes(1), finishedAt: at(hours(2)) }));
      await when.timePasses(minutes(10));
      await then.isGone(ref('report'));
      await then.isGone(ref('other'));
      await expectCounted(scene, 2);
    },
  );
});

/** Another client writes to the object whenever a DELETE is on its way. */
function whoeverDeletesIsLate({ when, now }: Scene, { ref, resource }: Ending): void {
  const touch = () => when.user.patch(ref('report'), { metadata: { labels: { touched: String(now()) } } });
  when.justBefore(`delete ${resource}`, touch, FOREVER);
}

/** The number of requests of the process for this kind, by verb. */
function countVerbs({ then }: Scene, { resource }: Ending): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { verb } of then.requests((seen) => seen.resource === resource))
    counts[verb] = (counts[verb] ?? 0) + 1;
  return counts;
}
