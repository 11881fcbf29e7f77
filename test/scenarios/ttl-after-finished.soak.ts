// The same, large.

import { expect } from 'vitest';
import { Job } from '#api/kinds/builtin';
import { hours, millis, minutes } from '#base/instant';
import { finishedJob } from './kit.ts';
import { scenario } from './scenario.ts';

const MANY = 10_000;

scenario(`${MANY} due at one instant: one request each`, async ({ given, when, then, simulation }) => {
  given.controllers('ttl-after-finished');
  given.configuration({ ttlAfterFinished: { jobPropagation: 'Background' } });
  const names = Array.from({ length: MANY }, (_, i) => `report-${i}`);
  await given.object(names.map((name) => finishedJob(name, { ttl: minutes(10) })));
  await when.timePasses(minutes(10));
  const { items } = await (await simulation()).user.list(Job);
  expect([items.length, then.requests(({ verb }) => verb === 'delete').length]).toEqual([0, MANY]);
  expect(then.requests(({ verb, name }) => verb === 'get' && name !== undefined)).toEqual([]);
});

scenario(`${MANY} overdue at the start: the oldest deadline first, bounded at once`, async (scene) => {
  const { given, when, then, simulation } = scene;
  given.controllers('ttl-after-finished');
  given.configuration({ ttlAfterFinished: { jobPropagation: 'Background', concurrency: 8 } });
  await given.object(finishedJob('first', { ttl: hours(1000) }));
  (await simulation()).crash();
  // A permutation: 7919 is prime to 10,000.
  const ttls = Array.from({ length: MANY }, (_, i) => ((i * 7919) % MANY) + 1);
  await given.object(ttls.map((ttl) => finishedJob(`report-${ttl}`, { ttl: millis(ttl * 1000) })));
  await when.timePasses(hours(3));
  await when.processRestarts();
  await when.timePasses(millis(0));
  const deleted = then
    .requests(({ verb }) => verb === 'delete')
    .map(({ path }) => Number(path.split('-').at(-1)));
  expect(deleted).toHaveLength(MANY);
  // Eight at once may overtake each other by a few places, not more.
  const misplaced = deleted.filter((ttl, i) => Math.abs(ttl - (i + 1)) > 8);
  expect(misplaced).toEqual([]);
});
