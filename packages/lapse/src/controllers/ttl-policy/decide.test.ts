import { type Instant, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { ClusterTTLPolicySpec } from '#api/ttlPolicy';
import { compilePolicy } from './compile.ts';
import {
  computeError,
  computeNotice,
  computeObstacle,
  computeOwnError,
  decide,
  decideForPolicy,
  describeDecisions,
  EXPIRES_ANNOTATION,
  type Standing,
} from './decide.ts';
import { annotated, at, clusterPolicy, compiled, policy, run, time } from './policy.testkit.ts';
import { isInScope } from './scope.ts';

type Spec = Partial<ClusterTTLPolicySpec>;
const TTL = 'lapse.dev/ttl';
const tolerance = seconds(30);
const expiry = (spec: Spec, object: KubeObject, now: Instant) =>
  decideForPolicy(compiled(spec), object, { now, tolerance });

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
const expired = (since: Instant) => ({ kind: 'expired', since });
const kept = (because: string, note?: RegExp) => ({
  kind: 'notApplicable',
  because,
  ...(note === undefined ? {} : { note: expect.stringMatching(note) }),
});
const error = (note: RegExp) => ({ kind: 'error', note: expect.stringMatching(note) });

describe('one policy', () => {
  const table: Record<string, [Spec, KubeObject, Instant, object]> = {
    'waits one millisecond before the deadline': [{}, run(0), (at(60) - 1) as Instant, waiting(at(60))],
    'expires exactly at the deadline': [{}, run(0), at(60), expired(at(60))],
    'expires at once with a TTL of zero': [{ ttl: '0' }, run(0), at(0), expired(at(0))],
    'is unfinished without a status': [
      {},
      run(undefined, { status: undefined as never }),
      at(99),
      kept('unfinished'),
    ],
    'keeps an object that is being deleted': [
      {},
      run(0, { metadata: { deletionTimestamp: time(1) } }),
      at(99),
      kept('being deleted'),
    ],

    'accepts an expression that returns a string': [
      { finishedAt: 'object.status.completionTime' },
      run(0),
      at(60),
      expired(at(60)),
    ],
    'accepts an expression that returns a timestamp': [
      { finishedAt: 'timestamp(object.status.completionTime)' },
      run(0),
      at(60),
      expired(at(60)),
    ],
    'rounds a fraction of a millisecond up': [
      { finishedAt: `timestamp("2026-01-01T00:00:00.000000001Z")` },
      run(0),
      at(60),
      { because: { finishedAt: 1767225600001 } },
    ],
    'treats null as unfinished': [
      { finishedAt: 'has(object.status.completionTime) ? object.status.completionTime : null' },
      run(undefined),
      at(99),
      kept('unfinished'),
    ],
    'treats optional.none() as unfinished': [
      { finishedAt: 'object.?status.?completionTime' },
      run(undefined),
      at(99),
      kept('unfinished'),
    ],
    'accepts an optional time': [
      { finishedAt: 'object.?status.?completionTime' },
      run(0),
      at(60),
      expired(at(60)),
    ],
    'treats a missing field as unfinished': [
      { finishedAt: 'object.status.completionTime' },
      run(undefined),
      at(99),
      kept('unfinished'),
    ],
    'treats an empty string as unfinished': [
      { finishedAt: 'object.status.t' },
      run(0, { status: { t: '' } }),
      at(99),
      kept('unfinished'),
    ],
    "treats Go's zero time as unfinished": [
      { finishedAt: 'object.status.t' },
      run(0, { status: { t: '0001-01-01T00:00:00Z' } }),
      at(99),
      kept('unfinished'),
    ],
    'treats the Unix epoch as unfinished': [
      { finishedAt: 'timestamp(object.status.n)' },
      run(0, { status: { n: 0 } }),
      at(99),
      kept('unfinished'),
    ],
    'reports an error for a string that is not a time': [
      { finishedAt: 'object.status.t' },
      run(0, { status: { t: 'yesterday' } }),
      at(99),
      error(/^spec.finishedAt: a text of 9 characters is not a time$/),
    ],
    'does not show a missing key of the data in the error': [
      { finishedAt: '{"a": "b"}[object.status.t] + string(timestamp(object.status.t))' },
      run(0, { status: { t: 'hunter2' } }),
      at(99),
      kept('unfinished'),
    ],
    'does not show a string of the data in a conversion error': [
      { finishedAt: 'timestamp(object.status.t)' },
      run(0, { status: { t: 'hunter2' } }),
      at(99),
      error(/^(?!.*hunter2)/),
    ],
    'reports an error for a number': [
      { finishedAt: 'object.status.t' },
      run(0, { status: { t: 5 } }),
      at(99),
      error(/not a time/),
    ],
    'reports an evaluation error': [
      { finishedAt: 'object.status.t.x[5]' },
      run(0, { status: { t: { x: [1] } } }),
      at(99),
      error(/index out of bounds/),
    ],
    'reports a division by zero': [
      { finishedAt: 'string(1 / object.status.n)' },
      run(0, { status: { n: 0 } }),
      at(99),
      error(/division by zero/),
    ],

    'uses status.completionTime first by default': [
      {},
      run(0, { status: { finishedAt: time(500) } }),
      at(60),
      expired(at(60)),
    ],
    'uses status.completionTimestamp second by default': [
      {},
      run(undefined, { status: { completionTimestamp: time(1) } }),
      at(61),
      expired(at(61)),
    ],
    'uses status.finishedAt third by default': [
      {},
      run(undefined, { status: { finishedAt: time(2) } }),
      at(62),
      expired(at(62)),
    ],
    'uses the condition Complete=True': [
      {},
      run(undefined, { status: condition('Complete', 'True', 3) }),
      at(63),
      expired(at(63)),
    ],
    'uses the condition Failed=True': [
      {},
      run(undefined, { status: condition('Failed', 'True', 3) }),
      at(63),
      expired(at(63)),
    ],
    'uses the condition Succeeded=True': [
      {},
      run(undefined, { status: condition('Succeeded', 'True', 3) }),
      at(63),
      expired(at(63)),
    ],
    'uses the completion time with Succeeded=False': [
      {},
      run(undefined, {
        status: { ...condition('Succeeded', 'False', 3, 'PipelineRunTimeout'), completionTime: time(5) },
      }),
      at(65),
      expired(at(65)),
    ],
    'keeps an object with Succeeded=False and no completion time': [
      {},
      run(undefined, { status: condition('Succeeded', 'False', 3, 'PipelineRunTimeout') }),
      at(99),
      error(/set spec.finishedAt/),
    ],
    'is unfinished with Succeeded=False and reason Running': [
      {},
      run(undefined, { status: condition('Succeeded', 'False', 3, 'Running') }),
      at(99),
      kept('unfinished'),
    ],
    'is unfinished with Succeeded=False and reason TargetsPending': [
      {},
      run(undefined, { status: condition('Succeeded', 'False', 3, 'TargetsPending') }),
      at(99),
      kept('unfinished'),
    ],
    'reports an error that names spec.finishedAt for Succeeded=False without a reason': [
      {},
      run(undefined, { status: condition('Succeeded', 'False', 3) }),
      at(99),
      error(/set spec.finishedAt/),
    ],
    'is unfinished with Succeeded=Unknown': [
      {},
      run(undefined, { status: condition('Succeeded', 'Unknown', 3) }),
      at(99),
      kept('unfinished'),
    ],
    'is unfinished with Complete=False or Failed=False': [
      {},
      run(undefined, { status: condition('Complete', 'False', 3) }),
      at(99),
      kept('unfinished'),
    ],
    'is unfinished with Suspended=True': [
      {},
      run(undefined, { status: condition('Suspended', 'True', 3) }),
      at(99),
      kept('unfinished'),
    ],
    'keeps an object whose terminal condition has no time': [
      {},
      run(undefined, { status: condition('Failed', 'True') }),
      at(99),
      kept('finish time unknown', /condition Failed/),
    ],
    'is unfinished if conditions is not a list': [
      {},
      run(undefined, { status: { conditions: { type: 'Failed' } } }),
      at(99),
      kept('unfinished'),
    ],
    'is unfinished if status is a string': [{}, { ...run(0), status: 'Done' }, at(99), kept('unfinished')],

    'ignores the finish with from: Created': [
      { from: 'Created', finishedAt: 'object.status.completionTime' },
      run(0),
      at(-40),
      expired(at(-40)),
    ],
    'waits one millisecond before the deadline with from: Created': [
      { from: 'Created' },
      run(undefined),
      (at(-40) - 1) as Instant,
      waiting(at(-40)),
    ],

    'uses ttlAfter.succeeded for a succeeded object': [
      BY_OUTCOME,
      run(0, { status: condition('Succeeded', 'True', 0) }),
      at(3600),
      expired(at(3600)),
    ],
    'uses ttlAfter.failed for a failed object': [
      BY_OUTCOME,
      run(0, { status: condition('Succeeded', 'False', 0) }),
      at(3600),
      waiting(at(72 * 3600)),
    ],
    'does not evaluate the outcome of an unfinished object': [
      BY_OUTCOME,
      run(undefined),
      at(99),
      kept('unfinished'),
    ],
    'keeps an object whose outcome cannot be evaluated': [
      BY_OUTCOME,
      run(0, { status: { conditions: 5 } }),
      at(9e9),
      error(/spec.succeeded/),
    ],
    'keeps an object whose outcome is not a bool': [
      { ...BY_OUTCOME, succeeded: 'object.status.x' },
      run(0, { status: { x: 'yes' } }),
      at(9e9),
      error(/no bool/),
    ],
    'makes no decision for an outcome without a TTL': [
      { ...BY_OUTCOME, ttlAfter: { succeeded: '1h' } },
      run(0, { status: condition('Succeeded', 'False', 0) }),
      at(9e9),
      kept('no TTL'),
    ],

    'ignores a longer TTL annotation without allowOverrides': [
      {},
      annotated(0, { [TTL]: '5m' }),
      at(60),
      expired(at(60)),
    ],
    'uses a longer TTL annotation with allowOverrides': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5m' }),
      at(60),
      waiting(at(300)),
    ],
    'uses a shorter TTL annotation with allowOverrides': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5s' }),
      at(5),
      expired(at(5)),
    ],
    'ignores a shorter TTL annotation without allowOverrides': [
      {},
      annotated(0, { [TTL]: '5s' }),
      at(5),
      waiting(at(60)),
    ],
    'uses an expires-at annotation with allowOverrides': [
      { allowOverrides: true },
      annotated(0, { [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      waiting(at(90)),
    ],
    'accepts an expires-at annotation in another time zone': [
      { allowOverrides: true },
      annotated(0, { [EXPIRES_ANNOTATION]: '2025-06-15T17:08:10+02:00' }),
      at(89),
      waiting(at(90)),
    ],
    'ignores an expires-at annotation without allowOverrides': [
      {},
      annotated(0, { [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      expired(at(60)),
    ],
    'keeps an unfinished object with an expires-at annotation': [
      { allowOverrides: true },
      annotated(undefined, { [EXPIRES_ANNOTATION]: time(1) }),
      at(99),
      kept('unfinished'),
    ],
    'uses the later of a TTL and an expires-at annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5m', [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      waiting(at(300)),
    ],
    'uses the later of an expires-at and a TTL annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5s', [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      waiting(at(90)),
    ],
    'accepts the TTL never without allowOverrides': [
      {},
      annotated(0, { [TTL]: 'never' }),
      at(9e9),
      kept('opted out'),
    ],
    'prefers the TTL never to an expires-at annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: 'never', [EXPIRES_ANNOTATION]: time(1) }),
      at(9e9),
      kept('opted out'),
    ],
    'prefers the TTL never to an unreadable expires-at annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: 'never', [EXPIRES_ANNOTATION]: 'tomorrow' }),
      at(9e9),
      kept('opted out'),
    ],
    'names expires-at if both annotations are due at the same time': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '90s', [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      { ...waiting(at(90)), because: { ttl: { kind: 'at', rule: `annotation ${EXPIRES_ANNOTATION}` } } },
    ],
    'prefers the TTL never to an evaluation error': [
      { finishedAt: 'object.status.t' },
      run(0, { status: { t: 5 }, metadata: { annotations: { [TTL]: 'never' } } }),
      at(9e9),
      kept('opted out'),
    ],
    'keeps an object with an unreadable TTL annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: 'nver' }),
      at(9e9),
      kept('invalid TTL', /invalid duration.*30m/),
    ],
    'keeps an object with an unreadable TTL annotation without allowOverrides': [
      {},
      annotated(0, { [TTL]: 'nver' }),
      at(9e9),
      kept('invalid TTL'),
    ],
    'keeps an object with a negative TTL annotation': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '-5m' }),
      at(9e9),
      kept('invalid TTL', /negative/),
    ],
    'keeps an object with an unreadable expires-at annotation': [
      { allowOverrides: true },
      annotated(0, { [EXPIRES_ANNOTATION]: 'tomorrow' }),
      at(9e9),
      kept('invalid TTL', /RFC 3339/),
    ],

    'waits longer for a finish in the future': [
      {},
      run(10),
      at(0),
      { kind: 'waiting', until: at(70), ahead: 10_000 },
    ],
    'holds an object whose finish is beyond the tolerance': [
      {},
      run(31),
      at(0),
      { kind: 'held', ahead: 31_000 },
    ],
    'does not hold an object whose finish is exactly at the tolerance': [
      {},
      run(30),
      at(0),
      { kind: 'waiting', until: at(90) },
    ],
  };
  test.each(Object.entries(table))('%s', (_rule, [spec, object, now, expected]) => {
    expect(expiry(spec, object, now)).toMatchObject(expected);
  });
});

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

describe('scope', () => {
  const labels = (namespace: string) => (namespace === 'gone' ? undefined : { tier: namespace });
  const inScope = (spec: Spec, namespace: string | undefined, name = 'x') => {
    const result = compilePolicy(clusterPolicy(spec));
    if (result.kind === 'invalid') throw new Error('invalid');
    return isInScope(result.policy, { name, ...(namespace === undefined ? {} : { namespace }) }, labels);
  };
  test.each<[string, Spec, string | undefined, boolean]>([
    ['kube-* is excluded by default', {}, 'kube-system', false],
    ['other namespaces are included by default', {}, 'my-kube-tools', true],
    ['an empty list excludes nothing', { excludedNamespaces: [] }, 'kube-system', true],
    ['a name excludes itself', { excludedNamespaces: ['prod'] }, 'prod', false],
    ['a name does not exclude a longer name', { excludedNamespaces: ['prod'] }, 'prod-2', true],
    ['a pattern may contain several stars', { excludedNamespaces: ['a*b*c'] }, 'a-b-c', false],
    ['the parts of a pattern do not overlap', { excludedNamespaces: ['ab*ba'] }, 'aba', true],
    ['a star alone excludes all', { excludedNamespaces: ['*'] }, 'x', false],
    [
      'a pattern with many stars is matched in linear time',
      { excludedNamespaces: ['*a'.repeat(31)] },
      `${'a'.repeat(30)}b`,
      true,
    ],
    [
      'a namespace with the selected label is included',
      { namespaceSelector: { matchLabels: { tier: 'x' } } },
      'x',
      true,
    ],
    [
      'a namespace with another label is not included',
      { namespaceSelector: { matchLabels: { tier: 'x' } } },
      'y',
      false,
    ],
    [
      'an unknown namespace is not included',
      { namespaceSelector: { matchLabels: { tier: 'x' } } },
      'gone',
      false,
    ],
    ['an empty selector includes all namespaces', { namespaceSelector: {} }, 'gone', true],
    ['cluster-scoped objects are included', {}, undefined, true],
  ])('%s', (_rule, spec, namespace, expected) => {
    expect(inScope(spec, namespace)).toBe(expected);
  });
  test('a namespaced policy acts in its namespace only', () => {
    expect(
      [{ namespace: 'ci' }, { namespace: 'other' }, { namespace: 'kube-system' }, {}].map((home) =>
        isInScope(compiled(), { name: 'x', ...home }, () => ({})),
      ),
    ).toEqual([true, false, false, false]);
  });

  describe('a Namespace object', () => {
    const NAMESPACES = { target: { apiVersion: 'v1', kind: 'Namespace' } };
    test.each([
      ['kube-system', false],
      ['prod', true],
    ])('counts as being in itself: %s', (name, expected) =>
      expect(inScope(NAMESPACES, undefined, name)).toBe(expected),
    );
    test('is selected by its own labels with both selectors', () => {
      const result = compilePolicy(
        clusterPolicy({
          ...NAMESPACES,
          selector: { matchLabels: { team: 'web' } },
          namespaceSelector: { matchLabels: { tier: 'preview' } },
        }),
      );
      expect(result).toMatchObject({ policy: { labelSelector: 'team=web,tier=preview' } });
      expect(result).not.toHaveProperty('policy.namespaceLabels');
    });
    test('of another API group does not count as being in itself', () => {
      const foreign = { target: { apiVersion: 'example.com/v1', kind: 'Namespace' } };
      expect(inScope(foreign, undefined, 'kube-system')).toBe(true);
    });
  });
});

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

test('an expression that exceeds the cost limit fails quickly', () => {
  const bomb =
    'object.status.l.map(a, object.status.l.map(b, object.status.l.map(c, a + b + c)))[0][0][0] == 1 ? "" : ""';
  const l = Array.from({ length: 1000 }, (_, i) => i);
  expect(expiry({ finishedAt: bomb }, run(0, { status: { l } }), at(0))).toMatchObject(error(/cost|limit/));
});

test('TTLs of decades are exact to the millisecond', () => {
  expect(expiry({ ttl: '2562047h' }, run(0), at(0))).toMatchObject({ kind: 'waiting' });
  expect(expiry({ ttl: '1ns' }, run(0), at(0))).toMatchObject({ kind: 'waiting', until: at(0) + 1 });
});
