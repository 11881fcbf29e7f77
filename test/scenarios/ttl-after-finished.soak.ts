// The scenarios of ttl-after-finished with many objects.

import { hours, millis, minutes } from '@lapse/base/instant';
import { expect } from 'vitest';
import { finishedJob } from './kit.ts';
import { scenario } from './scenario.ts';
import { askedOf, countOf, type Ending, expectCounted, JOBS, PODS } from './ttl-after-finished-kit.ts';

const MANY = 10_000;

scenario.each<Ending>(
  {
    [`${MANY} Jobs due at one instant: one request each`]: JOBS,
    [`${MANY} Pods due at one instant: one request each`]: PODS,
  },
  async (scene, kind) => {
    kind.begin(scene);
    const { given, when } = scene;
    const names = Array.from({ length: MANY }, (_, i) => `report-${i}`);
    await given.object(names.map((name) => kind.finished(name, { ttl: minutes(10) })));
    await when.timePasses(minutes(10));
    expect(await countOf(scene, kind)).toBe(0);
    expect(askedOf(scene, kind)).toEqual(names.map(() => 'DELETE'));
    await expectCounted(scene, MANY);
  },
);

scenario(
  `${MANY} overdue at the start: deleted by deadline, oldest first, with limited concurrency`,
  async (scene) => {
    const { given, when, then, simulation } = scene;
    JOBS.begin(scene, { concurrency: 8 });
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
    // With eight workers, keys may overtake each other by a few places only.
    const misplaced = deleted.filter((ttl, i) => Math.abs(ttl - (i + 1)) > 8);
    expect(misplaced).toEqual([]);
  },
);
