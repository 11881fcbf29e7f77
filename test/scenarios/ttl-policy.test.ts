// Policies for PipelineRuns, run on the virtual clock: the fields of a policy.

import { hours, type Millis, minutes, seconds } from '@lapse/base/instant';
import { describe, expect } from 'vitest';
import { clusterTtlPolicy, run, runStatus, ttlPolicy } from './pipelineRuns.ts';
import { deletes, readyOf, start, statusOf } from './policyScenarios.ts';
import { scenario } from './scenario.ts';

const days = (n: number) => hours(24 * n);

describe('the ordinary case', () => {
  scenario(
    'a finished run is deleted on time with one request; a running one is kept',
    async ({ given, when, then }) => {
      start(given);
      await given.object([ttlPolicy('runs'), run('done', { finished: seconds(0) }), run('running')]);
      await when.timePasses((minutes(10) - 1) as never);
      await then.exists('pipelinerun/done');
      await when.timePasses(1 as never);
      await then.isGone('pipelinerun/done');
      await then.exists('pipelinerun/running');
      expect(deletes(then)).toEqual(['done']);
      await when.timePasses(minutes(1));
      expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({
        matched: 1,
        waiting: 0,
        due: 0,
        deleted: 1,
        errors: 0,
        observedGeneration: 1,
      });
      expect(await readyOf(then, 'ttlpolicy/runs')).toBe('True Enforcing');
      const [event] = await then.events('pipelinerun/done');
      expect(event).toMatchObject({
        reason: 'Deleted',
        note: expect.stringMatching(
          /^TTLPolicy default\/runs: finished .*TTL 10m0s .*deleted 0.0 s after its deadline by TTLPolicy default\/runs$/,
        ),
      });
    },
  );
});

describe('the fields of a policy', () => {
  scenario('different TTLs by outcome', async ({ given, when, then }) => {
    start(given);
    const succeeded = 'object.status.conditions.exists(c, c.type == "Succeeded" && c.status == "True")';
    await given.object([
      ttlPolicy('runs', { succeeded, ttlAfter: { succeeded: '1h', failed: '72h' } }),
      run('good', { finished: seconds(0) }),
      run('bad', { finished: seconds(0), succeeded: false }),
    ]);
    await when.timePasses(hours(1));
    await then.isGone('pipelinerun/good');
    await when.timePasses(hours(70));
    await then.exists('pipelinerun/bad');
    await when.timePasses(hours(1));
    await then.isGone('pipelinerun/bad');
  });

  scenario(
    'an expression that fails keeps the object, and the status names it',
    async ({ given, when, then }) => {
      start(given);
      await given.object([
        ttlPolicy('runs', { finishedAt: 'object.status.when.text' }),
        { ...run('odd'), status: { when: { text: 5 } } },
        { ...run('even'), status: { when: { text: runStatus().completionTime } } },
      ]);
      await when.timePasses(hours(1));
      await then.exists('pipelinerun/odd');
      await then.isGone('pipelinerun/even');
      const status = await statusOf(then, 'ttlpolicy/runs');
      expect(status).toMatchObject({ matched: 1, errors: 1, deleted: 1 });
      expect(status.conditions?.[0]?.message).toMatch(
        /1 cannot be judged and are kept, e.g. default\/odd: spec.finishedAt: a value of type number is not a time/,
      );
    },
  );

  scenario('unfinished, then finished: the TTL starts at the finish', async ({ given, when, then }) => {
    start(given);
    await given.object([ttlPolicy('runs', { finishedAt: 'object.status.completionTime' }), run('r')]);
    await when.timePasses(hours(5));
    await when.user.status('pipelinerun/r', runStatus(hours(5)));
    await when.timePasses((minutes(10) - 1) as Millis);
    await then.exists('pipelinerun/r');
    await when.timePasses(1 as Millis);
    await then.isGone('pipelinerun/r');
  });

  scenario(
    'annotations change the deadline if the policy allows it, and never always wins',
    async ({ given, when, then }) => {
      start(given);
      await given.object([
        ttlPolicy('runs', { allowOverrides: true }),
        run('plain', { finished: seconds(0) }),
        run('short', { finished: seconds(0), annotations: { 'lapse.dev/ttl': '1m' } }),
        run('long', { finished: seconds(0) }),
        run('never', { finished: seconds(0), annotations: { 'lapse.dev/ttl': 'never' } }),
        run('typo', { finished: seconds(0), annotations: { 'lapse.dev/ttl': 'forever' } }),
      ]);
      await when.timePasses(minutes(1));
      await then.isGone('pipelinerun/short');
      await when.user.patch('pipelinerun/long', { metadata: { annotations: { 'lapse.dev/ttl': '30m' } } });
      await when.timePasses(minutes(9));
      await then.isGone('pipelinerun/plain');
      await then.exists('pipelinerun/long');
      await when.timePasses(minutes(20));
      await then.isGone('pipelinerun/long');
      await when.timePasses(days(400));
      await then.exists('pipelinerun/never');
      await then.exists('pipelinerun/typo');
      expect((await then.events('pipelinerun/typo')).map(({ reason }) => reason)).toEqual(['InvalidTTL']);
    },
  );

  scenario('two policies: the longer wins, until it is deleted', async ({ given, when, then }) => {
    start(given);
    await given.object([
      ttlPolicy('short', { ttl: '10m' }),
      clusterTtlPolicy('long', { ttl: '5h', selector: { matchLabels: { keep: 'yes' } } }),
      run('a', { finished: seconds(0) }),
      run('b', { finished: seconds(0), labels: { keep: 'yes' } }),
      run('c', { finished: seconds(0), labels: { keep: 'yes' } }),
    ]);
    await when.timePasses(minutes(10));
    await then.isGone('pipelinerun/a');
    await then.exists('pipelinerun/b');
    await when.user.patch('pipelinerun/b', { metadata: { labels: { keep: null } } });
    await then.isGone('pipelinerun/b');
    await when.timePasses(minutes(50));
    await then.exists('pipelinerun/c');
    await when.user.delete('clusterttlpolicy/long');
    await when.timePasses(seconds(3));
    await then.isGone('pipelinerun/c');
    const [event] = await then.events('pipelinerun/a');
    expect(event?.note).toMatch(/by TTLPolicy default\/short/);
  });

  scenario(
    'a longer TTL, then a shorter one: each takes effect when it is written',
    async ({ given, when, then }) => {
      start(given);
      await given.object([
        ttlPolicy('runs'),
        run('a', { finished: seconds(0) }),
        run('b', { finished: minutes(30) }),
      ]);
      await when.timePasses(minutes(5));
      await when.user.patch('ttlpolicy/runs', { spec: { ttl: '1h' } });
      await when.timePasses(minutes(54));
      await then.exists('pipelinerun/a');
      await when.timePasses(minutes(1));
      await then.isGone('pipelinerun/a');
      await when.user.patch('ttlpolicy/runs', { spec: { ttl: '1m' } });
      await when.timePasses(seconds(1));
      await then.isGone('pipelinerun/b');
      await when.timePasses(minutes(1));
      expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ deleted: 2, observedGeneration: 3 });
    },
  );

  scenario(
    'an object that an invalid policy may match is not deleted by another policy until the spec is valid',
    async (scene) => {
      const { given, when, then } = scene;
      start(given);
      await given.object([ttlPolicy('runs', { ttl: '1m' }), run('a', { finished: seconds(0) })]);
      const simulation = await scene.simulation();
      // Stored while no webhook could refuse it.
      simulation.crash();
      await simulation.apply(ttlPolicy('broken', { finishedAt: 'objekt.status' }));
      await simulation.restart();
      await when.timePasses(hours(5));
      await then.exists('pipelinerun/a');
      expect(await readyOf(then, 'ttlpolicy/broken')).toBe('False InvalidSpec');
      const { conditions } = await statusOf(then, 'ttlpolicy/runs');
      expect(conditions?.[0]?.message).toMatch(/default\/a: waits for TTLPolicy default\/broken/);
      await when.user.delete('ttlpolicy/broken');
      await when.timePasses(seconds(31));
      await then.isGone('pipelinerun/a');
    },
  );

  scenario(
    'relabelled from one policy to another at the last moment: deleted with the options of the other',
    async ({ given, when, then }) => {
      start(given);
      await given.object([
        ttlPolicy('first', { ttl: '1m' }),
        ttlPolicy('last', {
          ttl: '2m',
          propagationPolicy: 'Foreground',
          selector: { matchLabels: { last: 'yes' } },
        }),
        run('a', { finished: seconds(0), labels: { last: 'yes' } }),
      ]);
      await when.timePasses(seconds(1));
      when.justBefore('DELETE', () =>
        when.user.patch('pipelinerun/a', { metadata: { labels: { last: null } } }),
      );
      await when.timePasses(minutes(3));
      await then.isGone('pipelinerun/a');
      expect([
        (await statusOf(then, 'ttlpolicy/first')).deleted,
        (await statusOf(then, 'ttlpolicy/last')).deleted,
      ]).toEqual([1, 0]);
    },
  );

  scenario('a restart writes nothing when nothing changed', async ({ given, when, then }) => {
    start(given, { ttlPolicy: { concurrency: 1 } });
    await given.object(ttlPolicy('runs', { ttl: '100h' }));
    await given.object(Array.from({ length: 30 }, (_, i) => run(`r${i}`, { finished: seconds(0) })));
    await when.timePasses(minutes(1));
    const before = then.requests('PATCH').length;
    await when.processRestarts();
    await when.timePasses(minutes(1));
    expect(then.requests('PATCH').length).toBe(before);
    expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ matched: 30, waiting: 30 });
  });

  scenario(
    'after one refusal the other objects are not tried until the rights were reviewed',
    async ({ given, when, then }) => {
      start(given, { ttlPolicy: { concurrency: 1 } });
      await given.object(ttlPolicy('runs'));
      await given.object(Array.from({ length: 20 }, (_, i) => run(`r${i}`, { finished: seconds(0) })));
      await when.timePasses(seconds(1));
      when.serverAnswers('DELETE', 403, { times: 1 });
      const reviews = () => then.requests(({ resource }) => resource === 'selfsubjectaccessreviews').length;
      const before = reviews();
      await when.timePasses(minutes(10));
      expect(deletes(then)).toHaveLength(1);
      await when.timePasses(minutes(2));
      expect(deletes(then)).toHaveLength(21);
      expect(reviews()).toBeGreaterThan(before);
    },
  );

  scenario(
    'a dry run reports once what would be deleted, and deletes nothing',
    async ({ given, when, then }) => {
      start(given);
      await given.object([ttlPolicy('runs', { mode: 'DryRun' }), run('a', { finished: seconds(0) })]);
      await when.timePasses(hours(5));
      await then.exists('pipelinerun/a');
      expect((await then.events('pipelinerun/a')).map(({ reason }) => reason)).toEqual(['WouldDelete']);
      expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ matched: 1, due: 1, deleted: 0 });
      expect(await readyOf(then, 'ttlpolicy/runs')).toBe('True DryRun');
      await when.user.patch('ttlpolicy/runs', { spec: { mode: 'Enforce' } });
      await when.timePasses(seconds(1));
      await then.isGone('pipelinerun/a');
    },
  );

  scenario('a paused policy sends no requests; when resumed, it continues', async ({ given, when, then }) => {
    start(given);
    await given.object([ttlPolicy('runs', { mode: 'Paused' }), run('a', { finished: seconds(0) })]);
    await when.timePasses(hours(5));
    expect(deletes(then)).toEqual([]);
    expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ matched: 1, due: 1 });
    await when.user.patch('ttlpolicy/runs', { spec: { mode: 'Enforce' } });
    await when.timePasses(seconds(1));
    await then.isGone('pipelinerun/a');
  });

  scenario('no more deletions per minute than allowed', async ({ given, when, then }) => {
    start(given);
    await given.object(ttlPolicy('runs', { maxDeletionsPerMinute: 2 }));
    for (let i = 0; i < 5; i++) await given.object(run(`r${i}`, { finished: seconds(0) }));
    await when.timePasses(minutes(10));
    expect(deletes(then)).toHaveLength(2);
    await when.timePasses(minutes(1));
    expect(deletes(then)).toHaveLength(4);
    // An edit does not raise the budget.
    await when.user.patch('ttlpolicy/runs', { spec: { ttl: '1m' } });
    await when.timePasses(seconds(30));
    expect(deletes(then)).toHaveLength(4);
    await when.timePasses(minutes(1));
    expect(deletes(then)).toHaveLength(5);
  });

  scenario('the propagation policy is that of the spec', async ({ given, when, then }) => {
    start(given);
    given.noDoubleRun('nobody takes the finalizer off, so the object stays for good');
    await given.object([
      ttlPolicy('runs', { propagationPolicy: 'Foreground' }),
      run('a', { finished: seconds(0) }),
    ]);
    await when.timePasses(minutes(10));
    await then.isTerminating('pipelinerun/a');
    expect((await then.object('pipelinerun/a')).metadata.finalizers).toEqual(['foregroundDeletion']);
    await when.timePasses(minutes(11));
    expect((await then.events('pipelinerun/a')).map(({ reason }) => reason)).toEqual([
      'Deleted',
      'StuckTerminating',
    ]);
    expect(deletes(then)).toEqual(['a']);
  });
});
