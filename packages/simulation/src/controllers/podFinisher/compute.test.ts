import { formatTime, type Instant, instant } from '@lapse/base/instant';
import type { Pod } from '@lapse/kube/api/kinds/builtin';
import { describe, expect, test } from 'vitest';
import { FINISH } from '../finish.ts';
import { computePodStep } from './compute.ts';

const at = (seconds: number): Instant => instant(Date.UTC(2030, 0, 1) + seconds * 1000);
const time = (seconds: number): string => formatTime(at(seconds));
const pod = (finish: string | undefined, status?: Pod['status'], metadata: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'p',
    ...(finish === undefined ? {} : { annotations: { [FINISH]: finish } }),
    ...metadata,
  },
  spec: { containers: [{ name: 'c', image: 'i' }] },
  ...(status === undefined ? {} : { status }),
});
const running = (finish: string): Pod =>
  pod(finish, {
    phase: 'Running',
    startTime: time(0),
    conditions: [
      { type: 'PodScheduled', status: 'True' },
      { type: 'Initialized', status: 'True', lastTransitionTime: time(0) },
      { type: 'Ready', status: 'True', lastTransitionTime: time(0) },
    ],
  });
const nothing = { kind: 'nothing' };
const condition = (type: string, status: string, seconds: number, reason?: string) => ({
  type,
  status,
  lastProbeTime: null,
  lastTransitionTime: time(seconds),
  ...(reason === undefined ? {} : { reason }),
});

describe('computePodStep', () => {
  test.each<[string, Pod, number, object]>([
    ['does nothing for a Pod without the annotation', pod(undefined), 0, nothing],
    [
      'sets a new Pod to Running',
      pod('succeeded after 5s', { phase: 'Pending' }),
      1,
      {
        kind: 'write',
        status: {
          phase: 'Running',
          startTime: time(1),
          conditions: [
            condition('Initialized', 'True', 1),
            condition('Ready', 'True', 1),
            condition('ContainersReady', 'True', 1),
          ],
          containerStatuses: [
            expect.objectContaining({ name: 'c', ready: true, state: { running: { startedAt: time(1) } } }),
          ],
        },
      },
    ],
    ['a millisecond early, it waits', running('succeeded after 5s'), 4.999, { kind: 'wait', until: at(5) }],
    [
      'sets Succeeded at the finish',
      running('succeeded after 5s'),
      5,
      {
        kind: 'write',
        status: {
          phase: 'Succeeded',
          conditions: [
            { type: 'PodScheduled', status: 'True' },
            condition('Initialized', 'True', 0, 'PodCompleted'),
            condition('Ready', 'False', 5, 'PodCompleted'),
            condition('ContainersReady', 'False', 5, 'PodCompleted'),
          ],
          containerStatuses: [
            expect.objectContaining({
              ready: false,
              state: {
                terminated: { exitCode: 0, reason: 'Completed', startedAt: time(0), finishedAt: time(5) },
              },
            }),
          ],
        },
      },
    ],
    [
      'sets Failed at the finish',
      running('failed after 1m'),
      60,
      {
        kind: 'write',
        status: expect.objectContaining({
          phase: 'Failed',
          containerStatuses: [
            expect.objectContaining({
              state: {
                terminated: { exitCode: 1, reason: 'Error', startedAt: time(0), finishedAt: time(60) },
              },
            }),
          ],
        }),
      },
    ],
    ['ended, it is left alone', pod('failed after 1s', { phase: 'Succeeded' }), 60, nothing],
    [
      'does nothing for a terminating Pod',
      pod('failed after 1s', undefined, { deletionTimestamp: time(0) }),
      60,
      nothing,
    ],
    [
      'reports an invalid annotation',
      pod('whenever'),
      60,
      { kind: 'invalid', problem: expect.stringContaining('"whenever" is not') },
    ],
  ])('%s', (_, of, seconds, step) => expect(computePodStep(of, at(seconds))).toEqual(step));
});
