import { formatTime, type Instant, instant } from '@lapse/base/instant';
import type { Condition, Job } from '@lapse/kube/api/kinds/builtin';
import { describe, expect, test } from 'vitest';
import { FINISH } from '../finish.ts';
import { computeJobStep } from './compute.ts';

const at = (seconds: number): Instant => instant(Date.UTC(2030, 0, 1) + seconds * 1000);
const time = (seconds: number): string => formatTime(at(seconds));
const job = (finish: string | undefined, more: Partial<Job> = {}): Job => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: { name: 'j', ...(finish === undefined ? {} : { annotations: { [FINISH]: finish } }) },
  spec: {},
  ...more,
});
const interim = (type: string, seconds = 0): Condition => ({
  type,
  status: 'True',
  lastTransitionTime: time(seconds),
});
const running = (finish: string, more: Job['status'] = {}, spec: Job['spec'] = {}): Job =>
  job(finish, { spec, status: { startTime: time(0), active: 1, ...more } });
const SUCCESS = { reason: 'CompletionsReached', message: 'Reached expected number of succeeded pods' };
const FAILURE = { reason: 'BackoffLimitExceeded', message: 'Job has reached the specified backoff limit' };
const condition = (type: string, seconds: number, why: object) => ({
  type,
  status: 'True',
  lastProbeTime: time(seconds),
  lastTransitionTime: time(seconds),
  ...why,
});
const nothing = { kind: 'nothing' };

const rules: Record<string, [Job, number, object]> = {
  'does nothing for a Job without the annotation': [job(undefined), 0, nothing],
  'starts a new Job': [
    job('succeeded after 5s'),
    1.5,
    {
      kind: 'write',
      status: { startTime: time(1), active: 1, ready: 0, terminating: 0, uncountedTerminatedPods: {} },
    },
  ],
  'limits the active Pods by parallelism': [
    job('succeeded after 5s', { spec: { parallelism: 4, completions: 3 } }),
    0,
    expect.objectContaining({ status: expect.objectContaining({ active: 3 }) }),
  ],
  'waits until one millisecond before the finish': [
    running('succeeded after 5s'),
    4.999,
    { kind: 'wait', until: at(5) },
  ],
  'sets SuccessCriteriaMet at the finish': [
    running('succeeded after 5s'),
    5,
    {
      kind: 'write',
      status: {
        active: 0,
        ready: 0,
        succeeded: 1,
        conditions: [condition('SuccessCriteriaMet', 5, SUCCESS)],
      },
    },
  ],
  'sets all completed indexes of an indexed Job': [
    running('succeeded after 0s', {}, { completions: 5, parallelism: 5, completionMode: 'Indexed' }),
    0,
    expect.objectContaining({
      status: expect.objectContaining({ succeeded: 5, completedIndexes: '0-4' }),
    }),
  ],
  'sets Complete after SuccessCriteriaMet': [
    running('succeeded after 5s', { conditions: [interim('SuccessCriteriaMet', 5)] }),
    6,
    {
      kind: 'write',
      status: {
        conditions: [interim('SuccessCriteriaMet', 5), condition('Complete', 6, SUCCESS)],
        completionTime: time(6),
      },
    },
  ],
  'sets FailureTarget at the finish': [
    running('failed after 1m', {}, { backoffLimit: 2 }),
    60,
    {
      kind: 'write',
      status: { active: 0, ready: 0, failed: 3, conditions: [condition('FailureTarget', 60, FAILURE)] },
    },
  ],
  'sets Failed without a completionTime after FailureTarget': [
    running('failed after 1m', { conditions: [interim('FailureTarget', 60)] }),
    60,
    {
      kind: 'write',
      status: { conditions: [interim('FailureTarget', 60), condition('Failed', 60, FAILURE)] },
    },
  ],
  'does nothing for a complete Job': [
    running('failed after 1m', { conditions: [interim('Complete')] }),
    60,
    nothing,
  ],
  'does nothing for a failed Job': [
    running('succeeded after 1m', { conditions: [interim('Failed')] }),
    60,
    nothing,
  ],
  'does nothing for a Job with another interim condition': [
    running('succeeded after 1m', { conditions: [interim('FailureTarget')] }),
    60,
    nothing,
  ],
  'does nothing for a suspended Job': [job('succeeded after 1m', { spec: { suspend: true } }), 60, nothing],
  'does nothing for a terminating Job': [
    { ...running('succeeded after 1m'), metadata: { name: 'j', deletionTimestamp: time(0) } },
    60,
    nothing,
  ],
};

describe('computeJobStep', () => {
  test.each(Object.entries(rules))('%s', (_, [of, seconds, step]) =>
    expect(computeJobStep(of, at(seconds))).toEqual(step),
  );
  test.each([
    '',
    'succeeded',
    'succeeded after',
    'succeeded after 5',
    'succeeded after -5s',
    'Succeeded after 5s',
    'cancelled after 5s',
    'succeeded after 5s please',
    'succeeded after 999999999h',
    '__proto__',
    'x'.repeat(100_000),
  ])('rejects the annotation %j', (text) =>
    expect(computeJobStep(job(text), at(0))).toEqual({
      kind: 'invalid',
      problem: expect.stringMatching(
        /^simulation\.lapse\.dev\/finish: ".{0,101}" is not "succeeded after 5s" or/,
      ),
    }),
  );
});
