import { minutes } from '@lapse/base/instant';
import { finishedJob } from './kit.ts';
import { scenario } from './scenario.ts';

scenario('keeps the Job when its TTL is extended at the last moment', async ({ given, when, then }) => {
  given.controllers('ttl-after-finished');
  given.simulatedControllers('owner-gc');
  await given.object(finishedJob('report', { ttl: minutes(10) }));
  when.justBefore('DELETE', () => when.user.patch('job/report', { spec: { ttlSecondsAfterFinished: 3600 } }));
  await when.timePasses(minutes(10));
  await then.exists('job/report');
  await when.timePasses(minutes(50));
  await then.isGone('job/report');
  then.timeline().toEqual(`
    +00:00  job/report    finished          ttl=10m
    +10:00  job/report    delete refused    conflict: changed since read
    +10:00  job/report    waiting           until +60:00 (ttl was extended)
    +60:00  job/report    deleted           lag=0s
  `);
});
