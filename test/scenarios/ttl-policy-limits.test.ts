// Limits of policies: the policy stops when the next deletion would exceed a limit, and stays stopped until an approval.

import { hours, minutes, seconds } from '@lapse/base/instant';
import { describe, expect } from 'vitest';
import { clusterTtlPolicy, run, ttlPolicy } from './pipelineRuns.ts';
import { deletes, messageOf, readyOf, start, statusOf } from './policyScenarios.ts';
import { scenario } from './scenario.ts';
import type { Scene } from './scene.ts';

const POLICY = 'ttlpolicy/runs';
const runs = (count: number, prefix = 'r', options: Parameters<typeof run>[1] = {}) =>
  Array.from({ length: count }, (_, i) => run(`${prefix}${i}`, { finished: seconds(0), ...options }));
const limited = (limits: object = { maxDeletions: 10, per: '1h' }) => ({ limits: { per: '1h', ...limits } });

const approve = ({ when }: Scene, generation: number, deletions: number, policy = POLICY) =>
  when.user.patch(policy, {
    metadata: { annotations: { 'lapse.dev/approved-deletions': JSON.stringify({ generation, deletions }) } },
  });

describe('a limit of deletions per window', () => {
  scenario('stops the policy at the limit, with the numbers and one Event', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([ttlPolicy('runs', limited()), ...runs(30)]);
    await when.timePasses(minutes(11));
    expect(deletes(then)).toHaveLength(10);
    expect(await readyOf(then, POLICY)).toBe('False LimitExceeded');
    expect(await messageOf(then, POLICY)).toContain(
      '10 deletions, spec.limits.maxDeletions allows 10 per 1h (since ',
    );
    expect(await messageOf(then, POLICY)).toContain('20 more objects are due');
    expect(await messageOf(then, POLICY)).toContain('lapse approve ttlpolicy/runs -n default');
    await when.timePasses(hours(5));
    expect(deletes(then)).toHaveLength(10);
    const events = (await then.events(POLICY)).filter(({ reason }) => reason === 'LimitExceeded');
    expect(events).toHaveLength(1);
    expect(events[0]?.series?.count ?? 1).toBe(1);
    expect(await statusOf(then, POLICY)).toMatchObject({
      limits: { state: 'Exceeded', exceeded: { limit: 'maxDeletions', allowed: 10, deletions: 10 } },
    });
  });

  scenario('stays stopped after a restart, a crash and a new leader', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([ttlPolicy('runs', limited()), ...runs(30)]);
    await when.timePasses(minutes(11));
    await when.processRestarts();
    await when.timePasses(hours(2));
    await when.processCrashes({ downFor: hours(3) });
    await when.timePasses(hours(2));
    await when.leadershipIsLost();
    await when.timePasses(minutes(1));
    await when.leadershipReturns();
    await when.timePasses(hours(2));
    expect(deletes(then)).toHaveLength(10);
    expect(await readyOf(then, POLICY)).toBe('False LimitExceeded');
  });

  scenario('deletions before a restart count in the window after it', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([ttlPolicy('runs', limited()), ...runs(6)]);
    await when.timePasses(minutes(11));
    expect(deletes(then)).toHaveLength(6);
    await when.processCrashes({ downFor: minutes(1) });
    await given.object(runs(10, 's'));
    await when.timePasses(minutes(11));
    expect(deletes(then)).toHaveLength(10);
    expect(await readyOf(then, POLICY)).toBe('False LimitExceeded');
  });

  scenario('a new window allows as many again', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([ttlPolicy('runs', limited()), ...runs(10), ...runs(10, 's', { finished: hours(2) })]);
    await when.timePasses(hours(3));
    expect(deletes(then)).toHaveLength(20);
    expect(await readyOf(then, POLICY)).toBe('True Enforcing');
  });

  scenario('a status that another client writes at the same time is not overwritten', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([ttlPolicy('runs', limited()), ...runs(30)]);
    await when.timePasses(minutes(9));
    when.justBefore('PATCH', () => when.user.patch(POLICY, { metadata: { labels: { x: 'y' } } }));
    await when.timePasses(minutes(5));
    expect(deletes(then)).toHaveLength(10);
  });

  scenario('while the status cannot be written, nothing is deleted', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([ttlPolicy('runs', limited()), ...runs(5)]);
    await when.timePasses(minutes(9));
    when.serverAnswers('PATCH', 500, { times: 1000 });
    await when.timePasses(minutes(3));
    expect(deletes(then)).toEqual([]);
    await when.faultsEnd();
    await when.timePasses(minutes(30));
    expect(deletes(then)).toHaveLength(5);
  });

  scenario('a DELETE without an answer is counted once', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([ttlPolicy('runs', limited({ maxDeletions: 2 })), ...runs(2)]);
    await when.timePasses(minutes(9));
    when.serverAnswers('DELETE', 500, { times: 4 });
    await when.timePasses(minutes(30));
    expect(await readyOf(then, POLICY)).toBe('True Enforcing');
    expect(await statusOf(then, POLICY)).toMatchObject({ matched: 0, deleted: 2 });
  });
});

describe('percent', () => {
  scenario('counts the objects that the policy selects when the window begins', async (scene) => {
    const { given, when, then } = scene;
    start(given);
    const spec = { limits: { maxPercent: 25, per: '1h' } };
    await given.object([ttlPolicy('runs', spec), ...runs(12), ...runs(28, 's', { finished: hours(90) })]);
    await when.timePasses(minutes(11));
    expect(deletes(then)).toHaveLength(10);
    expect(await messageOf(then, POLICY)).toContain('spec.limits.maxPercent allows 10 per 1h');
  });
});

describe('an approval', () => {
  const stopped = async (scene: Scene) => {
    const { given, when } = scene;
    start(given);
    await given.object([ttlPolicy('runs', limited()), ...runs(30)]);
    await when.timePasses(minutes(11));
  };

  scenario('lets the policy go on, and is recorded', async (scene) => {
    await stopped(scene);
    const { when, then } = scene;
    await approve(scene, 1, 20);
    await when.timePasses(minutes(1));
    expect(deletes(then)).toHaveLength(30);
    expect(await readyOf(then, POLICY)).toBe('True Enforcing');
    const { limits } = await statusOf(then, POLICY);
    expect(limits).toMatchObject({ approvals: [{ generation: 1, deletions: 20 }] });
    expect(limits).not.toHaveProperty('exceeded');
  });

  scenario('of fewer deletions than are due is void', async (scene) => {
    await stopped(scene);
    const { when, then } = scene;
    await approve(scene, 1, 19);
    await when.timePasses(hours(1));
    expect(deletes(then)).toHaveLength(10);
    expect(await messageOf(then, POLICY)).toContain('19 deletions are approved, but 20 objects are due');
  });

  scenario('of an earlier spec is void', async (scene) => {
    await stopped(scene);
    const { when, then } = scene;
    await when.user.patch(POLICY, { spec: { ttl: '9m' } });
    await approve(scene, 1, 1000);
    await when.timePasses(hours(1));
    expect(deletes(then)).toHaveLength(10);
    expect(await messageOf(then, POLICY)).toContain('generation 1 of the spec, which is 2 now');
    await approve(scene, 2, 1000);
    await when.timePasses(minutes(1));
    expect(deletes(then)).toHaveLength(30);
  });

  scenario('does not count after a change of the spec', async (scene) => {
    await stopped(scene);
    const { given, when, then } = scene;
    when.justBefore('DELETE', () => when.user.patch(POLICY, { spec: { ttl: '9m' } }));
    await approve(scene, 1, 1000);
    await when.timePasses(minutes(5));
    await given.object(runs(100, 's'));
    await when.timePasses(minutes(5));
    // The window of the limits and at most one block of the approval.
    expect(deletes(then).length).toBeLessThanOrEqual(10 + 20 + 10);
    expect(await readyOf(then, POLICY)).toBe('False LimitExceeded');
  });

  scenario('is accepted once: the next stop needs another one', async (scene) => {
    await stopped(scene);
    const { given, when, then } = scene;
    await approve(scene, 1, 20);
    await when.timePasses(minutes(2));
    await given.object(runs(15, 's'));
    await when.timePasses(minutes(15));
    expect(deletes(then)).toHaveLength(40);
    expect(await readyOf(then, POLICY)).toBe('False LimitExceeded');
  });
});

describe('the first activation', () => {
  const few = { limits: { firstActivation: 5 } };

  scenario('with more due objects than the limit starts stopped', async (scene) => {
    const { given, when, then } = scene;
    start(given, few);
    await given.object(runs(6));
    await when.timePasses(minutes(20));
    await given.object(ttlPolicy('runs', { mode: 'DryRun' }));
    await when.timePasses(minutes(1));
    expect(await statusOf(then, POLICY)).toMatchObject({ limits: { state: 'WouldExceed' } });
    expect(await readyOf(then, POLICY)).toBe('True DryRun');
    await when.user.patch(POLICY, { spec: { mode: 'Enforce' } });
    await when.timePasses(hours(1));
    expect(await statusOf(then, POLICY)).toMatchObject({ matched: 6, due: 6, deleted: 0 });
    expect(await readyOf(then, POLICY)).toBe('False LimitExceeded');
    expect(await messageOf(then, POLICY)).toContain('6 objects are due, and limits.firstActivation');
    await when.processRestarts();
    await when.timePasses(hours(1));
    await then.exists('pipelinerun/r0');
    await approve(scene, 2, 6);
    await when.timePasses(minutes(2));
    await then.isGone('pipelinerun/r0');
    expect(await statusOf(then, POLICY)).toMatchObject({ enforcedGeneration: 2, deleted: 6 });
  });

  scenario('within the limit deletes at once', async ({ given, when, then }) => {
    start(given, few);
    await given.object(runs(5));
    await when.timePasses(minutes(20));
    await given.object(ttlPolicy('runs'));
    await when.timePasses(seconds(3));
    expect(deletes(then)).toHaveLength(5);
  });

  scenario('counts due objects only', async ({ given, when, then }) => {
    start(given, few);
    await given.object([...runs(5), ...runs(20, 's', { finished: hours(50) })]);
    await when.timePasses(minutes(20));
    await given.object(ttlPolicy('runs'));
    await when.timePasses(minutes(1));
    expect(deletes(then)).toHaveLength(5);
    expect(await readyOf(then, POLICY)).toBe('True Enforcing');
  });

  scenario('is over when many objects become due later, also after downtime', async (scene) => {
    const { given, when, then } = scene;
    start(given, few);
    await given.object([ttlPolicy('runs'), ...runs(20)]);
    await when.timePasses(minutes(5));
    await when.processCrashes({ downFor: hours(5) });
    await when.timePasses(minutes(1));
    expect(deletes(then)).toHaveLength(20);
  });

  scenario('applies again when the spec changes', async ({ given, when, then }) => {
    start(given, few);
    await given.object([ttlPolicy('runs', { ttl: '100h' }), ...runs(20)]);
    await when.timePasses(hours(2));
    await when.user.patch(POLICY, { spec: { ttl: '1h' } });
    await when.timePasses(hours(1));
    expect(deletes(then)).toEqual([]);
    expect(await readyOf(then, POLICY)).toBe('False LimitExceeded');
  });
});

scenario('the limit of the configuration counts for every policy', async ({ given, when, then }) => {
  start(given, { limits: { maxDeletions: 3, per: '10m' } });
  await given.object([ttlPolicy('runs', limited()), ...runs(30)]);
  await when.timePasses(hours(2));
  expect(deletes(then)).toHaveLength(3);
  expect(await messageOf(then, POLICY)).toContain(
    'limits.maxDeletions of the configuration allows 3 per 10m',
  );
});

scenario('a DryRun policy is never stopped and counts nothing', async ({ given, when, then }) => {
  start(given);
  await given.object([ttlPolicy('runs', { ...limited({ maxDeletions: 1 }), mode: 'DryRun' }), ...runs(5)]);
  await when.timePasses(minutes(20));
  expect(await readyOf(then, POLICY)).toBe('True DryRun');
  expect(await statusOf(then, POLICY)).not.toHaveProperty('limits');
});

scenario(
  'of two policies, the one that acts counts the deletion; the other is not stopped',
  async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([
      ttlPolicy('runs', { ...limited({ maxDeletions: 2 }), ttl: '10m' }),
      clusterTtlPolicy('all', { ttl: '5m', ...limited({ maxDeletions: 1 }) }),
      ...runs(4),
    ]);
    await when.timePasses(minutes(20));
    expect(deletes(then)).toHaveLength(2);
    expect(await readyOf(then, POLICY)).toBe('False LimitExceeded');
    expect(await readyOf(then, 'clusterttlpolicy/all')).toBe('True Enforcing');
  },
);
