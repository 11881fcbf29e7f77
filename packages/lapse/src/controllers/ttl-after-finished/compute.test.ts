import type { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import { describe, expect, test } from 'vitest';
import { describeExpiry } from '#deletion/expiry';
import { jobs } from '#deletion/finish/job';
import { pods } from '#deletion/finish/pod';
import { computeLingering } from '#deletion/lingering';
import {
  computeNotice,
  computeVerdict,
  isFinishedWithTtl,
  isRivalDeletion,
  type Verdict,
} from './compute.ts';
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
    expect(computeVerdict(jobs, object, moment(now))).toMatchObject(expected);
  });

  test('14. the TTL is part of what people are told', () => {
    const verdict = computeVerdict(jobs, job({ ttl: 30, finishedAt: time(0) }), moment(0));
    expect(verdict.kind === 'exempt' ? '' : describeExpiry(verdict)).toBe(
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
      'an annotation that cannot be read keeps it: somebody meant something',
      job({ ttl: 10, finishedAt: time(0), metadata: { annotations: { 'lapse.dev/ttl': 'Never' } } }),
      99,
      not('invalid TTL'),
    ],
    [
      'a duration in the annotation is for policies: the field counts',
      job({ ttl: 10, finishedAt: time(0), metadata: { annotations: { 'lapse.dev/ttl': '1h' } } }),
      99,
      expired(10),
    ],
    [
      'without a TTL no annotation is looked at',
      job({ finishedAt: time(0), metadata: { annotations: { 'lapse.dev/ttl': 'Never' } } }),
      99,
      not('no TTL'),
    ],
    ['a suspended Job has not finished', withStatus(status(['Suspended', 'True', 0])), 99, not('unfinished')],
    [
      'criteria met is not finished',
      withStatus(status(['SuccessCriteriaMet', 'True', 0])),
      99,
      not('unfinished'),
    ],
    [
      'a failure target is not finished',
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
      'both true: the first in the list counts',
      withStatus(status(['Failed', 'True', 5], ['Complete', 'True', 1])),
      12,
      waiting(15),
    ],
    [
      'the first that is true, not the first',
      withStatus(status(['Failed', 'False', 5], ['Complete', 'True', 1])),
      12,
      expired(11),
    ],
    [
      'no transition time: never, and not wrong',
      withStatus(status(['Complete', 'True'])),
      99,
      not('finish time unknown'),
    ],
    [
      'the first has none: the second does not help',
      withStatus(status(['Failed', 'True'], ['Complete', 'True', 1])),
      99,
      not('finish time unknown'),
    ],
    [
      'Go’s zero time is no time',
      job({ ttl: 1, finishedAt: '0001-01-01T00:00:00Z' }),
      99,
      not('finish time unknown'),
    ],
    [
      'Unix’s zero is no time',
      job({ ttl: 1, finishedAt: '1970-01-01T00:00:00Z' }),
      99,
      not('finish time unknown'),
    ],
    [
      'a text that is no time is no time',
      job({ ttl: 1, finishedAt: 'yesterday' }),
      99,
      not('finish time unknown'),
    ],
    ['finished in the future: waits for all of it', job({ ttl: 10, finishedAt: time(20) }), 0, waiting(30)],
    [
      'beyond the skew allowed: held',
      job({ ttl: 10, finishedAt: time(3600) }),
      0,
      { kind: 'held', until: at(3570) },
    ],
    ['68 years', job({ ttl: 2 ** 31 - 1, finishedAt: time(0) }), 0, waiting(2 ** 31 - 1)],
    ['more than int32 is not believed', job({ ttl: 2 ** 31, finishedAt: time(0) }), 1e12, not('invalid TTL')],
    ['half a second is not believed', job({ ttl: 0.5, finishedAt: time(0) }), 9, not('invalid TTL')],
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
      'an owner never keeps it',
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
      'whoever manages it',
      { ...job({ ttl: 5, finishedAt: time(0) }), spec: { ttlSecondsAfterFinished: 5, managedBy: 'kueue' } },
      5,
      expired(5),
    ],
  ])('%s', (_name, object, now, expected) => {
    expect(computeVerdict(jobs, object, moment(now))).toMatchObject(expected);
  });
});

describe('a Pod that is exempt because a Job controls it', () => {
  const ofJob = owner('Job', 'batch/v1');
  const done = { phase: 'Succeeded' };
  const exempt = { kind: 'exempt', reason: 'OwnedByJob' };
  test.each<[string, Pod, object]>([
    ['is exempt when its TTL is over', pod('5', { ...done, containerStatuses: ended(0) }, ofJob), exempt],
    [
      'is exempt when its TTL is not over',
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
    expect(computeVerdict(pods, object, moment(99))).toMatchObject(expected);
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

describe('what people are told', () => {
  const told = (verdict: Verdict) => computeNotice(verdict)?.note;
  test.each<[string, Job, string | undefined]>([
    ['nothing about a Job that waits', job({ ttl: 9, finishedAt: time(0) }), undefined],
    ['nothing about one that is over', job({ ttl: 0, finishedAt: time(0) }), undefined],
    ['nothing about one without TTL', job({}), undefined],
    ['nothing about a second of difference', job({ ttl: 9, finishedAt: time(1) }), undefined],
    [
      'a finish in the future',
      job({ ttl: 9, finishedAt: time(2) }),
      'finished 2 s in the future, the TTL counts from there; do the clocks agree?',
    ],
    [
      'a finish far in the future',
      job({ ttl: 9, finishedAt: time(3600) }),
      'finished 3600 s in the future, too far to be believed yet; do the clocks agree?',
    ],
    [
      'a finish without time',
      job({ ttl: 9, finishedAt: '' }),
      'condition Complete has no lastTransitionTime',
    ],
    [
      'a negative TTL',
      job({ ttl: -5 }),
      'spec.ttlSecondsAfterFinished is "-5", not a whole number of seconds from 0 to 2147483647',
    ],
  ])('%s', (_name, object, expected) => {
    expect(told(computeVerdict(jobs, object, moment(0)))).toBe(expected);
  });
});

describe('an object that we deleted and that stays', () => {
  const deleted = (finalizers?: string[]) =>
    job({ metadata: { deletionTimestamp: time(0), ...(finalizers ? { finalizers } : {}) } });
  test.each([
    ['is given ten minutes', deleted(['x/y']), 599, { kind: 'wait', until: at(600) }],
    [
      'is then reported with its finalizers',
      deleted(['x/y', 'z']),
      600,
      { kind: 'stuck', note: 'still there 10 minutes after it was deleted: kept by the finalizer x/y, z' },
    ],
    [
      'or without',
      deleted(),
      9999,
      {
        kind: 'stuck',
        note: 'still there 10 minutes after it was deleted: no finalizer in its metadata keeps it',
      },
    ],
  ])('%s', (_name, object, now, expected) => expect(computeLingering(object, at(now))).toEqual(expected));
});

test.each([
  [-2.001, false],
  [-2, true],
  [0, true],
  [4.999, true],
  [5, false],
])('a deletion %s s after the deadline is by the same rule: %s', (second, expected) => {
  expect(isRivalDeletion(at(0), at(second), at(-60))).toBe(expected);
});

test('what was due before we began to act was perhaps deleted by the replica before us', () => {
  expect([-1, 0, 1].map((since) => isRivalDeletion(at(0), at(1), at(since)))).toEqual([true, false, false]);
});
