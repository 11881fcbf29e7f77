// Where policies act: namespaces, cluster-scoped kinds and refused kinds.

import { hours, type Millis, minutes, seconds } from '@lapse/base/instant';
import { describe, expect } from 'vitest';
import { clusterTtlPolicy, namespace, PipelineRunKind, run, ttlPolicy } from './pipelineRuns.ts';
import { readyOf, start, statusOf } from './policyScenarios.ts';
import { scenario } from './scenario.ts';

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
