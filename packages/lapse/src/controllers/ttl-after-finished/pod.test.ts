import type { Pod } from '@lapse/kube/api/kinds/builtin';
import { describe, expect, test } from 'vitest';
import { pods } from '#expiry/pod';
import { computeNotice, decideExpiry } from './decide.ts';
import { ended, expired, moment, not, owner, pod, time, waiting } from './expected.testkit.ts';

describe('Pods', () => {
  const done = { phase: 'Succeeded' };
  test.each<[string, Pod, number, object, firstSeen?: number]>([
    ['without the annotation', pod(undefined, { ...done, containerStatuses: ended(0) }), 99, not('no TTL')],
    ['running', pod('5', { phase: 'Running', containerStatuses: ended(0) }), 99, not('unfinished')],
    ['without a phase', pod('5', {}), 99, not('unfinished')],
    ['the last container counts', pod('5', { ...done, containerStatuses: ended(3, 7, 1) }), 9, waiting(12)],
    ['exactly at the deadline', pod('5', { ...done, containerStatuses: ended(3, 7, 1) }), 12, expired(12)],
    ['failed is finished', pod('0', { phase: 'Failed', containerStatuses: ended(3) }), 3, expired(3)],
    [
      'a container without a time: not before the first sight',
      pod('5', { ...done, containerStatuses: ended(undefined, 2) }),
      3,
      waiting(8),
      3,
    ],
    [
      'no container has a status: init and ephemeral containers count',
      pod('5', { ...done, initContainerStatuses: ended(1), ephemeralContainerStatuses: ended(4) }),
      5,
      waiting(9),
    ],
    [
      'a native sidecar ends last',
      pod('5', { ...done, containerStatuses: ended(1), initContainerStatuses: ended(4) }),
      5,
      waiting(9),
    ],
    [
      'evicted: the newest condition counts',
      pod('5', {
        phase: 'Failed',
        reason: 'Evicted',
        conditions: [
          { type: 'DisruptionTarget', status: 'True', lastTransitionTime: time(2) },
          { type: 'PodScheduled', status: 'True', lastTransitionTime: time(1) },
        ],
      }),
      3,
      waiting(7),
    ],
    ['no finish time and no first sight', pod('5', done), 99, not('finish time unknown')],
    ['no finish time: the first sight counts', pod('5', done), 12, waiting(15), 10],
    [
      'zero and null count as missing',
      pod('5', {
        ...done,
        containerStatuses: [{ name: 'c', state: { terminated: { finishedAt: null as never } } }],
      }),
      12,
      waiting(15),
      10,
    ],
    [
      'a container with the Unix epoch as end: the condition counts',
      pod('5', {
        phase: 'Failed',
        containerStatuses: [{ name: 'c', state: { terminated: { finishedAt: '1970-01-01T00:00:00Z' } } }],
        conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: time(2) }],
      }),
      3,
      waiting(7),
    ],
    [
      'controlled by a Job: exempt',
      pod('0', { ...done, containerStatuses: ended(0) }, owner('Job', 'batch/v1')),
      99,
      { kind: 'exempt', reason: 'OwnedByJob' },
    ],
    [
      'owned by a Job but not controlled: not exempt',
      pod('0', { ...done, containerStatuses: ended(0) }, owner('Job', 'batch/v1', false)),
      99,
      expired(0),
    ],
    [
      'controlled by a Job of another API group: not exempt',
      pod('0', { ...done, containerStatuses: ended(0) }, owner('Job', 'batch.volcano.sh/v1alpha1')),
      99,
      expired(0),
    ],
    [
      'restartPolicy Always: exempt',
      pod('0', { ...done, containerStatuses: ended(0) }, { spec: { restartPolicy: 'Always' } }),
      99,
      { kind: 'exempt', reason: 'RestartPolicyAlways' },
    ],
    [
      'restartPolicy OnFailure: not exempt',
      pod('0', { ...done, containerStatuses: ended(0) }, { spec: { restartPolicy: 'OnFailure' } }),
      0,
      expired(0),
    ],
    [
      'controlled by a Job and without TTL: not reported',
      pod(undefined, done, owner('Job', 'batch/v1')),
      99,
      not('no TTL'),
    ],
    [
      'controlled by a Job with unknown finish: exempt',
      pod('0', done, owner('Job', 'batch/v1')),
      99,
      { kind: 'exempt' },
    ],
  ])('%s', (_name, object, now, expected, firstSeen) => {
    expect(decideExpiry(pods, object, moment(now, firstSeen))).toMatchObject(expected);
  });

  test.each([
    '',
    ' ',
    '-1',
    '+5',
    '05',
    '5s',
    '1h',
    '1e3',
    '0x10',
    '5.0',
    'NaN',
    'never',
    '2147483648',
    '99999999999',
    '٣',
    '5 ',
    '1_000',
    'x'.repeat(10_000),
  ])('a Pod with the invalid TTL %j is never deleted', (text) => {
    const decision = decideExpiry(pods, pod(text, { ...done, containerStatuses: ended(0) }), moment(1e9));
    expect(decision).toMatchObject(not('invalid TTL'));
    expect(computeNotice(decision)).toMatchObject({ reason: 'InvalidTTL' });
    expect(computeNotice(decision)!.note.length).toBeLessThan(200);
  });

  test('the explanation contains the rule that gave the finish time', () => {
    const rule = (object: Pod, firstSeen?: number) => {
      const decision = decideExpiry(pods, object, moment(0, firstSeen));
      return decision.kind === 'waiting' ? decision.because.finishRule : decision.kind;
    };
    expect([
      rule(pod('9', { ...done, containerStatuses: ended(0) })),
      rule(pod('9', { ...done, initContainerStatuses: ended(0) })),
      rule(
        pod('9', { ...done, conditions: [{ type: 'Ready', status: 'False', lastTransitionTime: time(0) }] }),
      ),
      rule(pod('9', done), 0),
    ]).toEqual([
      'last container finished',
      'last init or ephemeral container finished',
      'newest condition',
      'first seen finished',
    ]);
  });
});
