// Jobs that end: the standing scenarios every controller must survive, and those that are its own.

import { expect } from 'vitest';
import { Job } from '#api/kinds/builtin';
import { hours, millis, minutes, seconds } from '#base/instant';
import type { Fault } from '#sim/faults';
import { at, finishedJob, job } from './kit.ts';
import { scenario, WATCH_ENDS } from './scenario.ts';
import type { Scene } from './words.ts';

const BACKGROUND = { ttlAfterFinished: { jobPropagation: 'Background' } };
const NEVER = { metadata: { annotations: { 'lapse.dev/ttl': 'never' } } };

function begin({ given }: Scene): void {
  given.controllers('ttl-after-finished');
  given.configuration(BACKGROUND);
}

/** What of the process's requests went to single Jobs. */
const asked = ({ then }: Scene) =>
  then
    .requests(({ resource, name }) => resource === 'jobs' && name !== undefined)
    .map(({ method }) => method);

scenario('what a person sees from the finish to the end', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  await given.object(finishedJob('report', { ttl: minutes(10) }));
  await when.timePasses(minutes(5));
  await when.user.patch('job/report', { spec: { ttlSecondsAfterFinished: 1200 } });
  await when.timePasses(minutes(30));
  await then.isGone('job/report');
  then.timeline().toEqual(`
    +00:00  job/report    finished          ttl=10m
    +05:00  job/report    waiting           until +20:00 (ttl was extended)
    +20:00  job/report    deleted           lag=0s
  `);
});

scenario('a restart in the middle loses nothing', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  await given.object([finishedJob('soon', { ttl: minutes(10) }), finishedJob('later', { ttl: minutes(30) })]);
  await when.timePasses(minutes(5));
  await when.processRestarts();
  await when.timePasses(minutes(5));
  await then.isGone('job/soon');
  await when.processCrashes({ downFor: minutes(60) });
  await when.timePasses(millis(0));
  await then.isGone('job/later');
  expect(asked(scene)).toEqual(['DELETE', 'DELETE']);
});

scenario.each(WATCH_ENDS, async (scene, how) => {
  begin(scene);
  const { given, when, then } = scene;
  await given.object([finishedJob('a', { ttl: minutes(10) }), finishedJob('b', { ttl: minutes(10) })]);
  await when.timePasses(minutes(1));
  await when.watchesBreak(how);
  await when.user.patch('job/a', { spec: { ttlSecondsAfterFinished: 120 } });
  await when.user.delete('job/b');
  await when.timePasses(minutes(2));
  await then.isGone('job/a');
  await when.timePasses(minutes(20));
  expect(asked(scene)).toEqual(['DELETE']);
});

scenario('with a stale cache after our own delete it is not deleted twice', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  await given.object(finishedJob('report', { ttl: minutes(1) }));
  when.cachesAreStale();
  await when.timePasses(minutes(1));
  await then.isGone('job/report');
  expect(asked(scene)).toEqual(['DELETE']);
  await when.timePasses(seconds(5));
  await when.cachesCatchUp();
  await when.timePasses(minutes(5));
  expect(asked(scene)).toEqual(['DELETE']);
});

scenario('deleted and made again under its name: the newcomer has a TTL of its own', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  await given.object(finishedJob('report', { ttl: minutes(10) }));
  when.justBefore('DELETE', async () => {
    await when.user.delete('job/report', { propagation: 'Background' });
    await when.user.create(finishedJob('report', { ttl: minutes(10), finishedAt: at(minutes(10)) }));
  });
  await when.timePasses(millis(minutes(20) - 1));
  await then.exists('job/report');
  await when.timePasses(millis(1));
  await then.isGone('job/report');
});

scenario('opted out between the decision and the DELETE', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  await given.object(finishedJob('report', { ttl: minutes(10) }));
  when.justBefore('DELETE', () => when.user.patch('job/report', NEVER));
  await when.timePasses(hours(100));
  await then.exists('job/report');
  expect(asked(scene)).toEqual(['DELETE', 'GET']);
});

scenario.each(
  {
    'a clock that is put an hour ahead does not delete early': hours(1),
    'a clock that is put an hour back only delays until it is noticed': hours(-1),
  },
  async (scene, by) => {
    begin(scene);
    const { given, when, then } = scene;
    await given.object(finishedJob('report', { ttl: minutes(10) }));
    await when.timePasses(minutes(1));
    await when.clockJumps(by);
    await when.timePasses(millis(minutes(9) - seconds(2)));
    await then.exists('job/report');
    await when.clockJumps(millis(-by));
    await when.timePasses(minutes(2));
    await then.isGone('job/report');
  },
);

scenario('leadership lost while waiting: nothing is deleted until it is won again', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  await given.object(finishedJob('report', { ttl: minutes(1) }));
  await when.leadershipIsLost();
  await when.timePasses(minutes(10));
  await then.exists('job/report');
  await when.leadershipReturns();
  await then.isGone('job/report');
});

scenario.each({ list: 403, watch: 403 }, async (scene, code) => {
  begin(scene);
  const { given, when, then } = scene;
  await given.object(job('report'));
  await when.processRestarts();
  when.serverAnswers(({ verb, resource }) => ['list', 'watch'].includes(verb) && resource === 'jobs', code, {
    times: 1e9,
  });
  await when.watchesBreak('gone');
  const before = then.requests().length;
  await when.timePasses(hours(1));
  expect(then.requests().length - before).toBeLessThan(120);
  await when.faultsEnd();
  await when.user.apply(finishedJob('other', { ttl: minutes(1), finishedAt: at(hours(1)) }));
  await when.timePasses(minutes(10));
  await then.isGone('job/other');
});

scenario('a dry run says what it would do, once, and does nothing', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  given.configuration({ dryRun: true });
  await given.object(finishedJob('report', { ttl: minutes(10) }));
  await when.timePasses(hours(10));
  await then.exists('job/report');
  const events = await then.events('job/report');
  expect(events.map(({ reason, note }) => `${reason}: ${note}`)).toEqual([
    'WouldDelete: would have been deleted, 0.0 s after its deadline (dry run)',
  ]);
  await when.user.patch('job/report', { spec: { ttlSecondsAfterFinished: 86_400 } });
  await when.timePasses(hours(20));
  expect(await then.events('job/report')).toHaveLength(2);
});

scenario('overdue Jobs go in the order of their deadlines after a restart', async (scene) => {
  begin(scene);
  const { given, when, then } = scene;
  given.configuration({ ttlAfterFinished: { jobPropagation: 'Background', concurrency: 1 } });
  const order = [7, 2, 9, 4, 1, 8, 3, 6, 5];
  await given.object(job('first'));
  (await scene.simulation()).crash();
  for (const i of order) await given.object(finishedJob(`report-${i}`, { ttl: minutes(i) }));
  await when.timePasses(hours(1));
  await when.processRestarts();
  await when.timePasses(millis(0));
  const deleted = then.requests(({ verb }) => verb === 'delete').map(({ path }) => path.split('-').at(-1));
  expect(deleted).toEqual(['1', '2', '3', '4', '5', '6', '7', '8', '9']);
});

scenario('60 due at one instant: one request each', async (scene) => {
  begin(scene);
  const { given, when, then, simulation } = scene;
  const names = Array.from({ length: 60 }, (_, i) => `report-${i}`);
  await given.object(names.map((name) => finishedJob(name, { ttl: minutes(10) })));
  await when.timePasses(minutes(10));
  const { items } = await (await simulation()).user.list(Job);
  expect([items.length, asked(scene).length]).toEqual([0, 60]);
  expect(then.requests(({ verb }) => verb === 'delete').every(({ status }) => status === 200)).toBe(true);
});

scenario.each<Fault>(
  {
    'a DELETE that never arrived': { drop: 'before' },
    'a DELETE that was carried out, and the answer lost': { drop: 'after' },
    'a DELETE that hangs and never arrived': { hang: 'before' },
    'a DELETE that hangs and was carried out': { hang: 'after' },
    'a DELETE that arrives twice': { duplicate: true },
    'a DELETE that takes a minute': { delay: minutes(1), when: 'before' },
    'no connection': { unreachable: true },
  },
  async (scene, fault) => {
    begin(scene);
    const { given, when, then } = scene;
    await given.object([
      finishedJob('report', { ttl: minutes(1) }),
      finishedJob('other', { ttl: minutes(9) }),
    ]);
    when.serverAnswers('DELETE', fault);
    await when.timePasses(minutes(5));
    await then.isGone('job/report');
    await then.exists('job/other');
    expect(asked(scene).filter((method) => method === 'DELETE').length).toBeLessThanOrEqual(3);
  },
);
