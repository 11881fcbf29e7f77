import { type Instant, seconds } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { ClusterTTLPolicySpec } from '#api/ttlPolicy';
import { EXPIRES_ANNOTATION } from '#expiry/ttlAnnotation';
import { decideForPolicy } from './decide.ts';
import { annotated, at, compiled, run, time } from './policy.testkit.ts';

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
