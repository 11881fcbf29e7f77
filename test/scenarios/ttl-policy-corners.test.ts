// Corner cases of policies: being deleted, led by another replica for a while, targeting Namespaces, refused late,
// without an answer.

import { hours, millis, minutes, seconds } from '@lapse/base/instant';
import { describe, expect } from 'vitest';
import { clusterTtlPolicy, namespace, run, ttlPolicy } from './pipelineRuns.ts';
import { deletes, start, statusOf } from './policyScenarios.ts';
import { scenario } from './scenario.ts';

const HELD = { finalizers: ['example.com/hold'] };

scenario(
  'a policy that is terminating, and kept by a finalizer, is ignored: others delete on time, without extra requests',
  async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([
      ttlPolicy('short', { ttl: '1m' }),
      ttlPolicy('leaving', { ttl: '100h' }, HELD),
      run('a', { finished: seconds(0) }),
      run('b', { finished: minutes(10) }),
    ]);
    await when.timePasses(minutes(5));
    await then.exists('pipelinerun/a');
    await when.user.delete('ttlpolicy/leaving');
    await when.timePasses(seconds(1));
    await then.isGone('pipelinerun/a');
    const before = (await scene.simulation()).reconciles.length;
    await when.timePasses(minutes(6));
    await then.isGone('pipelinerun/b');
    expect((await scene.simulation()).reconciles.length - before).toBeLessThan(20);
  },
);

scenario('deletions by another replica while it led stay counted', async ({ given, when, then }) => {
  start(given);
  await given.object([
    ttlPolicy('runs'),
    run('a', { finished: seconds(0) }),
    run('b', { finished: minutes(60) }),
  ]);
  await when.timePasses(minutes(20));
  expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ deleted: 1 });
  await when.leadershipIsLost();
  await when.user.status('ttlpolicy/runs', { ...(await statusOf(then, 'ttlpolicy/runs')), deleted: 500 });
  await when.leadershipReturns();
  await when.timePasses(hours(1));
  await then.isGone('pipelinerun/b');
  expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ deleted: 501 });
});

scenario('a replica that does not lead counts nothing as due', async (scene) => {
  const { given, when, then } = scene;
  start(given);
  await given.object([ttlPolicy('runs', { mode: 'DryRun' }), run('a', { finished: seconds(0) })]);
  const { registry } = await scene.simulation();
  const due = () => /^lapse_ttl_due\{kind="[^"]*[Pp]ipeline[^"]*"\} (\d+)$/m.exec(registry.text())?.[1];
  await when.timePasses(hours(2));
  expect(due()).toBe('1');
  await when.leadershipIsLost();
  // As in a replica that never led: its policies are inactive.
  expect(due()).toBeUndefined();
  await when.leadershipReturns();
  await then.exists('pipelinerun/a');
  expect(due()).toBe('1');
});

scenario(
  'a replica that did not lead counts no deletion of that time, neither as its own nor as competing',
  async (scene) => {
    const { given, when, then } = scene;
    start(given);
    await given.object([
      ttlPolicy('runs'),
      run('a', { finished: seconds(0) }),
      run('b', { finished: seconds(0) }),
    ]);
    const { registry } = await scene.simulation();
    const counted = () =>
      [
        ...registry
          .text()
          .matchAll(/^lapse_(?:ttl_deleted|ttl_competing_deletions|deletions)_total\{[^}]*\} (?!0$).*$/gm),
      ].map(([line]) => line);
    await when.timePasses(seconds(1));
    // The DELETEs do not reach the API server, so their result is unknown when the lease is lost.
    when.serverAnswers('DELETE', { drop: 'before' }, { times: 50 });
    await when.timePasses(minutes(10));
    const before = counted();
    expect([before, new Set(deletes(then))]).toEqual([[], new Set(['a', 'b'])]);
    await when.leadershipIsLost();
    await when.faultsEnd();
    await when.timePasses(seconds(10));
    // Another replica deletes both at their deadline; one of them is created again.
    await when.user.delete('pipelinerun/a');
    await when.user.delete('pipelinerun/b');
    await when.user.apply(run('a'));
    await when.timePasses(minutes(1));
    expect(counted()).toEqual(before);
    await when.leadershipReturns();
    await when.timePasses(minutes(5));
    await then.exists('pipelinerun/a');
    expect(counted()).toEqual(before);
    expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ matched: 1, deleted: 0 });
  },
);

describe('namespaces as targets', () => {
  const NAMESPACES = { target: { apiVersion: 'v1', kind: 'Namespace' }, from: 'Created', ttl: '1h' } as const;

  scenario('excluded namespaces are never deleted themselves', async ({ given, when, then }) => {
    start(given);
    await given.object([
      namespace('preview-1'),
      namespace('prod'),
      clusterTtlPolicy('previews', { ...NAMESPACES, excludedNamespaces: ['kube-*', 'default', 'prod'] }),
    ]);
    await when.timePasses(hours(2));
    expect(new Set(deletes(then))).toEqual(new Set(['preview-1']));
    await then.exists('namespace/prod');
  });

  scenario(
    'a namespace selector selects the namespaces themselves, also when the label is set later',
    async (scene) => {
      const { given, when, then } = scene;
      start(given);
      await given.object([
        namespace('preview-1', { tier: 'preview' }),
        namespace('prod', { tier: 'prod' }),
        clusterTtlPolicy('previews', {
          ...NAMESPACES,
          namespaceSelector: { matchLabels: { tier: 'preview' } },
        }),
      ]);
      await when.timePasses(hours(2));
      expect(new Set(deletes(then))).toEqual(new Set(['preview-1']));
      await when.user.patch('namespace/prod', { metadata: { labels: { tier: 'preview' } } });
      await when.timePasses(seconds(1));
      expect(new Set(deletes(then))).toEqual(new Set(['preview-1', 'prod']));
    },
  );
});

scenario('a refused dry run is reviewed and resumes, in every actAs mode', async ({ given, when, then }) => {
  start(given);
  await given.object(ttlPolicy('runs', { mode: 'DryRun', ttl: '0' }));
  await when.timePasses(minutes(1));
  // The refusal comes late: everything has been counted and written by then.
  when.serverAnswers('DELETE', 500, { times: 12 });
  when.serverAnswers('DELETE', 403, { times: 1 });
  await when.user.apply(run('a', { finished: minutes(1) }));
  await when.timePasses(minutes(20));
  expect((await then.events('pipelinerun/a')).map(({ reason }) => reason)).toEqual([
    'ReconcileFailing',
    'WouldDelete',
  ]);
  const { errors, conditions } = await statusOf(then, 'ttlpolicy/runs');
  expect([errors, conditions?.[0]?.message]).toEqual([
    0,
    'nothing is deleted; Events report what would be deleted',
  ]);
});

scenario(
  'a deletion is counted once even if every answer to a DELETE is lost',
  async ({ given, when, then }) => {
    start(given);
    await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
    await when.timePasses(seconds(1));
    when.serverAnswers('DELETE', { drop: 'after' }, { times: 3 });
    await when.timePasses(minutes(20));
    await then.isGone('pipelinerun/a');
    expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ matched: 0, deleted: 1 });
  },
);

describe('a DELETE that failed without a message (500)', () => {
  const unheard = { times: 8 };

  scenario(
    'and was not executed: relabelled out and in again, the object is deleted',
    async ({ given, when, then }) => {
      start(given);
      await given.object([
        ttlPolicy('runs', { selector: { matchLabels: { end: 'yes' } } }),
        run('a', { finished: seconds(0), labels: { end: 'yes' } }),
      ]);
      await when.timePasses(seconds(1));
      when.serverAnswers('DELETE', 500, unheard);
      await when.timePasses(seconds(599));
      await when.user.patch('pipelinerun/a', { metadata: { labels: { end: null } } });
      await when.timePasses(minutes(5));
      expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ matched: 0, deleted: 0 });
      expect(await then.events('pipelinerun/a')).toEqual([]);
      await when.user.patch('pipelinerun/a', { metadata: { labels: { end: 'yes' } } });
      await when.timePasses(minutes(1));
      await then.isGone('pipelinerun/a');
      expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ deleted: 1 });
    },
  );

  scenario(
    'and the policy is changed meanwhile: the object is deleted, and counted once',
    async ({ given, when, then }) => {
      start(given);
      await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
      await when.timePasses(seconds(1));
      when.serverAnswers('DELETE', 500, unheard);
      when.serverAnswers(
        ({ resource, verb }) => resource === 'pipelineruns' && verb === 'list',
        { delay: millis(300), when: 'before' },
        unheard,
      );
      await when.timePasses(seconds(599));
      await when.user.patch('ttlpolicy/runs', { spec: { ttl: '9m' } });
      await when.timePasses(minutes(5));
      await then.isGone('pipelinerun/a');
      expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ matched: 0, deleted: 1 });
    },
  );
});

describe('a status that cannot be written', () => {
  scenario.each(
    { 'because of missing rights': 403, 'for an unknown reason': 500, 'because it is invalid': 422 },
    async ({ given, when, then }, code) => {
      start(given);
      given.noDoubleRun('the status never comes to rest');
      await given.object(run('a', { finished: seconds(0) }));
      await when.timePasses(seconds(1));
      when.serverAnswers('PATCH', code, { times: 1_000_000 });
      await when.user.apply(ttlPolicy('runs', { ttl: '100h' }));
      await when.timePasses(hours(1));
      expect(then.requests('PATCH').length).toBeLessThan(170);
    },
  );

  scenario('a deadline at the end of time can be written to the status', async ({ given, when, then }) => {
    start(given);
    const status = { completionTime: '9999-12-31T23:59:59Z' };
    await given.object([ttlPolicy('runs', { ttl: '24h' }), { ...run('far'), status }]);
    await when.timePasses(hours(1));
    expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({
      matched: 1,
      nextExpiry: '9999-12-31T23:59:59Z',
    });
    expect(then.requests('PATCH').length).toBeLessThan(5);
  });
});

scenario('an edit of the limit itself does not allow more deletions', async ({ given, when, then }) => {
  start(given);
  await given.object(ttlPolicy('runs', { maxDeletionsPerMinute: 2 }));
  for (let i = 0; i < 20; i++) await given.object(run(`r${i}`, { finished: seconds(0) }));
  await when.timePasses(minutes(10));
  expect(deletes(then)).toHaveLength(2);
  for (const maxDeletionsPerMinute of [3, 2, 3, 2, 3]) {
    await when.user.patch('ttlpolicy/runs', { spec: { maxDeletionsPerMinute } });
    await when.timePasses(seconds(1));
  }
  expect(deletes(then)).toHaveLength(3);
  await when.timePasses(minutes(10));
  for (let i = 0; i < 20; i++) await then.isGone(`pipelinerun/r${i}`);
});

describe('without the right to get', () => {
  const GET = ({ resource, verb }: { resource: string; verb: string }) =>
    resource === 'pipelineruns' && verb === 'get';

  scenario('an object that changed in between is read and deleted', async ({ given, when, then }) => {
    start(given);
    await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
    await when.timePasses(seconds(1));
    when.serverAnswers(GET, 403, { times: 1000 });
    when.justBefore('DELETE', () => when.user.patch('pipelinerun/a', { metadata: { labels: { x: 'y' } } }));
    await when.timePasses(minutes(10));
    await then.isGone('pipelinerun/a');
    expect(deletes(then)).toEqual(['a', 'a']);
  });

  scenario('the object is read before the DELETE where that is configured', async ({ given, when, then }) => {
    start(given, { deletions: { paranoidReread: true } });
    await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
    await when.timePasses(seconds(1));
    when.serverAnswers(GET, 403, { times: 1000 });
    await when.timePasses(minutes(10));
    await then.isGone('pipelinerun/a');
  });
});
