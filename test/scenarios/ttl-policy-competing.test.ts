// Several policies for one kind: a policy that may keep an object longer is evaluated before the object is deleted,
// also if its watch is behind, its rights cannot be reviewed, or its kind was created a moment ago.

import { hours, millis, minutes, seconds } from '@lapse/base/instant';
import type { Fault } from '@lapse/simulation/faults';
import { describe, expect } from 'vitest';
import { PipelineRunKind, run, ttlPolicy } from './pipelineRuns.ts';
import { deletes, readyOf, start, statusOf } from './policyScenarios.ts';
import { scenario } from './scenario.ts';

const KEEP = { selector: { matchLabels: { keep: 'yes' } } };
const label = { metadata: { labels: { keep: 'yes' } } };

describe('an object is labelled so that a policy that keeps it longer matches, whose watch', () => {
  scenario.each<Fault | number>(
    {
      'is slow': { delay: millis(10_000), when: 'before' },
      'is refused for a while': 500,
      hangs: { hang: 'before' },
    },
    async (scene, fault) => {
      const { given, when, then } = scene;
      start(given);
      await given.object([
        ttlPolicy('short'),
        ttlPolicy('long', { ttl: '5h', ...KEEP }),
        run('a', { finished: seconds(0) }),
        run('b', { finished: seconds(0) }),
      ]);
      await when.timePasses(seconds(590));
      when.serverAnswers(
        ({ resource, query }) => resource === 'pipelineruns' && query.includes('labelSelector'),
        fault,
        { times: 1000 },
      );
      await when.watchesBreak('end');
      await when.timePasses(seconds(5));
      await when.user.patch('pipelinerun/a', label);
      const before = (await scene.simulation()).reconciles.length;
      await when.timePasses(seconds(60));
      // No other policy matches the other object. An object that waits for a watch does not poll all the time.
      expect(deletes(then)).toEqual(['b']);
      expect((await scene.simulation()).reconciles.length - before).toBeLessThan(60);
      await when.faultsEnd();
      await when.timePasses(hours(4));
      await then.exists('pipelinerun/a');
      await when.timePasses(hours(1));
      await then.isGone('pipelinerun/a');
    },
  );
});

describe('a kind that comes later', () => {
  scenario(
    'no object is deleted before every policy for it has read its targets',
    async ({ given, when, then }) => {
      given.controllers('ttl-policy');
      given.configuration({ actAs: 'controller' });
      const target = { apiVersion: 'v1', kind: 'ConfigMap' };
      await given.object(ttlPolicy('other', { target }));
      await when.timePasses(minutes(3));
      // Discovery is refreshed now, for the last time before the CRD is created.
      await when.user.apply(
        ttlPolicy('nobody', { target: { apiVersion: 'example.com/v1', kind: 'Nobody' } }),
      );
      await when.user.apply(PipelineRunKind.crd);
      await when.user.apply(run('a', { finished: seconds(0), labels: { keep: 'yes' } }));
      await when.user.apply(ttlPolicy('short', { ttl: '0' }));
      await when.user.apply(ttlPolicy('long', { ttl: '5h', ...KEEP }));
      await when.timePasses(seconds(10));
      expect(await readyOf(then, 'ttlpolicy/long')).toBe('True Enforcing');
      await when.timePasses(hours(4));
      await then.exists('pipelinerun/a');
      await when.timePasses(hours(1));
      await then.isGone('pipelinerun/a');
    },
  );

  scenario(
    'a policy that names an unserved version holds the objects it may match, and the others report it',
    async ({ given, when, then }) => {
      start(given);
      await given.object([
        ttlPolicy('short', { ttl: '1m' }),
        ttlPolicy('old', { ttl: '5h', target: { apiVersion: 'tekton.dev/v1beta1', kind: 'PipelineRun' } }),
        run('a', { finished: seconds(0) }),
      ]);
      await when.timePasses(hours(6));
      await then.exists('pipelinerun/a');
      expect(await readyOf(then, 'ttlpolicy/old')).toBe('False KindNotServed');
      const { conditions } = await statusOf(then, 'ttlpolicy/short');
      expect(conditions?.[0]?.message).toMatch(/waits for TTLPolicy default\/old/);
      await when.user.delete('ttlpolicy/old');
      await when.timePasses(seconds(1));
      await then.isGone('pipelinerun/a');
    },
  );

  scenario(
    'twenty policies that wait for a kind share their discovery requests',
    async ({ given, when, then }) => {
      given.controllers('ttl-policy');
      given.configuration({ actAs: 'controller' });
      await given.object(Array.from({ length: 20 }, (_, i) => ttlPolicy(`p${i}`)));
      await when.timePasses(minutes(5));
      const before = then.requests().length;
      await when.timePasses(hours(1));
      expect(then.requests().length - before).toBeLessThan(200);
    },
  );
});

scenario(
  'a policy whose rights cannot be reviewed holds the objects it may match, without frequent retries',
  async (scene) => {
    const { given, when, then } = scene;
    start(given);
    const names = Array.from({ length: 20 }, (_, i) => `r${i}`);
    await given.object([
      ttlPolicy('runs', { ttl: '1m' }),
      ...names.map((name) => run(name, { finished: seconds(0) })),
    ]);
    await when.timePasses(seconds(1));
    const simulation = await scene.simulation();
    simulation.crash();
    await simulation.apply(ttlPolicy('other', { ttl: '2m', serviceAccountName: 'cleanup' }));
    when.serverAnswers(({ resource }) => resource === 'subjectaccessreviews', 500, { times: 100_000 });
    await simulation.restart();
    await when.timePasses(minutes(2));
    const before = simulation.reconciles.length;
    await when.timePasses(minutes(10));
    expect(simulation.reconciles.length - before).toBeLessThan(600);
    expect(deletes(then)).toEqual([]);
    const { conditions } = await statusOf(then, 'ttlpolicy/runs');
    expect(conditions?.[0]?.message).toMatch(/waits for TTLPolicy default\/other/);
    await when.faultsEnd();
    await when.timePasses(minutes(2));
    for (const name of names) await then.isGone(`pipelinerun/${name}`);
  },
);
