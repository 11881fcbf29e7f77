import { type Instant, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { ClusterTTLPolicySpec } from '#api/ttlPolicy';
import { computeObstacle, decide, describeDecisions, type Standing } from './decide.ts';
import { annotated, at, compiled, policy, run, time } from './policy.testkit.ts';

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
const waiting = (until: Instant) => ({ kind: 'waiting', until });

describe('several policies', () => {
  const moment = (now: Instant) => ({ now, tolerance });
  const end = (specs: readonly Spec[], object: KubeObject, now: Instant) =>
    decide(
      specs.map((spec, i) => ({ policy: compiled(spec, { name: `p${i}` }), object })),
      moment(now),
    );

  test('the policy that keeps the object longest wins', () => {
    expect(end([{ ttl: '1m' }, { ttl: '5m' }, { ttl: '2m' }], run(0), at(200))).toMatchObject(
      waiting(at(300)),
    );
    expect(end([{ ttl: '1m' }, { ttl: '5m' }], run(0), at(300))).toMatchObject({
      kind: 'expired',
      since: at(300),
      by: { name: 'TTLPolicy ci/p1' },
    });
  });
  test('the explanation contains all policies', () => {
    const { decisions } = end([{ ttl: '1m' }, { from: 'Created', ttl: '1h' }], run(0), at(100)) as never;
    expect(describeDecisions(decisions)).toBe(
      'TTLPolicy ci/p0: finished 2025-06-15T15:06:40Z (status.completionTime), TTL 1m0s (spec.ttl): ended 2025-06-15T15:07:40Z; ' +
        'TTLPolicy ci/p1: finished 2025-06-15T15:05:00Z (created), TTL 1h0m0s (spec.ttl): ends 2025-06-15T16:05:00Z',
    );
  });
  test.each<[string, Spec[], KubeObject, object]>([
    ['without policies there is no decision', [], run(0), { kind: 'none' }],
    [
      'two policies for different outcomes do not block each other',
      [
        { ...BY_OUTCOME, ttlAfter: { succeeded: '1m' } },
        { ...BY_OUTCOME, ttlAfter: { failed: '2m' } },
      ],
      run(0, { status: condition('Succeeded', 'False', 0) }),
      { kind: 'expired', since: at(120) },
    ],
    [
      'an object that one policy cannot evaluate is kept',
      [{ ttl: '1m' }, { finishedAt: 'object.status.n' }],
      run(0, { status: { n: 1 } }),
      { kind: 'kept', because: 'error' },
    ],
    [
      'an object that is unfinished for one policy and expired by age for another is deleted',
      [{ finishedAt: 'object.status.x' }, { from: 'Created' }],
      run(0),
      { kind: 'expired', since: at(-40), by: { name: 'TTLPolicy ci/p1' } },
    ],
    [
      'an object that is unfinished for one policy and finished for another is kept',
      [{ finishedAt: 'object.status.x' }, {}],
      run(0),
      { kind: 'kept', because: 'unfinished' },
    ],
    [
      'an opt-out comes before every other reason',
      [{ finishedAt: 'object.status.n' }, {}],
      run(0, { status: { n: 1 }, metadata: { annotations: { [TTL]: 'never' } } }),
      { kind: 'kept', because: 'opted out' },
    ],
    ...(['DryRun', 'Paused'] as const).flatMap((mode): [string, Spec[], KubeObject, object][] => [
      [
        `a policy in ${mode} with a longer TTL keeps nothing`,
        [{ ttl: '1m' }, { ttl: '1000h', mode }],
        run(0),
        { kind: 'expired', since: at(60), by: { mode: 'Enforce' } },
      ],
      [
        `a policy in ${mode} that cannot evaluate the object keeps nothing`,
        [{ ttl: '1m' }, { finishedAt: 'object.status.n', mode }],
        run(0, { status: { n: 1 } }),
        { kind: 'expired', since: at(60), by: { mode: 'Enforce' } },
      ],
      [
        `a policy in ${mode} with a shorter TTL deletes nothing`,
        [{ ttl: '1000h' }, { ttl: '1m', mode }],
        run(0),
        { kind: 'waiting', until: at(3_600_000), mode: 'Enforce' },
      ],
      [
        `a policy in ${mode} decides if the policy in Enforce has no deadline, and deletes nothing`,
        [{ finishedAt: 'object.status.x' }, { from: 'Created', mode }],
        run(0),
        { kind: 'expired', mode, by: { mode } },
      ],
      [
        `a deadline by age in ${mode} does not make another policy delete what a third calls unfinished`,
        [{}, { finishedAt: 'object.status.x' }, { from: 'Created', mode }],
        run(0),
        { kind: 'expired', by: { mode } },
      ],
    ]),
    [
      'of two policies in Enforce, the last to expire acts',
      [
        { ttl: '1m', maxDeletionsPerMinute: 1 },
        { ttl: '2m', maxDeletionsPerMinute: 2 },
      ],
      run(0),
      { kind: 'expired', by: { perMinute: 2 } },
    ],
    [
      'a policy in DryRun comes before a policy in Paused',
      [
        { ttl: '5m', mode: 'Paused' },
        { ttl: '1m', mode: 'DryRun' },
      ],
      run(0),
      { kind: 'expired', since: at(60), by: { mode: 'DryRun' } },
    ],
    [
      'a policy in Paused decides alone',
      [{ mode: 'Paused' }],
      run(0),
      { kind: 'expired', by: { mode: 'Paused' } },
    ],
    [
      'an override applies only to the policy that allows it',
      [{ ttl: '1m' }, { ttl: '1m', allowOverrides: true }],
      annotated(0, { [TTL]: '1000h' }),
      { kind: 'waiting', until: at(3_600_000) },
    ],
    [
      'a finish that one policy does not trust holds the object for all policies',
      [{ ttl: '1000h', from: 'Created' }, { finishedAt: 'object.status.t' }],
      run(0, { status: { t: time(999_999) } }),
      { kind: 'waiting', held: true, until: at(999_969), ends: at(3_599_900) },
    ],
    [
      'the deadline is the latest one even if another finish is not trusted',
      [{ ttl: '1000h' }, { finishedAt: 'object.status.t', ttl: '1m' }],
      run(0, { status: { t: time(999_999) } }),
      { kind: 'waiting', held: true, ends: at(3_600_000) },
    ],
  ])('%s', (_rule, specs, object, expected) => {
    expect(end(specs, object, at(3000))).toMatchObject(expected);
  });
});

test.each(['DryRun', 'Paused'] as const)('an invalid policy in %s does not block other policies', (mode) => {
  expect(computeObstacle([policy({ mode })], () => 'broken')).toBeUndefined();
});

test.each<[string, Standing, object | undefined]>([
  ['a policy whose targets are being listed blocks the deletion', 'pending', { kind: 'pending' }],
  [
    'a policy that cannot read its targets blocks the deletion and is named',
    'blind',
    { kind: 'lasting', note: expect.stringMatching(/^waits for TTLPolicy ci\/runs, which cannot read/) },
  ],
  [
    'an invalid policy blocks the deletion and is named',
    'broken',
    { kind: 'lasting', note: 'waits for TTLPolicy ci/runs, which cannot be understood' },
  ],
  ['a refused policy blocks nothing', 'refused', undefined],
  ['a ready policy blocks nothing', 'ready', undefined],
])('%s', (_rule, standing, expected) => {
  const found = computeObstacle([policy()], () => standing);
  if (expected === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(expected);
});

test('a policy that is being deleted blocks nothing, but another pending policy does', () => {
  const pending = () => 'pending' as const;
  const leaving = policy({}, { deletionTimestamp: time(0) });
  expect([computeObstacle([leaving], pending), computeObstacle([leaving, policy()], pending)]).toEqual([
    undefined,
    { kind: 'pending', policy: policy() },
  ]);
});
