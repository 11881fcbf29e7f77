// Builders for the objects of scenarios.

import { formatTime, type Instant, type Millis } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { Job } from '@lapse/kube/api/kinds/builtin';

/** The time this long after the start of the scenario. */
export const at = (since: Millis): Instant => (VIRTUAL_START + since) as Instant;

export interface JobOptions {
  readonly namespace?: string;
  /** spec.ttlSecondsAfterFinished. */
  readonly ttl?: Millis;
  readonly annotations?: Record<string, string>;
  readonly labels?: Record<string, string>;
  readonly finalizers?: string[];
}

export function job(name: string, options: JobOptions = {}): Job {
  const { namespace = 'default', ttl, ...metadata } = options;
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: { name, namespace, ...metadata },
    spec: {
      ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl / 1000 }),
      template: {
        spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'busybox' }] },
      },
    },
  };
}

export interface FinishOptions {
  readonly result?: 'Complete' | 'Failed';
  /** Default: the start of the scenario. */
  readonly finishedAt?: Instant;
}

/** The status of a finished Job, as the Job controller writes it. */
export function finishedStatus({
  result = 'Complete',
  finishedAt = VIRTUAL_START,
}: FinishOptions = {}): NonNullable<Job['status']> {
  const time = formatTime(finishedAt);
  const condition = (type: string) => ({
    type,
    status: 'True',
    lastProbeTime: time,
    lastTransitionTime: time,
    reason:
      type === 'Complete' || type === 'SuccessCriteriaMet' ? 'CompletionsReached' : 'BackoffLimitExceeded',
  });
  return result === 'Complete'
    ? {
        startTime: time,
        completionTime: time,
        succeeded: 1,
        conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
      }
    : { startTime: time, failed: 1, conditions: [condition('FailureTarget'), condition('Failed')] };
}

export const finishedJob = (name: string, options: JobOptions & FinishOptions = {}): Job => {
  const { result, finishedAt, ...rest } = options;
  const status = finishedStatus({
    ...(result === undefined ? {} : { result }),
    ...(finishedAt === undefined ? {} : { finishedAt }),
  });
  return { ...job(name, rest), status };
};
