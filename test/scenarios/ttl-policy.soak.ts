// Ten thousand objects of a policy: due at one instant, overdue at a start, and all extended at once.

import { millis, minutes, seconds } from '@lapse/base/instant';
import type { Fault } from '@lapse/simulation/faults';
import type { Simulation } from '@lapse/simulation/simulate';
import type { TTLPolicy } from 'lapse/api/ttlPolicy';
import { expect } from 'vitest';
import { PipelineRun, PipelineRunKind, run, ttlPolicy } from './pipelineRuns.ts';
import { breakWatches, forbidReading, loseDelete, refuseDelete } from './policyScenarios.ts';
import { scenario } from './scenario.ts';
import type { Given, Scene } from './scene.ts';

const COUNT = 10_000;

function begin(given: Given): void {
  given.controllers('ttl-policy');
  // These scenarios delete all objects at once on purpose.
  given.configuration({
    actAs: 'controller',
    ttlPolicy: { deletionEvents: false },
    limits: { firstActivation: 0 },
  });
  // The status is an ordinary field here: one write per object.
  const { status: _, ...version } = (PipelineRunKind.crd['spec'] as { versions: { status?: object }[] })
    .versions[0]!;
  const { subresources: __, ...plain } = version as { subresources?: object };
  const spec = { ...(PipelineRunKind.crd['spec'] as object), versions: [plain] };
  given.kinds({ ...PipelineRunKind, crd: { ...PipelineRunKind.crd, spec } });
}

async function create(simulation: Simulation): Promise<void> {
  for (let i = 0; i < COUNT; i++)
    await simulation.user.create(PipelineRun, run(`r${i}`, { finished: seconds(0) }));
  await simulation.settle();
}

const statusOf = async ({ then }: Scene) => (await then.object<TTLPolicy>('ttlpolicy/runs')).status;
const deletes = ({ then }: Scene) => then.requests('DELETE');

scenario('all due at one instant: one request each, at that instant', async (scene) => {
  const { given, when } = scene;
  begin(given);
  await given.object(ttlPolicy('runs', { finishedAt: 'object.status.completionTime' }));
  await create(await scene.simulation());
  await when.timePasses(seconds(10));
  expect(await statusOf(scene)).toMatchObject({ matched: COUNT, waiting: COUNT, due: 0 });
  await when.timePasses(millis(minutes(10) - seconds(10)));
  expect(deletes(scene)).toHaveLength(COUNT);
  expect(new Set(deletes(scene).map(({ at }) => at)).size).toBe(1);
  await when.timePasses(minutes(1));
  expect(await statusOf(scene)).toMatchObject({ matched: 0, deleted: COUNT });
});

scenario('all overdue at a start, within a budget', async (scene) => {
  const { given, when } = scene;
  begin(given);
  await given.object(ttlPolicy('runs', { mode: 'Paused' }));
  await create(await scene.simulation());
  await when.timePasses(minutes(20));
  expect(deletes(scene)).toEqual([]);
  await when.user.patch('ttlpolicy/runs', { spec: { mode: 'Enforce', maxDeletionsPerMinute: 2000 } });
  await when.timePasses(seconds(90));
  await when.processRestarts();
  await when.timePasses(minutes(10));
  expect(deletes(scene)).toHaveLength(COUNT);
  const times = deletes(scene).map(({ at }) => at);
  // Within one run of the process, deletions never exceed the budget in any minute.
  const restart = times[0]! + seconds(90);
  const later = times.filter((at) => at >= restart);
  for (let i = 2000; i < later.length; i++)
    expect(later[i]! - later[i - 2000]!).toBeGreaterThanOrEqual(60_000);
});

scenario('a longer TTL for all of them just before the deadline', async (scene) => {
  const { given, when } = scene;
  begin(given);
  await given.object(ttlPolicy('runs'));
  await create(await scene.simulation());
  await when.timePasses(millis(minutes(10) - 1));
  await when.user.patch('ttlpolicy/runs', { spec: { ttl: '20m' } });
  await when.timePasses(minutes(9));
  expect(deletes(scene)).toEqual([]);
  await when.timePasses(minutes(2));
  expect(deletes(scene)).toHaveLength(COUNT);
});

scenario.each(
  { 'watches end': 'end', 'watches are cut': 'cut', 'watches end with 410': 'gone' } as const,
  (scene, how) => breakWatches(scene, how),
);
scenario.each({ '409 by a webhook': 409, '429': 429, '500': 500, '503': 503 }, (scene, code) =>
  refuseDelete(scene, code),
);
scenario.each<Fault>(
  {
    'an answer that is lost': { drop: 'after' },
    'a request that is lost': { drop: 'before' },
    'no answer': { hang: 'after' },
    'a request that arrives twice': { duplicate: true },
  },
  (scene, fault) => loseDelete(scene, fault),
);
scenario.each({ 'listing is forbidden': 'list', 'watching is forbidden': 'watch' } as const, (scene, verb) =>
  forbidReading(scene, verb),
);
