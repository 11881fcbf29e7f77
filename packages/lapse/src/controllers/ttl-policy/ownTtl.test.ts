import { type Instant, seconds } from '@lapse/base/instant';
import type { KubeObject, ObjectMeta } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { ClusterTTLPolicySpec } from '#api/ttlPolicy';
import { decide, decideForPolicy } from './decide.ts';
import { at, compiled, time } from './policy.testkit.ts';
import { buildProjection } from './sources.ts';

type Spec = Partial<ClusterTTLPolicySpec>;

const METADATA = {
  name: 'x',
  namespace: 'ci',
  uid: 'u',
  resourceVersion: '1',
  creationTimestamp: time(-100),
};
const job = (ttl: number | undefined, finished: number | undefined): KubeObject =>
  ({
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: METADATA,
    spec: ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl },
    status:
      finished === undefined
        ? {}
        : { conditions: [{ type: 'Complete', status: 'True', lastTransitionTime: time(finished) }] },
  }) as KubeObject;
const pod = (metadata: ObjectMeta, ends: (number | null)[] = [0]): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...METADATA, ...metadata },
    status: {
      phase: 'Succeeded',
      containerStatuses: ends.map((end) => ({
        name: 'c',
        state: { terminated: end === null ? {} : { finishedAt: time(end) } },
      })),
    },
  }) as KubeObject;
const asks = (ttl: string): ObjectMeta => ({ annotations: { 'lapse.dev/ttl-seconds-after-finished': ttl } });
const ofJob: ObjectMeta = {
  ownerReferences: [{ apiVersion: 'batch/v1', kind: 'Job', name: 'report', uid: 'j', controller: true }],
};

const JOBS: Spec = { target: { apiVersion: 'batch/v1', kind: 'Job' } };
const PODS: Spec = { target: { apiVersion: 'v1', kind: 'Pod' }, from: 'Created' };
const waiting = (second: number) => ({ kind: 'waiting', until: at(second) });
const expired = (second: number) => ({ kind: 'expired', since: at(second) });
const kept = (because: string, note: RegExp) => ({
  kind: 'notApplicable',
  because,
  note: expect.stringMatching(note),
});

/** Expects the same decision about the object and its projection. */
function expectDecision(spec: Spec, object: KubeObject, now: Instant, expected: object): void {
  const policy = compiled(spec);
  const moment = { now, tolerance: seconds(30) };
  expect(decideForPolicy(policy, object, moment)).toMatchObject(expected);
  const projected = buildProjection(policy, { name: 'p' }).project(object);
  expect(decideForPolicy(policy, projected, moment)).toMatchObject(expected);
}

describe('a policy on Jobs with a TTL of one minute', () => {
  test.each<[string, Spec, KubeObject, number, object]>([
    ['deletes a Job without a TTL of its own', JOBS, job(undefined, 0), 60, expired(60)],
    ['never deletes a Job before its own TTL', JOBS, job(3600, 0), 3599, waiting(3600)],
    ['deletes a Job at the end of its own TTL', JOBS, job(3600, 0), 3600, expired(3600)],
    ['keeps a Job longer than its own TTL', JOBS, job(1, 0), 59, waiting(60)],
    [
      'deletes a Job before its own TTL with respectOwnTTL: false',
      { ...JOBS, respectOwnTTL: false },
      job(3600, 0),
      60,
      expired(60),
    ],
    [
      'ignores the field in a Job of another API group',
      { target: { apiVersion: 'example.com/v1', kind: 'Job' } },
      job(3600, 0),
      60,
      expired(60),
    ],
    [
      'ignores the field in another kind of the API group',
      { target: { apiVersion: 'batch/v1', kind: 'CronJob' } },
      job(3600, 0),
      60,
      expired(60),
    ],
    [
      'reports the error of its expression though the Job has a TTL of its own',
      { ...JOBS, finishedAt: 'object.spec.ttlSecondsAfterFinished' },
      job(3600, 0),
      9999,
      { kind: 'error' },
    ],
    [
      'names the rule of the policy if both TTLs expire at the same time',
      JOBS,
      job(60, 0),
      60,
      { ...expired(60), because: { ttl: { rule: 'spec.ttl' } } },
    ],
    [
      'by age keeps an unfinished Job that has a TTL of its own',
      { ...JOBS, from: 'Created' },
      job(3600, undefined),
      9e6,
      kept('unfinished', /respectOwnTTL: false/),
    ],
    [
      'by age deletes an unfinished Job without a TTL of its own',
      { ...JOBS, from: 'Created' },
      job(undefined, undefined),
      9e6,
      expired(-40),
    ],
    [
      'by age deletes an unfinished Job with respectOwnTTL: false',
      { ...JOBS, from: 'Created', respectOwnTTL: false },
      job(3600, undefined),
      9e6,
      expired(-40),
    ],
  ])('%s', (_name, spec, object, second, expected) => expectDecision(spec, object, at(second), expected));
});

describe('a policy on Pods by age', () => {
  const all = { ...PODS, includeOwned: true };
  test.each<[string, Spec, KubeObject, object]>([
    ['deletes a Pod', PODS, pod({}), expired(-40)],
    ['never deletes a Pod before the TTL of its annotation', PODS, pod(asks('9999')), waiting(9999)],
    [
      'counts the TTL of the annotation from the last container',
      PODS,
      pod(asks('9999'), [1, 5]),
      waiting(10_004),
    ],
    [
      'ignores the annotation with respectOwnTTL: false',
      { ...PODS, respectOwnTTL: false },
      pod(asks('9999')),
      expired(-40),
    ],
    [
      'keeps a Pod with an unreadable annotation',
      PODS,
      pod(asks('soon')),
      kept('invalid TTL', /soon.*respectOwnTTL/),
    ],
    [
      'keeps a Pod with the annotation and without a finish time',
      PODS,
      pod(asks('5'), [null]),
      kept('finish time unknown', /respectOwnTTL/),
    ],
    [
      'ignores a Pod of a Job',
      PODS,
      pod(ofJob),
      { kind: 'leftAlone', note: expect.stringMatching(/Job report.*includeOwned: true/) },
    ],
    ['deletes a Pod of a Job with includeOwned: true', all, pod(ofJob), expired(-40)],
    [
      'deletes a Pod that a Job owns but does not control',
      PODS,
      pod({ ownerReferences: [{ ...ofJob.ownerReferences![0]!, controller: false }] }),
      expired(-40),
    ],
  ])('%s', (_name, spec, object, expected) => expectDecision(spec, object, at(99), expected));

  test('that ignores a Pod of a Job does not keep it from another policy', () => {
    const seen = [PODS, all].map((spec, i) => ({
      policy: compiled(spec, { name: `p${i}` }),
      object: pod(ofJob),
    }));
    expect(decide(seen, { now: at(99), tolerance: seconds(30) })).toMatchObject({
      kind: 'expired',
      by: { name: 'TTLPolicy ci/p1' },
    });
    expect(decide(seen.slice(0, 1), { now: at(99), tolerance: seconds(30) }).kind).toBe('none');
  });
});
