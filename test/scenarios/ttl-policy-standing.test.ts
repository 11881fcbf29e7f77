// Policies under restarts, broken watches, faults and lost leadership.

import { hours, type Millis, minutes, seconds } from '@lapse/base/instant';
import { describe, expect } from 'vitest';
import { clusterTtlPolicy, run, ttlPolicy } from './pipelineRuns.ts';
import { breakWatches, deletes, loseDelete, refuseDelete, start, statusOf } from './policyScenarios.ts';
import { scenario } from './scenario.ts';

describe('standing scenarios', () => {
  // One of each here, all of them in the soak test.
  scenario('watches end with 410', (scene) => breakWatches(scene, 'gone'));
  scenario('500 to a delete', (scene) => refuseDelete(scene, 500));
  scenario('the answer to a delete is lost', (scene) => loseDelete(scene, { drop: 'after' }));

  scenario('a restart in the middle, and a crash with an hour of downtime', async ({ given, when, then }) => {
    start(given);
    await given.object([
      ttlPolicy('runs'),
      run('a', { finished: seconds(0) }),
      run('b', { finished: minutes(20) }),
      run('c', { finished: minutes(60) }),
    ]);
    await when.timePasses(minutes(5));
    await when.processRestarts();
    await when.timePasses(minutes(5));
    await then.isGone('pipelinerun/a');
    // Counts of the last seconds before a crash may be lost; deletions are not.
    await when.timePasses(minutes(1));
    await when.processCrashes({ downFor: minutes(60) });
    await when.timePasses(seconds(1));
    await then.isGone('pipelinerun/b');
    await when.timePasses(minutes(10));
    expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ matched: 0, due: 0, deleted: 3 });
    expect(deletes(then)).toEqual(['a', 'b', 'c']);
  });

  scenario(
    'after a restart the longer policy still wins, whichever is read first',
    async ({ given, when, then }) => {
      start(given);
      await given.object([
        ttlPolicy('short', { ttl: '1m' }),
        ttlPolicy('long', { ttl: '100h' }),
        run('a', { finished: seconds(0) }),
      ]);
      await when.timePasses(hours(1));
      for (let i = 0; i < 3; i++) {
        await when.processRestarts();
        when.serverAnswers(({ resource, verb }) => resource === 'pipelineruns' && verb === 'list', 503, {
          times: 1,
        });
        await when.timePasses(minutes(1));
      }
      await then.exists('pipelinerun/a');
      expect(deletes(then)).toEqual([]);
    },
  );

  scenario('opted out at the last moment: kept', async ({ given, when, then }) => {
    start(given);
    await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
    await when.timePasses(seconds(1));
    when.justBefore('DELETE', () =>
      when.user.patch('pipelinerun/a', { metadata: { annotations: { 'lapse.dev/ttl': 'never' } } }),
    );
    await when.timePasses(hours(10));
    await then.exists('pipelinerun/a');
    expect(deletes(then)).toEqual(['a']);
  });

  scenario('relabelled out of the policy at the last moment: kept', async ({ given, when, then }) => {
    start(given);
    await given.object([
      ttlPolicy('runs', { selector: { matchLabels: { end: 'yes' } } }),
      run('a', { finished: seconds(0), labels: { end: 'yes' } }),
    ]);
    await when.timePasses(seconds(1));
    when.justBefore('DELETE', () =>
      when.user.patch('pipelinerun/a', { metadata: { labels: { end: null } } }),
    );
    await when.timePasses(hours(10));
    await then.exists('pipelinerun/a');
  });

  scenario(
    'recreated under its name at the last moment: the new object has its own deadline',
    async ({ given, when, then }) => {
      start(given);
      await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
      await when.timePasses(seconds(1));
      when.justBefore('DELETE', async () => {
        await when.user.delete('pipelinerun/a');
        await when.user.apply(run('a', { finished: minutes(10) }));
      });
      await when.timePasses(minutes(19));
      await then.exists('pipelinerun/a');
      await when.timePasses(minutes(1));
      await then.isGone('pipelinerun/a');
    },
  );

  scenario('caches that are behind at the deadline', async ({ given, when, then }) => {
    start(given);
    await given.object([ttlPolicy('runs', { allowOverrides: true }), run('a', { finished: seconds(0) })]);
    await when.timePasses(minutes(5));
    when.cachesAreStale();
    await when.user.patch('pipelinerun/a', { metadata: { annotations: { 'lapse.dev/ttl': '1h' } } });
    await when.timePasses(minutes(6));
    await then.exists('pipelinerun/a');
    await when.cachesCatchUp();
    await when.timePasses(minutes(49));
    await then.isGone('pipelinerun/a');
  });

  scenario(
    'the clock jumps forward: nothing is deleted before its deadline by server time',
    async ({ given, when, then }) => {
      start(given);
      await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
      await when.timePasses(minutes(1));
      await when.clockJumps(hours(1));
      await when.timePasses(minutes(8));
      await then.exists('pipelinerun/a');
      await when.clockJumps(hours(-1) as Millis);
      await when.timePasses(minutes(2));
      await then.isGone('pipelinerun/a');
    },
  );

  scenario('leadership lost while waiting', async ({ given, when, then }) => {
    start(given);
    await given.object([
      ttlPolicy('runs'),
      clusterTtlPolicy('all', { ttl: '1m' }),
      run('a', { finished: seconds(0) }),
    ]);
    await when.timePasses(minutes(5));
    await when.leadershipIsLost();
    await when.timePasses(minutes(30));
    await then.exists('pipelinerun/a');
    await when.leadershipReturns();
    await when.timePasses(seconds(1));
    await then.isGone('pipelinerun/a');
  });

  scenario('another client writes the status at the same time', async ({ given, when, then }) => {
    start(given);
    await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
    await when.timePasses(minutes(5));
    when.justBefore('PATCH', () => when.user.patch('ttlpolicy/runs', { metadata: { labels: { x: 'y' } } }));
    await when.timePasses(minutes(10));
    expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ deleted: 1, matched: 0 });
  });

  scenario(
    'forbidden to delete: reported once, retried rarely, deleted when it is allowed',
    async ({ given, when, then }) => {
      start(given);
      await given.object([ttlPolicy('runs'), run('a', { finished: seconds(0) })]);
      await when.timePasses(seconds(1));
      when.serverAnswers('DELETE', 403, { times: 100 });
      await when.timePasses(minutes(20));
      await then.exists('pipelinerun/a');
      expect(deletes(then).length).toBeLessThan(30);
      expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ due: 1 });
      await when.faultsEnd();
      await when.timePasses(minutes(6));
      await then.isGone('pipelinerun/a');
    },
  );

  scenario('fifty due at one instant: one request each, at that instant', async ({ given, when, then }) => {
    start(given);
    await given.object(ttlPolicy('runs'));
    await given.object(Array.from({ length: 50 }, (_, i) => run(`r${i}`, { finished: seconds(0) })));
    await when.timePasses(minutes(10));
    const requests = then.requests('DELETE');
    expect(requests).toHaveLength(50);
    await when.timePasses(minutes(1));
    expect(await statusOf(then, 'ttlpolicy/runs')).toMatchObject({ matched: 0, deleted: 50 });
    const patches = then.requests('PATCH').length;
    expect(patches).toBeLessThan(12);
  });
});
