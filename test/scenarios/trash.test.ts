// Objects are saved before policies delete them.

import { hours, minutes, seconds } from '@lapse/base/instant';
import { describe, expect } from 'vitest';
import { run, ttlPolicy } from './pipelineRuns.ts';
import { messageOf, start } from './policyScenarios.ts';
import { scenario } from './scenario.ts';
import type { Scene } from './scene.ts';
import { chunkNames, savedNames, savedRecords } from './trashKit.ts';

const saving = (given: Scene['given'], trash: object = {}) => start(given, { trash });
const due = (...names: string[]) => [
  ttlPolicy('runs'),
  ...names.map((name) => run(name, { finished: seconds(0) })),
];

/** Verb and resource of each write of the process about runs and saved objects. */
const writesOf = ({ then }: Scene): string[] =>
  then
    .writes()
    .filter(({ resource }) => resource === 'secrets' || resource === 'pipelineruns')
    .map(({ verb, resource }) => `${verb} ${resource}`);

describe('an object that a policy deletes', () => {
  scenario('is saved completely before the DELETE', async (scene) => {
    const { given, when, then } = scene;
    saving(given);
    await given.object(due('a'));
    const before = await then.object('pipelinerun/a');
    await when.timePasses(minutes(10));
    await then.isGone('pipelinerun/a');
    expect(writesOf(scene)).toEqual(['create secrets', 'delete pipelineruns']);
    const { user } = await scene.simulation();
    const records = await savedRecords(user);
    expect(records).toEqual([
      expect.objectContaining({
        rule: 'TTLPolicy default/runs',
        reason: expect.stringContaining('TTLPolicy default/runs'),
        object: before,
      }),
    ]);
  });

  scenario('is held while it cannot be saved, and the policy says why', async (scene) => {
    const { given, when, then } = scene;
    saving(given);
    await given.object(due('a'));
    when.serverAnswers((request) => request.resource === 'secrets' && request.verb === 'create', 403, {
      times: 1000,
    });
    await when.timePasses(minutes(15));
    await then.exists('pipelinerun/a');
    expect(await messageOf(then, 'ttlpolicy/runs')).toContain('could not be saved in the trash');
    const reasons = (await then.events('ttlpolicy/runs')).map(({ reason }) => reason);
    expect(reasons).toEqual(['SaveFailed']);
    await when.faultsEnd();
    await when.timePasses(minutes(1));
    await then.isGone('pipelinerun/a');
    expect(await messageOf(then, 'ttlpolicy/runs')).not.toContain('trash');
  });

  scenario('is deleted all the same with onFailure: Delete', async (scene) => {
    const { given, when, then } = scene;
    saving(given, { onFailure: 'Delete' });
    await given.object(due('a'));
    when.serverAnswers((request) => request.resource === 'secrets' && request.verb === 'create', 403, {
      times: 1000,
    });
    await when.timePasses(minutes(10));
    await then.isGone('pipelinerun/a');
  });

  scenario('is not saved if its resource is excluded', async (scene) => {
    const { given, when, then } = scene;
    saving(given, { exclude: ['pipelineruns.tekton.dev'] });
    await given.object(due('a'));
    await when.timePasses(minutes(10));
    await then.isGone('pipelinerun/a');
    expect(await chunkNames((await scene.simulation()).user)).toEqual([]);
  });

  scenario('is saved again if it changes between the save and the DELETE', async (scene) => {
    const { given, when, then } = scene;
    saving(given);
    await given.object(due('a'));
    when.justBefore('DELETE', () =>
      when.user.patch('pipelinerun/a', { metadata: { labels: { new: 'yes' } } }),
    );
    await when.timePasses(minutes(10));
    await then.isGone('pipelinerun/a');
    const records = await savedRecords((await scene.simulation()).user);
    // Both were saved in the same instant, so their order is not defined.
    expect(new Set(records.map(({ object }) => object.metadata.labels?.new))).toEqual(
      new Set([undefined, 'yes']),
    );
    expect(records).toHaveLength(2);
  });

  scenario('is kept if its TTL is extended between the save and the DELETE', async (scene) => {
    const { given, when, then } = scene;
    saving(given);
    await given.object(due('a'));
    when.justBefore('DELETE', () =>
      when.user.patch('pipelinerun/a', { metadata: { annotations: { 'lapse.dev/ttl': 'never' } } }),
    );
    await when.timePasses(minutes(20));
    await then.exists('pipelinerun/a');
  });

  scenario('is deleted after a crash between the save and the DELETE', async (scene) => {
    const { given, when, then } = scene;
    saving(given);
    await given.object(due('a'));
    const simulation = await scene.simulation();
    when.serverAnswers('DELETE', { drop: 'before' }, { times: 1 });
    when.justBefore('DELETE', () => simulation.crash());
    await when.timePasses(minutes(10));
    await then.exists('pipelinerun/a');
    expect(await savedNames(simulation.user)).toEqual(['PipelineRun/a']);
    await simulation.restart();
    await when.timePasses(minutes(1));
    await then.isGone('pipelinerun/a');
    const ids = (await savedRecords(simulation.user)).map(({ metadata }) => metadata.name);
    expect(new Set(ids).size).toBe(1);
  });

  scenario('shares a chunk with others that are due at the same time', async (scene) => {
    const { given, when } = scene;
    saving(given);
    const names = Array.from({ length: 40 }, (_, i) => `r${i}`);
    await given.object(due(...names));
    await when.timePasses(minutes(10));
    const { user } = await scene.simulation();
    expect((await savedNames(user)).sort()).toEqual(names.map((name) => `PipelineRun/${name}`).sort());
    expect((await chunkNames(user)).length).toBeLessThanOrEqual(10);
  });
});

scenario('a thousand objects that are due together are saved with few requests', async (scene) => {
  const { given, when, then } = scene;
  start(given, { trash: {}, limits: { firstActivation: 0 } });
  const names = Array.from({ length: 1000 }, (_, i) => `r${i}`);
  await given.object(due(...names));
  await when.timePasses(minutes(9));
  const before = then.requests(() => true).length;
  await when.timePasses(minutes(1));
  const { user } = await scene.simulation();
  expect((await savedNames(user)).sort()).toEqual(names.map((name) => `PipelineRun/${name}`).sort());
  const requests = then
    .requests(() => true)
    .slice(before)
    .filter(({ resource }) => resource === 'secrets' || resource === 'pipelineruns');
  expect(requests.filter(({ verb }) => verb === 'delete')).toHaveLength(1000);
  expect(requests.length).toBeLessThanOrEqual(1050);
});

describe('chunks', () => {
  scenario('are removed when they are older than trash.keep', async (scene) => {
    const { given, when } = scene;
    saving(given, { keep: '2h' });
    await given.object(due('a'));
    const { user } = await scene.simulation();
    await when.timePasses(minutes(129));
    expect(await chunkNames(user)).toHaveLength(1);
    await when.timePasses(minutes(1));
    expect(await chunkNames(user)).toEqual([]);
  });

  scenario('are removed early, the oldest first, if they exceed trash.maxBytes', async (scene) => {
    const { given, when, then } = scene;
    saving(given, { maxBytes: '600' });
    await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
    await when.timePasses(minutes(10));
    const { user } = await scene.simulation();
    const [first] = await chunkNames(user);
    await given.object(run('b', { finished: hours(1) }));
    await given.object(run('c', { finished: hours(2) }));
    await when.timePasses(hours(4));
    const left = await savedNames(user);
    expect(left).toEqual(['PipelineRun/c']);
    const events = await then.events(`secret/${first}`);
    expect(events.map(({ reason }) => reason)).toEqual(['TrashFull']);
  });
});
