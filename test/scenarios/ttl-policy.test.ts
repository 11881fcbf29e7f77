// Policies for PipelineRuns, run on the virtual clock.

import { hours, type Millis, minutes, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { objectOf } from '@lapse/kube/client/client';
import { TTLPolicy } from 'lapse/api/ttlPolicy';
import { describe, expect } from 'vitest';
import { clusterTtlPolicy, namespace, PipelineRunKind, run, runStatus, ttlPolicy } from './pipelineRuns.ts';
import {
  breakWatches,
  deletes,
  loseDelete,
  messageOf,
  readyOf,
  refuseDelete,
  start,
  statusOf,
} from './policyScenarios.ts';
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

describe('where it acts', () => {
  scenario('a namespaced policy acts in its namespace only', async ({ given, when, then }) => {
    start(given);
    await given.object([
      namespace('other'),
      ttlPolicy('runs'),
      run('here', { finished: seconds(0) }),
      run('there', { finished: seconds(0), namespace: 'other' }),
    ]);
    await when.timePasses(hours(5));
    await then.isGone('pipelinerun/here');
    await then.exists('other/pipelinerun/there');
    const lists = then.requests(({ resource, verb }) => resource === 'pipelineruns' && verb === 'list');
    expect(lists.every(({ path }) => path.includes('/namespaces/default/'))).toBe(true);
  });

  scenario(
    'limited to one namespace, nothing outside of it is read or deleted',
    async ({ given, when, then }) => {
      start(given, { namespace: 'default' });
      await given.object([
        namespace('other'),
        ttlPolicy('runs'),
        ttlPolicy('theirs', {}, { namespace: 'other' }),
        clusterTtlPolicy('all', { ttl: '100h' }),
        run('here', { finished: seconds(0) }),
        run('there', { finished: seconds(0), namespace: 'other' }),
      ]);
      await when.timePasses(hours(1));
      await then.isGone('pipelinerun/here');
      await then.exists('other/pipelinerun/there');
      const isReading = (verb: string) => verb === 'list' || verb === 'watch';
      const outside = then.requests(({ verb, namespace: home }) => isReading(verb) && home !== 'default');
      expect(outside.map(({ path }) => path)).toEqual([]);
    },
  );

  scenario('a cluster policy keeps objects in kube-* namespaces', async ({ given, when, then }) => {
    start(given);
    await given.object([
      clusterTtlPolicy('runs'),
      run('a', { finished: seconds(0) }),
      run('system', { finished: seconds(0), namespace: 'kube-system' }),
    ]);
    await when.timePasses(hours(5));
    await then.isGone('pipelinerun/a');
    await then.exists('kube-system/pipelinerun/system');
    expect(await statusOf(then, 'clusterttlpolicy/runs')).toMatchObject({ matched: 0, deleted: 1 });
  });

  scenario('namespaces by label, also when the label is set later', async ({ given, when, then }) => {
    start(given);
    await given.object([
      namespace('ci', { tier: 'ci' }),
      namespace('prod', { tier: 'prod' }),
      clusterTtlPolicy('runs', { namespaceSelector: { matchLabels: { tier: 'ci' } } }),
      run('a', { finished: seconds(0), namespace: 'ci' }),
      run('b', { finished: seconds(0), namespace: 'prod' }),
    ]);
    await when.timePasses(minutes(10));
    await then.isGone('ci/pipelinerun/a');
    await when.timePasses(hours(1));
    await then.exists('prod/pipelinerun/b');
    expect(await statusOf(then, 'clusterttlpolicy/runs')).toMatchObject({ matched: 0, deleted: 1 });
    await when.user.patch('namespace/prod', { metadata: { labels: { tier: 'ci' } } });
    await then.isGone('prod/pipelinerun/b');
  });

  scenario('by label of the object', async ({ given, when, then }) => {
    start(given);
    await given.object([
      ttlPolicy('runs', {
        selector: { matchExpressions: [{ key: 'team', operator: 'In', values: ['web'] }] },
      }),
      run('a', { finished: seconds(0), labels: { team: 'web' } }),
      run('b', { finished: seconds(0) }),
    ]);
    await when.timePasses(hours(1));
    await then.isGone('pipelinerun/a');
    await then.exists('pipelinerun/b');
    await when.user.patch('pipelinerun/b', { metadata: { labels: { team: 'web' } } });
    await then.isGone('pipelinerun/b');
  });

  scenario('cluster-scoped kinds, by age, reading metadata only', async ({ given, when, then }) => {
    start(given);
    await given.object([
      clusterTtlPolicy('nodes', { target: { apiVersion: 'v1', kind: 'Node' }, from: 'Created', ttl: '1h' }),
      { apiVersion: 'v1', kind: 'Node', metadata: { name: 'old' } },
    ]);
    await when.timePasses((hours(1) - 1000) as Millis);
    await then.exists('node/old');
    await when.timePasses(seconds(1));
    await then.isGone('node/old');
  });

  scenario('a kind that comes later', async ({ given, when, then }) => {
    given.controllers('ttl-policy');
    given.configuration({ actAs: 'controller' });
    await given.object(ttlPolicy('runs'));
    await when.timePasses(minutes(30));
    expect(await readyOf(then, 'ttlpolicy/runs')).toBe('False KindNotServed');
    await when.user.apply(PipelineRunKind.crd);
    await when.timePasses(seconds(2));
    expect(await readyOf(then, 'ttlpolicy/runs')).toBe('True Enforcing');
    await when.user.apply(run('a', { finished: minutes(30) }));
    await when.timePasses(minutes(10));
    await then.isGone('pipelinerun/a');
    // The CRD is deleted again.
    await when.user.delete('customresourcedefinition/pipelineruns.tekton.dev');
    await when.timePasses(minutes(10));
    expect(await readyOf(then, 'ttlpolicy/runs')).toBe('False KindNotServed');
    await when.user.apply(PipelineRunKind.crd);
    await when.timePasses(minutes(6));
    expect(await readyOf(then, 'ttlpolicy/runs')).toBe('True Enforcing');
  });

  scenario('kinds that no policy may delete are refused at admission', async ({ given }) => {
    start(given);
    const refused: [apiVersion: string, kind: string, why: RegExp][] = [
      ['v1', 'Event', /expire by themselves/],
      ['events.k8s.io/v1', 'Event', /expire by themselves/],
      ['coordination.k8s.io/v1', 'Lease', /leader election/],
      ['lapse.dev/v1alpha1', 'TTLPolicy', /a kind of Lapse/],
      ['v1', 'Node', /use a ClusterTTLPolicy/],
      ['authorization.k8s.io/v1', 'SubjectAccessReview', /does not support list, watch, delete/],
    ];
    for (const [apiVersion, kind, why] of refused)
      await expect(given.object(ttlPolicy('p', { target: { apiVersion, kind } }))).rejects.toThrow(why);
  });
});

describe("the author's rights, with the webhook in the process", () => {
  scenario('signed when written, refused when changed without the webhook, claimed', async (scene) => {
    const { given, when, then } = scene;
    given.controllers('ttl-policy');
    given.kinds(PipelineRunKind);
    await given.object([
      namespace('lapse-system'),
      run('a', { finished: seconds(0) }),
      run('b', { finished: minutes(30) }),
    ]);
    await when.user.apply(ttlPolicy('runs'));
    await when.timePasses(minutes(10));
    await then.isGone('pipelinerun/a');
    const { annotations = {} } = (await then.object('ttlpolicy/runs')).metadata;
    expect(JSON.parse(annotations['lapse.dev/author'] ?? '')).toMatchObject({ username: 'admin' });
    const simulation = await scene.simulation();
    simulation.crash();
    await simulation.patch('ttlpolicy/runs', { spec: { ttl: '1m' } });
    await simulation.restart();
    await when.timePasses(hours(1));
    expect(await readyOf(then, 'ttlpolicy/runs')).toBe('False AuthorUnknown');
    await then.exists('pipelinerun/b');
    await when.user.patch('ttlpolicy/runs', { metadata: { annotations: { 'lapse.dev/author': 'claim' } } });
    await when.timePasses(seconds(1));
    await then.isGone('pipelinerun/b');
    await when.timePasses(minutes(1));
    expect(await readyOf(then, 'ttlpolicy/runs')).toBe('True Enforcing');
  });

  scenario(
    'deletes nothing after the signature of its author expired, until it is claimed',
    async (scene) => {
      const { given, when, then } = scene;
      given.controllers('ttl-policy');
      given.configuration({ authors: { sealLifetime: '2h' } });
      given.kinds(PipelineRunKind);
      await given.object([namespace('lapse-system'), run('a', { finished: seconds(0) })]);
      await when.user.apply(ttlPolicy('runs'));
      await when.timePasses(minutes(15));
      await then.isGone('pipelinerun/a');
      expect(await messageOf(then, 'ttlpolicy/runs')).toMatch(
        /^objects are deleted when they are due; the signature of its author expires at .*; to renew it, run: kubectl annotate -n default ttlpolicy runs lapse.dev\/author=claim --overwrite$/,
      );
      await given.object([run('b', { finished: minutes(112) })]);
      await when.timePasses(hours(3));
      expect(await readyOf(then, 'ttlpolicy/runs')).toBe('False AuthorExpired');
      expect(await messageOf(then, 'ttlpolicy/runs')).toMatch(
        /^the signature of its author admin expired at /,
      );
      await then.exists('pipelinerun/b');
      await when.user.patch('ttlpolicy/runs', { metadata: { annotations: { 'lapse.dev/author': 'claim' } } });
      await when.timePasses(seconds(1));
      await then.isGone('pipelinerun/b');
    },
  );

  scenario('server-side apply of an export needs no claim', async (scene) => {
    const { given, then } = scene;
    given.controllers('ttl-policy');
    given.kinds(PipelineRunKind);
    await given.object([namespace('lapse-system')]);
    const { user } = await scene.simulation();
    const apply = async (object: KubeObject, fieldManager: string): Promise<void> => {
      objectOf(await user.apply(TTLPolicy as Kind, object, { fieldManager, force: true }));
    };
    await apply(ttlPolicy('runs', { ttl: '1h' }), 'flux');
    const {
      managedFields: _,
      resourceVersion: __,
      ...exported
    } = (await then.object('ttlpolicy/runs')).metadata;
    for (const [ttl, metadata, manager] of [
      ['1h', exported, 'kubectl'],
      ['2h', exported, 'kubectl'],
      ['3h', ttlPolicy('runs').metadata, 'flux'],
      ['3h', ttlPolicy('runs').metadata, 'flux'],
    ] as const) {
      await apply({ ...ttlPolicy('runs', { ttl }), metadata }, manager);
      await scene.when.timePasses(minutes(1));
      expect([ttl, await readyOf(then, 'ttlpolicy/runs')]).toEqual([ttl, 'True Enforcing']);
    }
  });

  scenario(
    'a policy with an expired signature still keeps objects from a policy with a shorter TTL',
    async ({ given, when, then }) => {
      given.controllers('ttl-policy');
      given.configuration({ authors: { sealLifetime: '2h' } });
      given.kinds(PipelineRunKind);
      await given.object([namespace('lapse-system')]);
      await when.user.apply(ttlPolicy('longer', { ttl: '5h' }));
      await when.timePasses(minutes(90));
      await when.user.apply([ttlPolicy('shorter', { ttl: '10m' }), run('a', { finished: minutes(90) })]);
      await when.timePasses(minutes(60));
      expect(await readyOf(then, 'ttlpolicy/longer')).toBe('False AuthorExpired');
      await then.exists('pipelinerun/a');
    },
  );
});

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
