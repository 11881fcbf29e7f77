import type { Instant } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import { condition, error, expired, expiry, kept, type Spec, waiting } from './expected.testkit.ts';
import { at, run, time } from './policy.testkit.ts';

const SUCCEEDED = 'object.status.conditions.exists(c, c.type == "Succeeded" && c.status == "True")';
const BY_OUTCOME: Spec = { succeeded: SUCCEEDED, ttlAfter: { succeeded: '1h', failed: '72h' } };

describe('the decision of one policy', () => {
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

test('TTLs of decades are exact to the millisecond', () => {
  expect(expiry({ ttl: '2562047h' }, run(0), at(0))).toMatchObject({ kind: 'waiting' });
  expect(expiry({ ttl: '1ns' }, run(0), at(0))).toMatchObject({ kind: 'waiting', until: at(0) + 1 });
});
