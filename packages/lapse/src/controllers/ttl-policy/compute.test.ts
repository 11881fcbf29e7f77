import { type Instant, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { ClusterTTLPolicySpec } from '#api/ttlPolicy';
import { compilePolicy, isInScope } from './compile.ts';
import {
  computeEnd,
  computeError,
  computeNotice,
  computeObstacle,
  computeOwnError,
  computeVerdict,
  describeOpinions,
  EXPIRES_ANNOTATION,
  type Standing,
} from './compute.ts';
import { annotated, at, clusterPolicy, compiled, policy, run, time } from './policy.testkit.ts';

type Spec = Partial<ClusterTTLPolicySpec>;
const TTL = 'lapse.dev/ttl';
const tolerance = seconds(30);
const verdict = (spec: Spec, object: KubeObject, now: Instant) =>
  computeVerdict(compiled(spec), object, { now, tolerance });

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
    'one millisecond early, it waits': [{}, run(0), (at(60) - 1) as Instant, waiting(at(60))],
    'exactly on the deadline, it has expired': [{}, run(0), at(60), expired(at(60))],
    'a TTL of zero ends at once': [{ ttl: '0' }, run(0), at(0), expired(at(0))],
    'unfinished without a status': [
      {},
      run(undefined, { status: undefined as never }),
      at(99),
      kept('unfinished'),
    ],
    'being deleted already': [
      {},
      run(0, { metadata: { deletionTimestamp: time(1) } }),
      at(99),
      kept('being deleted'),
    ],

    'an expression that gives a text': [
      { finishedAt: 'object.status.completionTime' },
      run(0),
      at(60),
      expired(at(60)),
    ],
    'an expression that gives a timestamp': [
      { finishedAt: 'timestamp(object.status.completionTime)' },
      run(0),
      at(60),
      expired(at(60)),
    ],
    'a fraction of a millisecond is never early': [
      { finishedAt: `timestamp("2026-01-01T00:00:00.000000001Z")` },
      run(0),
      at(60),
      { because: { finishedAt: 1767225600001 } },
    ],
    'null is unfinished': [
      { finishedAt: 'has(object.status.completionTime) ? object.status.completionTime : null' },
      run(undefined),
      at(99),
      kept('unfinished'),
    ],
    'none is unfinished': [
      { finishedAt: 'object.?status.?completionTime' },
      run(undefined),
      at(99),
      kept('unfinished'),
    ],
    'some is a time': [{ finishedAt: 'object.?status.?completionTime' }, run(0), at(60), expired(at(60))],
    'a missing field is unfinished': [
      { finishedAt: 'object.status.completionTime' },
      run(undefined),
      at(99),
      kept('unfinished'),
    ],
    'an empty text is unfinished': [
      { finishedAt: 'object.status.t' },
      run(0, { status: { t: '' } }),
      at(99),
      kept('unfinished'),
    ],
    "Go's zero time is unfinished": [
      { finishedAt: 'object.status.t' },
      run(0, { status: { t: '0001-01-01T00:00:00Z' } }),
      at(99),
      kept('unfinished'),
    ],
    'and so is that of Unix': [
      { finishedAt: 'timestamp(object.status.n)' },
      run(0, { status: { n: 0 } }),
      at(99),
      kept('unfinished'),
    ],
    'a text that is no time is an error': [
      { finishedAt: 'object.status.t' },
      run(0, { status: { t: 'yesterday' } }),
      at(99),
      error(/^spec.finishedAt: a text of 9 characters is not a time$/),
    ],
    'a key of the data that is missing is not named': [
      { finishedAt: '{"a": "b"}[object.status.t] + string(timestamp(object.status.t))' },
      run(0, { status: { t: 'hunter2' } }),
      at(99),
      kept('unfinished'),
    ],
    'a text of the data that cannot be converted is not named': [
      { finishedAt: 'timestamp(object.status.t)' },
      run(0, { status: { t: 'hunter2' } }),
      at(99),
      error(/^(?!.*hunter2)/),
    ],
    'a number is an error': [
      { finishedAt: 'object.status.t' },
      run(0, { status: { t: 5 } }),
      at(99),
      error(/not a time/),
    ],
    'an error while evaluating is an error': [
      { finishedAt: 'object.status.t.x[5]' },
      run(0, { status: { t: { x: [1] } } }),
      at(99),
      error(/index out of bounds/),
    ],
    'division by zero is an error': [
      { finishedAt: 'string(1 / object.status.n)' },
      run(0, { status: { n: 0 } }),
      at(99),
      error(/division by zero/),
    ],

    'by default: status.completionTime first': [
      {},
      run(0, { status: { finishedAt: time(500) } }),
      at(60),
      expired(at(60)),
    ],
    'then status.completionTimestamp': [
      {},
      run(undefined, { status: { completionTimestamp: time(1) } }),
      at(61),
      expired(at(61)),
    ],
    'then status.finishedAt': [
      {},
      run(undefined, { status: { finishedAt: time(2) } }),
      at(62),
      expired(at(62)),
    ],
    'then a true Complete': [
      {},
      run(undefined, { status: condition('Complete', 'True', 3) }),
      at(63),
      expired(at(63)),
    ],
    'or a true Failed': [
      {},
      run(undefined, { status: condition('Failed', 'True', 3) }),
      at(63),
      expired(at(63)),
    ],
    'or a Succeeded that is true': [
      {},
      run(undefined, { status: condition('Succeeded', 'True', 3) }),
      at(63),
      expired(at(63)),
    ],
    'a Succeeded that is false with a completion time has finished at that time': [
      {},
      run(undefined, {
        status: { ...condition('Succeeded', 'False', 3, 'PipelineRunTimeout'), completionTime: time(5) },
      }),
      at(65),
      expired(at(65)),
    ],
    'a Succeeded that is false without a completion time is kept, whatever its reason': [
      {},
      run(undefined, { status: condition('Succeeded', 'False', 3, 'PipelineRunTimeout') }),
      at(99),
      error(/set spec.finishedAt/),
    ],
    'a Succeeded that is false because it is Running is unfinished': [
      {},
      run(undefined, { status: condition('Succeeded', 'False', 3, 'Running') }),
      at(99),
      kept('unfinished'),
    ],
    'and so is one that is false because of TargetsPending': [
      {},
      run(undefined, { status: condition('Succeeded', 'False', 3, 'TargetsPending') }),
      at(99),
      kept('unfinished'),
    ],
    'a Succeeded that is false without a reason may mean progress: the policy says which field to set': [
      {},
      run(undefined, { status: condition('Succeeded', 'False', 3) }),
      at(99),
      error(/set spec.finishedAt/),
    ],
    'a Succeeded that is unknown is unfinished': [
      {},
      run(undefined, { status: condition('Succeeded', 'Unknown', 3) }),
      at(99),
      kept('unfinished'),
    ],
    'a false Complete or Failed is unfinished': [
      {},
      run(undefined, { status: condition('Complete', 'False', 3) }),
      at(99),
      kept('unfinished'),
    ],
    'Suspended is unfinished': [
      {},
      run(undefined, { status: condition('Suspended', 'True', 3) }),
      at(99),
      kept('unfinished'),
    ],
    'a condition without a time': [
      {},
      run(undefined, { status: condition('Failed', 'True') }),
      at(99),
      kept('finish time unknown', /condition Failed/),
    ],
    'conditions that are no list': [
      {},
      run(undefined, { status: { conditions: { type: 'Failed' } } }),
      at(99),
      kept('unfinished'),
    ],
    'a status that is a text': [{}, { ...run(0), status: 'Done' }, at(99), kept('unfinished')],

    'from Created ignores the finish': [
      { from: 'Created', finishedAt: 'object.status.completionTime' },
      run(0),
      at(-40),
      expired(at(-40)),
    ],
    'from Created, one millisecond early': [
      { from: 'Created' },
      run(undefined),
      (at(-40) - 1) as Instant,
      waiting(at(-40)),
    ],

    'succeeded: the short TTL': [
      BY_OUTCOME,
      run(0, { status: condition('Succeeded', 'True', 0) }),
      at(3600),
      expired(at(3600)),
    ],
    'failed: the long TTL': [
      BY_OUTCOME,
      run(0, { status: condition('Succeeded', 'False', 0) }),
      at(3600),
      waiting(at(72 * 3600)),
    ],
    'the outcome of what is unfinished is not asked': [
      BY_OUTCOME,
      run(undefined),
      at(99),
      kept('unfinished'),
    ],
    'an outcome that cannot be told keeps it': [
      BY_OUTCOME,
      run(0, { status: { conditions: 5 } }),
      at(9e9),
      error(/spec.succeeded/),
    ],
    'an outcome that is no bool keeps it': [
      { ...BY_OUTCOME, succeeded: 'object.status.x' },
      run(0, { status: { x: 'yes' } }),
      at(9e9),
      error(/no bool/),
    ],
    'an outcome without a TTL: no opinion': [
      { ...BY_OUTCOME, ttlAfter: { succeeded: '1h' } },
      run(0, { status: condition('Succeeded', 'False', 0) }),
      at(9e9),
      kept('no TTL'),
    ],

    'a longer TTL on the object, not allowed': [{}, annotated(0, { [TTL]: '5m' }), at(60), expired(at(60))],
    'a longer TTL on the object, allowed': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5m' }),
      at(60),
      waiting(at(300)),
    ],
    'a shorter one, allowed': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5s' }),
      at(5),
      expired(at(5)),
    ],
    'a shorter one, not allowed': [{}, annotated(0, { [TTL]: '5s' }), at(5), waiting(at(60))],
    'an end of its own, allowed': [
      { allowOverrides: true },
      annotated(0, { [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      waiting(at(90)),
    ],
    'an end of its own in another zone': [
      { allowOverrides: true },
      annotated(0, { [EXPIRES_ANNOTATION]: '2025-06-15T17:08:10+02:00' }),
      at(89),
      waiting(at(90)),
    ],
    'an end of its own, not allowed': [
      {},
      annotated(0, { [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      expired(at(60)),
    ],
    'an end of its own ends nothing unfinished': [
      { allowOverrides: true },
      annotated(undefined, { [EXPIRES_ANNOTATION]: time(1) }),
      at(99),
      kept('unfinished'),
    ],
    'both: the one that keeps it longer': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5m', [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      waiting(at(300)),
    ],
    'both, the other way round': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '5s', [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      waiting(at(90)),
    ],
    'never needs no permission': [{}, annotated(0, { [TTL]: 'never' }), at(9e9), kept('opted out')],
    'never, though an end is written beside it': [
      { allowOverrides: true },
      annotated(0, { [TTL]: 'never', [EXPIRES_ANNOTATION]: time(1) }),
      at(9e9),
      kept('opted out'),
    ],
    'never, though an end that cannot be read is written beside it': [
      { allowOverrides: true },
      annotated(0, { [TTL]: 'never', [EXPIRES_ANNOTATION]: 'tomorrow' }),
      at(9e9),
      kept('opted out'),
    ],
    'of a TTL and an end that are due together, the end is named': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '90s', [EXPIRES_ANNOTATION]: time(90) }),
      at(60),
      { ...waiting(at(90)), because: { ttl: { kind: 'at', rule: `annotation ${EXPIRES_ANNOTATION}` } } },
    ],
    'never, though it cannot be judged': [
      { finishedAt: 'object.status.t' },
      run(0, { status: { t: 5 }, metadata: { annotations: { [TTL]: 'never' } } }),
      at(9e9),
      kept('opted out'),
    ],
    'a TTL nobody can read keeps it': [
      { allowOverrides: true },
      annotated(0, { [TTL]: 'nver' }),
      at(9e9),
      kept('invalid TTL', /invalid duration.*30m/),
    ],
    'even where overrides are not allowed': [
      {},
      annotated(0, { [TTL]: 'nver' }),
      at(9e9),
      kept('invalid TTL'),
    ],
    'a negative one keeps it': [
      { allowOverrides: true },
      annotated(0, { [TTL]: '-5m' }),
      at(9e9),
      kept('invalid TTL', /negative/),
    ],
    'an end nobody can read keeps it': [
      { allowOverrides: true },
      annotated(0, { [EXPIRES_ANNOTATION]: 'tomorrow' }),
      at(9e9),
      kept('invalid TTL', /RFC 3339/),
    ],

    'a finish in the future waits the longer': [
      {},
      run(10),
      at(0),
      { kind: 'waiting', until: at(70), ahead: 10_000 },
    ],
    'beyond the tolerance it is held': [{}, run(31), at(0), { kind: 'held', ahead: 31_000 }],
    'exactly at the tolerance it is not': [{}, run(30), at(0), { kind: 'waiting', until: at(90) }],
  };
  test.each(Object.entries(table))('%s', (_rule, [spec, object, now, expected]) => {
    expect(verdict(spec, object, now)).toMatchObject(expected);
  });
});

describe('several policies', () => {
  const moment = (now: Instant) => ({ now, tolerance });
  const end = (specs: readonly Spec[], object: KubeObject, now: Instant) =>
    computeEnd(
      specs.map((spec, i) => ({ policy: compiled(spec, { name: `p${i}` }), object })),
      moment(now),
    );

  test('the one that keeps it longest wins', () => {
    expect(end([{ ttl: '1m' }, { ttl: '5m' }, { ttl: '2m' }], run(0), at(200))).toMatchObject(
      waiting(at(300)),
    );
    expect(end([{ ttl: '1m' }, { ttl: '5m' }], run(0), at(300))).toMatchObject({
      kind: 'expired',
      since: at(300),
      by: { name: 'TTLPolicy ci/p1' },
    });
  });
  test('the explanation names all of them', () => {
    const { opinions } = end([{ ttl: '1m' }, { from: 'Created', ttl: '1h' }], run(0), at(100)) as never;
    expect(describeOpinions(opinions)).toBe(
      'TTLPolicy ci/p0: finished 2025-06-15T15:06:40Z (status.completionTime), TTL 1m0s (spec.ttl): ended 2025-06-15T15:07:40Z; ' +
        'TTLPolicy ci/p1: finished 2025-06-15T15:05:00Z (created), TTL 1h0m0s (spec.ttl): ends 2025-06-15T16:05:00Z',
    );
  });
  test.each<[string, Spec[], KubeObject, object]>([
    ['no policy, no opinion', [], run(0), { kind: 'none' }],
    [
      'outcomes shared out between two policies do not block each other',
      [
        { ...BY_OUTCOME, ttlAfter: { succeeded: '1m' } },
        { ...BY_OUTCOME, ttlAfter: { failed: '2m' } },
      ],
      run(0, { status: condition('Succeeded', 'False', 0) }),
      { kind: 'expired', since: at(120) },
    ],
    [
      'what one cannot judge, nobody ends',
      [{ ttl: '1m' }, { finishedAt: 'object.status.n' }],
      run(0, { status: { n: 1 } }),
      { kind: 'kept', because: 'error' },
    ],
    [
      'unfinished for one policy, past the deadline by age of another: it is deleted',
      [{ finishedAt: 'object.status.x' }, { from: 'Created' }],
      run(0),
      { kind: 'expired', since: at(-40), by: { name: 'TTLPolicy ci/p1' } },
    ],
    [
      'unfinished for one policy, finished for another: it is kept',
      [{ finishedAt: 'object.status.x' }, {}],
      run(0),
      { kind: 'kept', because: 'unfinished' },
    ],
    [
      'an opt-out outlasts every other reason',
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
        `where the policy that enforces has no deadline, one in ${mode} decides and deletes nothing`,
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
      'of two that enforce, the last to agree',
      [
        { ttl: '1m', maxDeletionsPerMinute: 1 },
        { ttl: '2m', maxDeletionsPerMinute: 2 },
      ],
      run(0),
      { kind: 'expired', by: { perMinute: 2 } },
    ],
    [
      'a dry run comes before a pause',
      [
        { ttl: '5m', mode: 'Paused' },
        { ttl: '1m', mode: 'DryRun' },
      ],
      run(0),
      { kind: 'expired', since: at(60), by: { mode: 'DryRun' } },
    ],
    ['a pause alone', [{ mode: 'Paused' }], run(0), { kind: 'expired', by: { mode: 'Paused' } }],
    [
      'allowed by one, the override counts for that one',
      [{ ttl: '1m' }, { ttl: '1m', allowOverrides: true }],
      annotated(0, { [TTL]: '1000h' }),
      { kind: 'waiting', until: at(3_600_000) },
    ],
    [
      'not believed by one, held for all',
      [{ ttl: '1000h', from: 'Created' }, { finishedAt: 'object.status.t' }],
      run(0, { status: { t: time(999_999) } }),
      { kind: 'waiting', held: true, until: at(999_969), ends: at(3_599_900) },
    ],
    [
      'its end is that of the last, though another is not believed',
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
    ['kube-* is excluded unless told', {}, 'kube-system', false],
    ['others are not', {}, 'my-kube-tools', true],
    ['an empty list excludes nothing', { excludedNamespaces: [] }, 'kube-system', true],
    ['a name excludes itself', { excludedNamespaces: ['prod'] }, 'prod', false],
    ['and nothing that begins like it', { excludedNamespaces: ['prod'] }, 'prod-2', true],
    ['stars anywhere', { excludedNamespaces: ['a*b*c'] }, 'a-b-c', false],
    ['parts do not overlap', { excludedNamespaces: ['ab*ba'] }, 'aba', true],
    ['a star alone excludes all', { excludedNamespaces: ['*'] }, 'x', false],
    ['many stars are no bomb', { excludedNamespaces: ['*a'.repeat(31)] }, `${'a'.repeat(30)}b`, true],
    ['by label', { namespaceSelector: { matchLabels: { tier: 'x' } } }, 'x', true],
    ['by another label', { namespaceSelector: { matchLabels: { tier: 'x' } } }, 'y', false],
    ['a namespace nobody knows', { namespaceSelector: { matchLabels: { tier: 'x' } } }, 'gone', false],
    ['an empty selector means all', { namespaceSelector: {} }, 'gone', true],
    ['cluster-scoped objects have no namespace', {}, undefined, true],
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

  describe('a Namespace is in itself', () => {
    const NAMESPACES = { target: { apiVersion: 'v1', kind: 'Namespace' } };
    test.each([
      ['kube-system', false],
      ['prod', true],
    ])('%s', (name, expected) => expect(inScope(NAMESPACES, undefined, name)).toBe(expected));
    test('and both selectors mean its own labels', () => {
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
    test('one of another group is not', () => {
      const foreign = { target: { apiVersion: 'example.com/v1', kind: 'Namespace' } };
      expect(inScope(foreign, undefined, 'kube-system')).toBe(true);
    });
  });
});

describe('what the status of a policy says about an object that cannot be judged', () => {
  const [good, bad] = [
    compiled({}, { name: 'good' }),
    compiled({ finishedAt: 'object.status.n' }, { name: 'bad' }),
  ];
  const object = run(0, { status: { n: 1 } });
  const end = computeEnd(
    [good, bad].map((policy) => ({ policy, object })),
    { now: at(99), tolerance },
  );
  const opinions = end.kind === 'kept' ? end.opinions : [];
  test.each([
    ['its own error', bad, 'spec.finishedAt: a value of type number is not a time'],
    [
      "another's, by its name",
      good,
      'waits for TTLPolicy ci/bad, which cannot judge it: spec.finishedAt: a value of type number is not a time',
    ],
  ])('%s', (_name, policy, expected) => expect(computeError(opinions, policy)).toBe(expected));
});

describe('the error of a policy that had no effect', () => {
  const broken = { finishedAt: 'object.status.n' };
  const errorOf = (specs: readonly Spec[], index: number) => {
    const policies = specs.map((spec, i) => compiled(spec, { name: `p${i}` }));
    const object = run(0, { status: { n: 1 } });
    const end = computeEnd(
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
    computeNotice(computeEnd([{ policy: compiled(spec), object }], { now: at(99), tolerance }));
  test.each<[string, KubeObject, Spec, object | undefined]>([
    ['names an invalid TTL', annotated(0, { [TTL]: 'nver' }), {}, { reason: 'InvalidTTL' }],
    [
      'names a finish without a time',
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
    ['is not written while it is unfinished', run(undefined), {}, undefined],
    ['is not written when it has expired', run(0), {}, undefined],
    [
      'is not written when no policy has a TTL for it',
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

describe('what people are told about a finish in the future', () => {
  test.each([
    ['nothing about a second of difference', 0, undefined],
    ['more than that', -0.001, 'FinishInFuture'],
  ])('%s', (_name, now, reason) => {
    const end = computeEnd([{ policy: compiled(), object: run(1) }], { now: at(now), tolerance });
    expect(computeNotice(end)?.reason).toBe(reason);
  });
});

test.each(['DryRun', 'Paused'] as const)(
  'a policy in %s that cannot be understood holds no other up',
  (mode) => {
    expect(computeObstacle([policy({ mode })], () => 'broken')).toBeUndefined();
  },
);

test.each<[string, Standing, object | undefined]>([
  ['a policy whose targets are being read holds up the deletion', 'pending', { kind: 'pending' }],
  [
    'a policy that cannot read its targets holds up the deletion and is named',
    'blind',
    { kind: 'lasting', note: expect.stringMatching(/^waits for TTLPolicy ci\/runs, which cannot read/) },
  ],
  [
    'a policy that cannot be understood holds up the deletion and is named',
    'broken',
    { kind: 'lasting', note: 'waits for TTLPolicy ci/runs, which cannot be understood' },
  ],
  ['a refused policy holds up nothing', 'refused', undefined],
  ['a policy that is ready holds up nothing', 'ready', undefined],
])('%s', (_rule, standing, expected) => {
  const found = computeObstacle([policy()], () => standing);
  if (expected === undefined) expect(found).toBeUndefined();
  else expect(found).toMatchObject(expected);
});

test('a policy that is being deleted is in nobody’s way; others that are not understood are', () => {
  const pending = () => 'pending' as const;
  const leaving = policy({}, { deletionTimestamp: time(0) });
  expect([computeObstacle([leaving], pending), computeObstacle([leaving, policy()], pending)]).toEqual([
    undefined,
    { kind: 'pending', policy: policy() },
  ]);
});

test('an expression that costs too much is an error, soon', () => {
  const bomb =
    'object.status.l.map(a, object.status.l.map(b, object.status.l.map(c, a + b + c)))[0][0][0] == 1 ? "" : ""';
  const l = Array.from({ length: 1000 }, (_, i) => i);
  expect(verdict({ finishedAt: bomb }, run(0, { status: { l } }), at(0))).toMatchObject(error(/cost|limit/));
});

test('TTLs of decades keep their milliseconds', () => {
  expect(verdict({ ttl: '2562047h' }, run(0), at(0))).toMatchObject({ kind: 'waiting' });
  expect(verdict({ ttl: '1ns' }, run(0), at(0))).toMatchObject({ kind: 'waiting', until: at(0) + 1 });
});
