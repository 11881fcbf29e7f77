// Deletions by a policy that the API server refuses: a webhook protects one object, or rights were revoked.

import { minutes, seconds } from '@lapse/base/instant';
import { describe, expect } from 'vitest';
import { clusterTtlPolicy, run, ttlPolicy } from './pipelineRuns.ts';
import { deletes, readyOf, start, statusOf } from './policyScenarios.ts';
import { scenario } from './scenario.ts';
import type { When } from './scene.ts';

const OTHERS = Array.from({ length: 12 }, (_, i) => `r${i}`);

const protect = (when: When, code: number) =>
  when.serverAnswers(({ verb, path }) => verb === 'delete' && path.endsWith('/protected'), code, {
    times: 1000,
  });

describe('one object that a webhook protects', () => {
  scenario('the other objects are deleted all the same', async ({ given, when, then }) => {
    start(given, { ttlPolicy: { concurrency: 2 } });
    await given.object([
      ttlPolicy('runs'),
      run('protected', { finished: seconds(0) }),
      ...OTHERS.map((name) => run(name, { finished: seconds(1) })),
    ]);
    protect(when, 403);
    // The rights are reviewed once after the first refusal. The policy does not stop again.
    await when.timePasses(minutes(11));
    for (const name of OTHERS) await then.isGone(`pipelinerun/${name}`);
    await then.exists('pipelinerun/protected');
    expect(await readyOf(then, 'ttlpolicy/runs')).toBe('True Enforcing');
  });

  scenario.each(
    {
      'Forbidden: reported on the object, retried rarely, deleted when allowed': 403,
      'Invalid: reported on the object, retried rarely, deleted when allowed': 422,
    },
    async ({ given, when, then }, code) => {
      start(given);
      await given.object([ttlPolicy('runs'), run('protected', { finished: seconds(0) })]);
      protect(when, code);
      await when.timePasses(minutes(50));
      const told = (await then.events('pipelinerun/protected')).map(({ reason }) => reason);
      expect(told).toEqual(code === 403 ? ['Forbidden', 'ReconcileFailing'] : ['ReconcileFailing']);
      expect(deletes(then).length).toBeLessThan(80);
      expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ due: 1, deleted: 0 });
      await when.faultsEnd();
      await when.timePasses(minutes(6));
      await then.isGone('pipelinerun/protected');
    },
  );
});

scenario(
  'an object that another policy may match but cannot read waits for it, and the status says so',
  async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([ttlPolicy('runs', { ttl: '1m' }), run('a', { finished: seconds(0) })]);
    await when.timePasses(seconds(1));
    when.serverAnswers(({ resource, verb }) => resource === 'pipelineruns' && verb === 'list', 500, {
      times: 10_000,
    });
    await when.user.apply(ttlPolicy('other', { ttl: '2m', selector: { matchLabels: { keep: 'yes' } } }));
    await when.timePasses(minutes(10));
    await then.exists('pipelinerun/a');
    expect(await readyOf(then, 'ttlpolicy/other')).toBe('False CannotRead');
    const { conditions } = await statusOf(then, 'ttlpolicy/runs');
    expect(conditions?.[0]?.message).toMatch(
      /default\/a: waits for TTLPolicy default\/other, which cannot read what it selects/,
    );
    await when.faultsEnd();
    await when.timePasses(minutes(2));
    await then.isGone('pipelinerun/a');
  },
);

scenario('refused reviews of rights are reported, without frequent retries', async (scene) => {
  const { given, when, then } = scene;
  start(given);
  await given.object([ttlPolicy('runs', { ttl: '1m' }), run('a', { finished: seconds(0) })]);
  await when.timePasses(seconds(1));
  const simulation = await scene.simulation();
  simulation.crash();
  await simulation.apply(ttlPolicy('other', { ttl: '2m', serviceAccountName: 'cleanup' }));
  when.serverAnswers(({ resource }) => resource === 'subjectaccessreviews', 403, { times: 10_000 });
  await simulation.restart();
  const [reconciles, requests] = [simulation.reconciles.length, then.requests().length];
  await when.timePasses(minutes(10));
  // It is unknown whether the other policy may keep the object, so the object is kept.
  await then.exists('pipelinerun/a');
  expect(await readyOf(then, 'ttlpolicy/other')).toBe('False NotPermitted');
  const { conditions } = await statusOf(then, 'ttlpolicy/runs');
  expect(conditions?.[0]?.message).toMatch(/default\/a: waits for TTLPolicy default\/other, which cannot/);
  expect(simulation.reconciles.length - reconciles).toBeLessThan(120);
  expect(then.requests().length - requests).toBeLessThan(120);
  await when.faultsEnd();
  await when.timePasses(minutes(2));
  await then.isGone('pipelinerun/a');
});

scenario(
  'a policy that may no longer watch holds new objects, and objects of which it has an old copy',
  async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([
      ttlPolicy('short', { ttl: '5m' }),
      clusterTtlPolicy('long', { ttl: '1000h' }),
      run('old', { finished: seconds(0) }),
    ]);
    await when.timePasses(seconds(10));
    const isWide = ({ resource, path, verb }: { resource?: string; path: string; verb: string }) =>
      resource === 'pipelineruns' && !path.includes('/namespaces/') && ['list', 'watch'].includes(verb);
    when.serverAnswers(isWide, 403, { times: 10_000 });
    await when.watchesBreak('gone');
    await when.user.apply(run('new', { finished: seconds(10) }));
    await when.user.patch('pipelinerun/old', { metadata: { annotations: { 'lapse.dev/ttl': '1h' } } });
    await when.timePasses(minutes(6));
    const simulation = await scene.simulation();
    const reconciles = simulation.reconciles.length;
    await when.timePasses(minutes(10));
    await then.exists('pipelinerun/new');
    await then.exists('pipelinerun/old');
    expect(deletes(then)).toEqual([]);
    expect(await readyOf(then, 'clusterttlpolicy/long')).toBe('False CannotRead');
    const { errors, conditions } = await statusOf(then, 'ttlpolicy/short');
    expect(conditions?.[0]?.message).toMatch(/waits for ClusterTTLPolicy long, which cannot read/);
    expect(errors).toBe(2);
    expect(simulation.reconciles.length - reconciles).toBeLessThan(120);
  },
);
