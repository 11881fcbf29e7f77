// Jobs and Pods are decided by exactly the fields that trigger their controller, also in their reduced cached form.

import { minutes, seconds } from '@lapse/base/instant';
import type { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { factsOf } from 'lapse/controllers/ttl-after-finished/controller';
import { decideExpiry } from 'lapse/controllers/ttl-after-finished/decide';
import type { Finishable } from 'lapse/expiry/finishable';
import { jobs } from 'lapse/expiry/job';
import { POD_TTL_ANNOTATION, pods } from 'lapse/expiry/pod';
import { describe, expect, test } from 'vitest';
import { expectFactsCover, expectFactsDecide } from './facts.ts';
import { at, finishedJob, job } from './kit.ts';

const named = <T extends KubeObject>(object: T, more: object = {}): T => ({
  ...object,
  metadata: { ...object.metadata, uid: 'u', resourceVersion: '1', ...more },
});

const JOBS: Job[] = [
  job('a', { ttl: minutes(1) }),
  finishedJob('b', { ttl: minutes(1) }),
  finishedJob('c', { ttl: minutes(60), result: 'Failed' }),
  finishedJob('d'),
  finishedJob('e', { ttl: minutes(1), annotations: { 'lapse.dev/ttl': 'never' } }),
  named(finishedJob('f', { ttl: minutes(1) }), {
    deletionTimestamp: '2026-01-01T00:00:00Z',
    finalizers: ['x'],
  }),
].map((one) => named(one, one.metadata));

const terminated = (finishedAt: string) => ({
  name: 'main',
  state: { terminated: { exitCode: 0, finishedAt } },
});
const pod = (
  ttl: string | undefined,
  status: Pod['status'],
  more: object = {},
  spec: Pod['spec'] = {},
): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    namespace: 'default',
    uid: 'u',
    resourceVersion: '1',
    ...(ttl === undefined ? {} : { annotations: { [POD_TTL_ANNOTATION]: ttl } }),
    ...more,
  },
  spec,
  ...(status === undefined ? {} : { status }),
});
const DONE = { phase: 'Succeeded', containerStatuses: [terminated('2026-01-01T00:00:00Z')] };
const CONDITION = { type: 'Ready', status: 'False', lastTransitionTime: '2026-01-01T00:00:05Z' };
const PODS: Pod[] = [
  pod('60', { phase: 'Running' }),
  pod('60', DONE),
  pod('5', { ...DONE, phase: 'Failed' }),
  pod('x', DONE),
  pod(undefined, DONE),
  pod('60', { phase: 'Succeeded', conditions: [CONDITION] }),
  pod('60', { phase: 'Succeeded', initContainerStatuses: [terminated('2026-01-01T00:00:09Z')] }),
  pod('60', DONE, { deletionTimestamp: '2026-01-01T00:00:00Z' }),
  pod('60', DONE, {
    ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'j', uid: 'x', controller: true }],
  }),
  pod('60', DONE, {}, { restartPolicy: 'Always' }),
];

const given = <T extends KubeObject>(finishable: Finishable<T>, objects: readonly T[]) => ({
  facts: factsOf,
  compute: (object: T) => decideExpiry(finishable, object, { now: at(minutes(5)), tolerance: seconds(30) }),
  objects,
});

describe.each([
  ['Jobs', given(jobs, JOBS), JOBS.map(jobs.projection.project)],
  ['Pods', given(pods, PODS) as never, PODS.map(pods.projection.project) as never],
] as [string, ReturnType<typeof given<Job>>, Job[]][])('%s', (_kind, whole, projected) => {
  test('facts cover the fields of the decision', () => {
    expectFactsCover(whole);
    expectFactsDecide(whole);
  });
  test('facts cover the cached form too, and its decisions are the same', () => {
    expectFactsCover({ ...whole, objects: projected });
    expectFactsDecide({ ...whole, objects: projected });
    expect(projected.map(whole.compute)).toEqual(whole.objects.map(whole.compute));
  });
});
