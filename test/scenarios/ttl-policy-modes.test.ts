// Policies together with other policies and with per-object annotations.

import { hours, minutes, seconds } from '@lapse/base/instant';
import { describe, expect } from 'vitest';
import { finishedJob } from './kit.ts';
import { run, ttlPolicy } from './pipelineRuns.ts';
import { start, statusOf } from './policyScenarios.ts';
import { scenario } from './scenario.ts';
import { pod } from './ttl-after-finished-kit.ts';

describe('policies in DryRun and Paused have no effect on others', () => {
  scenario.each(
    {
      'a policy in DryRun with a longer TTL': 'DryRun',
      'a paused policy with a longer TTL': 'Paused',
    } as const,
    async (scene, mode) => {
      const { given, when, then } = scene;
      start(given);
      await given.object([
        ttlPolicy('enforced'),
        ttlPolicy('other', { ttl: '500h', mode }),
        run('a', { finished: seconds(0) }),
      ]);
      await when.timePasses(minutes(10));
      await then.isGone('pipelinerun/a');
    },
  );

  scenario('a dry run that cannot evaluate an object reports it and keeps nothing', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([
      ttlPolicy('enforced'),
      ttlPolicy('tried', { finishedAt: 'object.status.conditions', mode: 'DryRun' }),
      run('a', { finished: seconds(0) }),
    ]);
    await when.timePasses(minutes(9));
    expect(await statusOf(then, 'ttlpolicy/tried')).toMatchObject({ errors: 1 });
    expect(await statusOf(then, 'ttlpolicy/enforced')).toMatchObject({ errors: 0, waiting: 1 });
    await when.timePasses(minutes(1));
    await then.isGone('pipelinerun/a');
  });

  scenario('a dry run with an invalid spec does not hold other policies up', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([ttlPolicy('enforced', { ttl: '1m' }), run('a', { finished: seconds(0) })]);
    const simulation = await scene.simulation();
    simulation.crash();
    await simulation.apply(ttlPolicy('broken', { finishedAt: 'objekt.status', mode: 'DryRun' }));
    await simulation.restart();
    await when.timePasses(minutes(2));
    await then.isGone('pipelinerun/a');
  });

  scenario(
    'a dry run by age reports objects that an enforcing policy considers unfinished',
    async (scene) => {
      const { given, when, then } = scene;
      start(given);
      await given.object([
        ttlPolicy('enforced'),
        ttlPolicy('tried', { from: 'Created', ttl: '1h', mode: 'DryRun' }),
        run('a'),
      ]);
      await when.timePasses(hours(2));
      await then.exists('pipelinerun/a');
      expect((await then.events('pipelinerun/a')).map(({ reason }) => reason)).toEqual(['WouldDelete']);
      expect(await statusOf(then, 'ttlpolicy/enforced')).toMatchObject({ due: 0, deleted: 0 });
      expect(await statusOf(then, 'ttlpolicy/tried')).toMatchObject({ due: 1, deleted: 0 });
    },
  );
});

scenario(
  'a deadline by age applies although another policy considers the object unfinished',
  async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([ttlPolicy('finished'), ttlPolicy('old', { from: 'Created', ttl: '1h' }), run('a')]);
    await when.timePasses(minutes(59));
    await then.exists('pipelinerun/a');
    await when.timePasses(minutes(1));
    await then.isGone('pipelinerun/a');
  },
);

describe('what objects ask for themselves', () => {
  const target = { apiVersion: 'batch/v1', kind: 'Job' };

  scenario('a policy never deletes a Job before its own TTL', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    const plain = finishedJob('plain', { ttl: minutes(0) });
    await given.object([
      ttlPolicy('jobs', { target }),
      { ...plain, spec: { ...plain.spec, ttlSecondsAfterFinished: null } } as never,
      finishedJob('asks', { ttl: hours(1) }),
    ]);
    await when.timePasses(minutes(10));
    await then.isGone('job/plain');
    await when.timePasses(minutes(49));
    await then.exists('job/asks');
    await when.timePasses(minutes(1));
    await then.isGone('job/asks');
  });

  scenario('a policy on Pods keeps Pods of Jobs unless includeOwned is set', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    const ownerReferences = [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'x', controller: true }];
    await given.object([
      ttlPolicy('pods', { target: { apiVersion: 'v1', kind: 'Pod' }, from: 'Created', ttl: '1m' }),
      pod('free', '0', { metadata: { annotations: {} } }),
      pod('owned', '0', { metadata: { annotations: {}, ownerReferences } }),
    ]);
    await when.timePasses(hours(1));
    await then.isGone('pod/free');
    await then.exists('pod/owned');
    await when.user.patch('ttlpolicy/pods', { spec: { includeOwned: true } });
    await when.timePasses(seconds(1));
    await then.isGone('pod/owned');
  });
});
