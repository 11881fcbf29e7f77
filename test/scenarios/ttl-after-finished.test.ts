// Finished Jobs, as users see them. The standard failure scenarios are in ttl-after-finished-standing.test.ts.

import { hours, millis, minutes } from '@lapse/base/instant';
import { expect } from 'vitest';
import { finishedJob, job } from './kit.ts';
import { scenario } from './scenario.ts';
import { JOBS } from './ttl-after-finished-kit.ts';

scenario('what a user sees from completion to deletion', async (scene) => {
  JOBS.begin(scene);
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

scenario('a dry run reports once what it would delete, and deletes nothing', async (scene) => {
  JOBS.begin(scene);
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

scenario('overdue Jobs are deleted in the order of their deadlines after a restart', async (scene) => {
  JOBS.begin(scene, { concurrency: 1 });
  const { given, when, then } = scene;
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
