// Computes the next status write of an annotated Job: start, interim condition, terminal condition. The steps, reasons
// and messages are those of the Job controller of Kubernetes 1.36. Pure.

import { formatTime, type Instant, isDue, parseTime, plus } from '@lapse/base/instant';
import { setCondition } from '@lapse/kube/api/conditions';
import type { Condition, Job } from '@lapse/kube/api/kinds/builtin';
import { type Finish, parseFinish } from '../finish.ts';
import type { StatusStep } from '../statusStep.ts';

export type JobStatus = NonNullable<Job['status']>;

export type JobStep = StatusStep<JobStatus & Record<string, unknown>>;

const NOTHING: JobStep = { kind: 'nothing' };

interface Ending {
  readonly interim: string;
  readonly terminal: string;
  readonly reason: string;
  readonly message: string;
}
const ENDINGS: Readonly<Record<Finish['result'], Ending>> = {
  succeeded: {
    interim: 'SuccessCriteriaMet',
    terminal: 'Complete',
    reason: 'CompletionsReached',
    message: 'Reached expected number of succeeded pods',
  },
  failed: {
    interim: 'FailureTarget',
    terminal: 'Failed',
    reason: 'BackoffLimitExceeded',
    message: 'Job has reached the specified backoff limit',
  },
};
/** Once one of these conditions is true, the result of the Job is fixed. */
const DECIDED = ['Complete', 'Failed', 'SuccessCriteriaMet', 'FailureTarget'];

const isTrue = (status: JobStatus, type: string): boolean =>
  status.conditions?.some((condition) => condition.type === type && condition.status === 'True') ?? false;

export function computeJobStep(job: Job, now: Instant): JobStep {
  const { metadata, spec = {}, status = {} } = job;
  const requested = parseFinish(metadata);
  if (requested === 'none' || metadata.deletionTimestamp !== undefined) return NOTHING;
  if ('problem' in requested) return { kind: 'invalid', problem: requested.problem };
  if (isTrue(status, 'Complete') || isTrue(status, 'Failed') || spec.suspend === true) return NOTHING;
  if (status.startTime === undefined) return { kind: 'write', status: started(job, now) };
  const ending = ENDINGS[requested.result];
  if (isTrue(status, ending.interim)) return { kind: 'write', status: ended(status, ending, now) };
  if (DECIDED.some((type) => isTrue(status, type))) return NOTHING;
  const until = plus(parseTime(status.startTime), requested.after);
  return isDue(until, now)
    ? { kind: 'write', status: decided(job, requested.result, now) }
    : { kind: 'wait', until };
}

const completionsOf = ({ spec = {} }: Job): number => spec.completions ?? spec.parallelism ?? 1;

const started = (job: Job, now: Instant) => ({
  startTime: formatTime(now),
  active: Math.min(job.spec?.parallelism ?? 1, completionsOf(job)),
  ready: 0,
  terminating: 0,
  uncountedTerminatedPods: {},
});

/** All Pods have finished: the interim condition and the Pod counts. */
function decided(job: Job, result: Finish['result'], now: Instant): JobStatus & Record<string, unknown> {
  const { status = {}, spec = {} } = job;
  const count = completionsOf(job);
  const counts =
    result === 'succeeded'
      ? {
          succeeded: Math.max(count, status.succeeded ?? 0),
          ...(spec.completionMode === 'Indexed' && count > 0
            ? { completedIndexes: indexesBelow(count) }
            : {}),
        }
      : { failed: Math.max((spec.backoffLimit ?? 6) + 1, status.failed ?? 0) };
  return {
    active: 0,
    ready: 0,
    ...counts,
    conditions: withCondition(status, ENDINGS[result], 'interim', now),
  };
}

const ended = (status: JobStatus, ending: Ending, now: Instant): JobStatus & Record<string, unknown> => ({
  conditions: withCondition(status, ending, 'terminal', now),
  ...(ending.terminal === 'Complete' ? { completionTime: formatTime(now) } : {}),
});

function withCondition(
  { conditions }: JobStatus,
  ending: Ending,
  which: 'interim' | 'terminal',
  now: Instant,
): Condition[] {
  const { reason, message } = ending;
  const next = { type: ending[which], status: 'True', lastProbeTime: formatTime(now), reason, message };
  return setCondition<Condition>(conditions, next, now);
}

/** `0`, `0,1`, `0-4`. */
const indexesBelow = (count: number): string => {
  if (count === 1) return '0';
  return count === 2 ? '0,1' : `0-${count - 1}`;
};
