import { seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { ClusterTTLPolicySpec } from '#api/ttlPolicy';
import { computeError, computeNotice, computeOwnError, decide } from './decide.ts';
import { annotated, at, compiled, run, time } from './policy.testkit.ts';

type Spec = Partial<ClusterTTLPolicySpec>;
const TTL = 'lapse.dev/ttl';
const tolerance = seconds(30);

const condition = (type: string, status: string, finished?: number, reason?: string) => ({
  conditions: [
    {
      type,
      status,
      ...(finished === undefined ? {} : { lastTransitionTime: time(finished) }),
      ...(reason === undefined ? {} : { reason }),
    },
  ],
});
const SUCCEEDED = 'object.status.conditions.exists(c, c.type == "Succeeded" && c.status == "True")';
const BY_OUTCOME: Spec = { succeeded: SUCCEEDED, ttlAfter: { succeeded: '1h', failed: '72h' } };

describe('the status of a policy about an object that cannot be evaluated', () => {
  const [good, bad] = [
    compiled({}, { name: 'good' }),
    compiled({ finishedAt: 'object.status.n' }, { name: 'bad' }),
  ];
  const object = run(0, { status: { n: 1 } });
  const end = decide(
    [good, bad].map((policy) => ({ policy, object })),
    { now: at(99), tolerance },
  );
  const decisions = end.kind === 'kept' ? end.decisions : [];
  test.each([
    ['contains its own error', bad, 'spec.finishedAt: a value of type number is not a time'],
    [
      'contains the error and name of another policy',
      good,
      'waits for TTLPolicy ci/bad, which cannot judge it: spec.finishedAt: a value of type number is not a time',
    ],
  ])('%s', (_name, policy, expected) => expect(computeError(decisions, policy)).toBe(expected));
});

describe('the error of a policy without effect', () => {
  const broken = { finishedAt: 'object.status.n' };
  const errorOf = (specs: readonly Spec[], index: number) => {
    const policies = specs.map((spec, i) => compiled(spec, { name: `p${i}` }));
    const object = run(0, { status: { n: 1 } });
    const end = decide(
      policies.map((policy) => ({ policy, object })),
      { now: at(99), tolerance },
    );
    return computeOwnError(end, policies[index]!);
  };
  const NOTE = 'spec.finishedAt: a value of type number is not a time';
  test.each<[string, Spec[], number, string | undefined]>([
    ['a dry run reports that it cannot evaluate the object', [{}, { ...broken, mode: 'DryRun' }], 1, NOTE],
    ['a paused policy reports it too', [{}, { ...broken, mode: 'Paused' }], 1, NOTE],
    ['a policy that enforces does not report it here', [broken], 0, undefined],
    ['a dry run without an error reports nothing', [{}, { mode: 'DryRun' }], 1, undefined],
    ['a dry run does not report the error of another policy', [broken, { mode: 'DryRun' }], 1, undefined],
  ])('%s', (_rule, specs, index, expected) => expect(errorOf(specs, index)).toBe(expected));
});

describe('the notice about an object', () => {
  const notice = (object: KubeObject, spec: Spec = {}) =>
    computeNotice(decide([{ policy: compiled(spec), object }], { now: at(99), tolerance }));
  test.each<[string, KubeObject, Spec, object | undefined]>([
    ['reports an invalid TTL', annotated(0, { [TTL]: 'nver' }), {}, { reason: 'InvalidTTL' }],
    [
      'reports a finish without a time',
      run(undefined, { status: condition('Failed', 'True') }),
      {},
      { reason: 'FinishTimeUnknown' },
    ],
    ['counts an opt-out', annotated(0, { [TTL]: 'never' }), {}, { because: 'opted out' }],
    [
      'counts an error',
      run(0, { status: { n: 1 } }),
      { finishedAt: 'object.status.n' },
      { because: 'error' },
    ],
    ['does not exist for an unfinished object', run(undefined), {}, undefined],
    ['does not exist for an expired object', run(0), {}, undefined],
    [
      'does not exist if no policy has a TTL for the object',
      run(0, { status: condition('Succeeded', 'False', 0) }),
      { ...BY_OUTCOME, ttlAfter: { succeeded: '1h' } },
      undefined,
    ],
  ])('%s', (_rule, object, spec, expected) => {
    const found = notice(object, spec);
    if (expected === undefined) expect(found).toBeUndefined();
    else expect(found).toMatchObject(expected);
  });
});

describe('the notice about a finish in the future', () => {
  test.each([
    ['does not exist for a difference of one second', 0, undefined],
    ['exists for a larger difference', -0.001, 'FinishInFuture'],
  ])('%s', (_name, now, reason) => {
    const end = decide([{ policy: compiled(), object: run(1) }], { now: at(now), tolerance });
    expect(computeNotice(end)?.reason).toBe(reason);
  });
});
