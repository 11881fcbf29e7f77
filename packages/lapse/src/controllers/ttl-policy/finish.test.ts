import type { Instant } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import { condition, error, expired, expiry, kept, type Spec } from './expected.testkit.ts';
import { at, run, time } from './policy.testkit.ts';

describe('the finish of an object', () => {
  const table: Record<string, [Spec, KubeObject, Instant, object]> = {
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
