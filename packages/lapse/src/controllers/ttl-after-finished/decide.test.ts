import type { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import { describe, expect, test } from 'vitest';
import { computeTerminating } from '#deletion/expirer';
import { describeExpiry } from '#expiry/expiry';
import { jobs } from '#expiry/job';
import { pods } from '#expiry/pod';
import { computeNotice, decideExpiry, type ExpiryDecision, isFinishedWithTtl } from './decide.ts';
import { at, ended, expired, moment, not, owner, pod, status, time, waiting } from './expected.testkit.ts';
import { job } from './ttl.testkit.ts';

describe("upstream's cases (TestTimeLeft), by number", () => {
  test.each<[string, Job, number, object]>([
    ['1. unfinished, TTL 10', job({ ttl: 10 }), 0, not('unfinished')],
    ['2. completed now, no TTL', job({ finishedAt: time(0) }), 0, not('no TTL')],
    ['3. completed now, TTL 0', job({ ttl: 0, finishedAt: time(0) }), 0, expired(0)],
    ['4. completed now, TTL 10', job({ ttl: 10, finishedAt: time(0) }), 0, waiting(10)],
    ['5. completed 10 s ago, TTL 15', job({ ttl: 15, finishedAt: time(-10) }), 0, waiting(5)],
    ['6. failed now, no TTL', job({ finishedAt: time(0), how: 'Failed' }), 0, not('no TTL')],
    ['7. failed now, TTL 0', job({ ttl: 0, finishedAt: time(0), how: 'Failed' }), 0, expired(0)],
    ['8. failed now, TTL 10', job({ ttl: 10, finishedAt: time(0), how: 'Failed' }), 0, waiting(10)],
    ['9. failed 10 s ago, TTL 15', job({ ttl: 15, finishedAt: time(-10), how: 'Failed' }), 0, waiting(5)],
    ['10. a negative TTL, if one is ever seen', job({ ttl: -1, finishedAt: time(0) }), 9, not('invalid TTL')],
  ])('%s', (_name, object, now, expected) => {
    expect(decideExpiry(jobs, object, moment(now))).toMatchObject(expected);
  });

  test('14. the TTL is part of the explanation', () => {
    const decision = decideExpiry(jobs, job({ ttl: 30, finishedAt: time(0) }), moment(0));
    expect(decision.kind === 'exempt' ? '' : describeExpiry(decision)).toBe(
      'finished 2026-01-01T12:00:00Z (condition Complete), TTL 30s (spec.ttlSecondsAfterFinished): ends 2026-01-01T12:00:30Z',
    );
  });
});

describe('Jobs', () => {
  const withStatus = (status: Job['status'], ttl = 10): Job => ({
    ...job({ ttl }),
    ...(status ? { status } : {}),
  });
  test.each<[string, Job, number, object]>([
    [
      'an unreadable annotation keeps the Job',
      job({ ttl: 10, finishedAt: time(0), metadata: { annotations: { 'lapse.dev/ttl': 'Never' } } }),
      99,
      not('invalid TTL'),
    ],
    [
      'a duration in the annotation is for policies and is ignored',
      job({ ttl: 10, finishedAt: time(0), metadata: { annotations: { 'lapse.dev/ttl': '1h' } } }),
      99,
      expired(10),
    ],
    [
      'without a TTL the annotation is ignored',
      job({ finishedAt: time(0), metadata: { annotations: { 'lapse.dev/ttl': 'Never' } } }),
      99,
      not('no TTL'),
    ],
    ['a suspended Job has not finished', withStatus(status(['Suspended', 'True', 0])), 99, not('unfinished')],
    [
      'SuccessCriteriaMet is not finished',
      withStatus(status(['SuccessCriteriaMet', 'True', 0])),
      99,
      not('unfinished'),
    ],
    [
      'FailureTarget is not finished',
      withStatus(status(['FailureTarget', 'True', 0])),
      99,
      not('unfinished'),
    ],
    ['Complete=False is not finished', withStatus(status(['Complete', 'False', 0])), 99, not('unfinished')],
    [
      'Complete=Unknown is not finished',
      withStatus(status(['Complete', 'Unknown', 0])),
      99,
      not('unfinished'),
    ],
    [
      'Complete and Failed are both True: the first in the list counts',
      withStatus(status(['Failed', 'True', 5], ['Complete', 'True', 1])),
      12,
      waiting(15),
    ],
    [
      'the first condition that is True counts, not the first in the list',
      withStatus(status(['Failed', 'False', 5], ['Complete', 'True', 1])),
      12,
      expired(11),
    ],
    [
      'a condition without transition time: the Job is kept',
      withStatus(status(['Complete', 'True'])),
      99,
      not('finish time unknown'),
    ],
    [
      'the first terminal condition has no time: the second is ignored',
      withStatus(status(['Failed', 'True'], ['Complete', 'True', 1])),
      99,
      not('finish time unknown'),
    ],
    [
      'the zero time of Go counts as missing',
      job({ ttl: 1, finishedAt: '0001-01-01T00:00:00Z' }),
      99,
      not('finish time unknown'),
    ],
    [
      'the Unix epoch counts as missing',
      job({ ttl: 1, finishedAt: '1970-01-01T00:00:00Z' }),
      99,
      not('finish time unknown'),
    ],
    [
      'an unreadable time counts as missing',
      job({ ttl: 1, finishedAt: 'yesterday' }),
      99,
      not('finish time unknown'),
    ],
    ['a finish in the future lengthens the wait', job({ ttl: 10, finishedAt: time(20) }), 0, waiting(30)],
    [
      'a finish beyond the tolerated skew is held',
      job({ ttl: 10, finishedAt: time(3600) }),
      0,
      { kind: 'held', until: at(3570) },
    ],
    ['a TTL of 68 years waits', job({ ttl: 2 ** 31 - 1, finishedAt: time(0) }), 0, waiting(2 ** 31 - 1)],
    ['a TTL above int32 is invalid', job({ ttl: 2 ** 31, finishedAt: time(0) }), 1e12, not('invalid TTL')],
    ['a TTL of half a second is invalid', job({ ttl: 0.5, finishedAt: time(0) }), 9, not('invalid TTL')],
    [
      'opted out',
      job({ ttl: 0, finishedAt: time(0), metadata: { annotations: { 'lapse.dev/ttl': 'never' } } }),
      99,
      not('opted out'),
    ],
    [
      'another annotation value is not an opt-out',
      job({ ttl: 0, finishedAt: time(0), metadata: { annotations: { 'lapse.dev/ttl': '1h' } } }),
      0,
      expired(0),
    ],
    [
      'being deleted',
      job({ ttl: 0, finishedAt: time(0), metadata: { deletionTimestamp: time(0) } }),
      9,
      not('being deleted'),
    ],
    [
      'an owner does not keep the Job',
      job({
        ttl: 0,
        finishedAt: time(0),
        metadata: {
          ownerReferences: [
            { apiVersion: 'batch/v1', kind: 'CronJob', name: 'c', uid: 'x', controller: true },
          ],
        },
      }),
      0,
      expired(0),
    ],
    [
      'spec.managedBy is ignored',
      { ...job({ ttl: 5, finishedAt: time(0) }), spec: { ttlSecondsAfterFinished: 5, managedBy: 'kueue' } },
      5,
      expired(5),
    ],
  ])('%s', (_name, object, now, expected) => {
    expect(decideExpiry(jobs, object, moment(now))).toMatchObject(expected);
  });
});

describe('a Pod that is exempt because a Job controls it', () => {
  const ofJob = owner('Job', 'batch/v1');
  const done = { phase: 'Succeeded' };
  const exempt = { kind: 'exempt', reason: 'OwnedByJob' };
  test.each<[string, Pod, object]>([
    ['is exempt when its TTL has expired', pod('5', { ...done, containerStatuses: ended(0) }, ofJob), exempt],
    [
      'is exempt when its TTL has not expired',
      pod('999', { ...done, containerStatuses: ended(0) }, ofJob),
      exempt,
    ],
    ['is exempt when its finish time is unknown', pod('5', done, ofJob), exempt],
    ['is not reported as exempt while it runs', pod('5', { phase: 'Running' }, ofJob), not('unfinished')],
    [
      'is not reported as exempt without a TTL',
      pod(undefined, { ...done, containerStatuses: ended(0) }, ofJob),
      not('no TTL'),
    ],
  ])('%s', (_name, object, expected) => {
    expect(decideExpiry(pods, object, moment(99))).toMatchObject(expected);
  });
});

test.each<[string, Job, boolean]>([
  ['a finished Job with a TTL is counted as added to the queue', job({ ttl: 9, finishedAt: time(0) }), true],
  ['a finished Job without a TTL is not counted', job({ finishedAt: time(0) }), false],
  ['an unfinished Job with a TTL is not counted', job({ ttl: 9 }), false],
  ['a finished Job with an invalid TTL is not counted', job({ ttl: -1, finishedAt: time(0) }), false],
])('%s', (_name, object, expected) => {
  expect(isFinishedWithTtl(jobs, object)).toBe(expected);
});

describe('the notice', () => {
  const notice = (decision: ExpiryDecision) => computeNotice(decision)?.note;
  test.each<[string, Job, string | undefined]>([
    ['does not exist for a Job that waits', job({ ttl: 9, finishedAt: time(0) }), undefined],
    ['does not exist for an expired Job', job({ ttl: 0, finishedAt: time(0) }), undefined],
    ['does not exist for a Job without TTL', job({}), undefined],
    ['does not exist for a finish one second in the future', job({ ttl: 9, finishedAt: time(1) }), undefined],
    [
      'reports a finish in the future',
      job({ ttl: 9, finishedAt: time(2) }),
      'finished 2 s in the future, the TTL counts from there; do the clocks agree?',
    ],
    [
      'reports a finish far in the future',
      job({ ttl: 9, finishedAt: time(3600) }),
      'finished 3600 s in the future, too far ahead, not trusted yet; do the clocks agree?',
    ],
    [
      'reports a finish without time',
      job({ ttl: 9, finishedAt: '' }),
      'condition Complete has no lastTransitionTime',
    ],
    [
      'reports a negative TTL',
      job({ ttl: -5 }),
      'spec.ttlSecondsAfterFinished is "-5", not a whole number of seconds from 0 to 2147483647',
    ],
  ])('%s', (_name, object, expected) => {
    expect(notice(decideExpiry(jobs, object, moment(0)))).toBe(expected);
  });
});

describe('an object that Lapse deleted and that is still terminating', () => {
  const deleted = (finalizers?: string[]) =>
    job({ metadata: { deletionTimestamp: time(0), ...(finalizers ? { finalizers } : {}) } });
  test.each([
    ['is not reported for ten minutes', deleted(['x/y']), 599, { kind: 'wait', until: at(600) }],
    [
      'is reported with its finalizers after ten minutes',
      deleted(['x/y', 'z']),
      600,
      {
        kind: 'stuck',
        note: 'still terminating 10 minutes after it was deleted: kept by the finalizer x/y, z',
      },
    ],
    [
      'is reported without finalizers after ten minutes',
      deleted(),
      9999,
      {
        kind: 'stuck',
        note: 'still terminating 10 minutes after it was deleted: no finalizer in its metadata keeps it',
      },
    ],
  ])('%s', (_name, object, now, expected) => expect(computeTerminating(object, at(now))).toEqual(expected));
});
