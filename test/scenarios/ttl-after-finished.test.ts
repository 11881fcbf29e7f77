// Jobs that end: the standing scenarios every controller must survive, and those that are its own.

import { expect } from 'vitest';
import { Job } from '#api/kinds/builtin';
import { hours, millis, minutes, seconds } from '#base/instant';
import { standinsNamed } from '#standins/standins';
import { at, finishedJob, finishedStatus, job } from './kit.ts';
import { scenario } from './scenario.ts';
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

scenario("upstream's 10. a negative TTL is refused", async (scene) => {
  begin(scene);
  const made = job('report', { ttl: seconds(-1) });
  await expect(scene.given.object(made)).rejects.toThrow('must be greater than or equal to 0');
});

scenario("upstream's 11. a negative TTL in a CronJob's template is refused", async (scene) => {
  begin(scene);
  const cronJob = {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { name: 'nightly' },
    spec: { schedule: '0 0 * * *', jobTemplate: { spec: { ...job('x').spec, ttlSecondsAfterFinished: -1 } } },
  };
  await expect(scene.given.object(cronJob)).rejects.toThrow('must be greater than or equal to 0');
});

scenario("upstream's 12. the TTL of an existing Job may be changed", async (scene) => {
  begin(scene);
  await scene.given.object(job('report', { ttl: seconds(60) }));
  await scene.when.user.patch('job/report', { spec: { ttlSecondsAfterFinished: 5 } });
  expect((await scene.then.object<Job>('job/report')).spec?.ttlSecondsAfterFinished).toBe(5);
});

scenario(
  "upstream's 13. an indexed, suspended Job with TTL 0 is created as it is, and stays",
  async (scene) => {
    begin(scene);
    const made = job('report');
    const spec = {
      ...made.spec,
      completionMode: 'Indexed',
      completions: 2,
      parallelism: 2,
      suspend: true,
      ttlSecondsAfterFinished: 0,
    };
    await scene.given.object({ ...made, spec });
    await scene.when.timePasses(hours(24));
    expect((await scene.then.object<Job>('job/report')).spec).toMatchObject({
      suspend: true,
      ttlSecondsAfterFinished: 0,
      completionMode: 'Indexed',
    });
  },
);

scenario.each({ 'it completes': 'Complete', 'it fails': 'Failed' } as const, async (scene, result) => {
  const { given, when, then } = scene;
  given.controllers('ttl-after-finished');
  given.standins(...standinsNamed(['owner-gc']));
  await given.object(job('report', { ttl: seconds(10), finalizers: ['example.com/dummy'] }));
  const { uid } = (await then.object('job/report')).metadata;
  const owner = {
    apiVersion: 'batch/v1',
    kind: 'Job',
    name: 'report',
    uid,
    controller: true,
    blockOwnerDeletion: true,
  };
  await given.object({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'report-x', ownerReferences: [owner as never] },
    spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
  });
  await when.timePasses(minutes(3));
  await when.user.status('job/report', finishedStatus({ result, finishedAt: at(minutes(3)) }));
  await when.timePasses(millis(9999));
  expect((await then.object('job/report')).metadata.deletionTimestamp).toBeUndefined();
  await when.timePasses(millis(1));
  await then.isTerminating('job/report');
  await then.isGone('pod/report-x');
  await when.user.patch('job/report', { metadata: { finalizers: null } });
  await then.isGone('job/report');
  expect(asked(scene)).toEqual(['DELETE']);
});

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

scenario.each(
  {
    'watches end': 'end',
    'watches are cut in the middle of a line': 'cut',
    'watches end with 410': 'gone',
  } as const,
  async (scene, how) => {
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
  },
);

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

scenario('300 due at one instant: one request each', async (scene) => {
  begin(scene);
  const { given, when, then, simulation } = scene;
  const names = Array.from({ length: 300 }, (_, i) => `report-${i}`);
  await given.object(names.map((name) => finishedJob(name, { ttl: minutes(10) })));
  await when.timePasses(minutes(10));
  const { items } = await (await simulation()).user.list(Job);
  expect([items.length, asked(scene).length]).toEqual([0, 300]);
  expect(then.requests(({ verb }) => verb === 'delete').every(({ status }) => status === 200)).toBe(true);
});
