// Jobs: finished when the first of their conditions Complete or Failed is True, for as long as the spec says.

import { type Condition, Job } from '#api/kinds/builtin';
import type { KubeObject } from '#api/object';
import type { Finish } from '#lifecycle/expiry';
import { type Finishable, timeOf, ttlOf } from './finishable.ts';
import { identityOf } from './identity.ts';

const RULE = 'spec.ttlSecondsAfterFinished';

/** Suspended, SuccessCriteriaMet and FailureTarget are stations on the way. */
const TERMINAL = ['Complete', 'Failed'];

/** The first in list order decides, as upstream. */
const terminalCondition = (job: Job): Condition | undefined =>
  job.status?.conditions?.find(({ type, status }) => status === 'True' && TERMINAL.includes(type));

function finish(job: Job): Finish {
  const condition = terminalCondition(job);
  if (condition === undefined) return { kind: 'unfinished' };
  const at = timeOf(condition.lastTransitionTime);
  return at === undefined
    ? { kind: 'timeUnknown', note: `condition ${condition.type} has no lastTransitionTime` }
    : { kind: 'finished', at, rule: `condition ${condition.type}` };
}

/** A Job without a TTL is only remembered by name: nothing but its TTL can make it interesting. */
function project(job: Job): Job {
  const { kind, apiVersion } = IDENTITY;
  const metadata = identityOf(job.metadata, []);
  const ttl = job.spec?.ttlSecondsAfterFinished;
  if (ttl === undefined || ttl === null) return { apiVersion, kind, metadata };
  const spec = { ttlSecondsAfterFinished: ttl };
  const condition = terminalCondition(job);
  if (condition === undefined) return { apiVersion, kind, metadata, spec };
  return { apiVersion, kind, metadata, spec, status: { conditions: [compact(condition)] } };
}

const IDENTITY = { apiVersion: 'batch/v1', kind: 'Job' } satisfies Partial<KubeObject>;

function compact({ type, lastTransitionTime }: Condition): Condition {
  const kept: Condition = { type: type === 'Complete' ? 'Complete' : 'Failed', status: 'True' };
  if (lastTransitionTime !== undefined) kept.lastTransitionTime = lastTransitionTime;
  return kept;
}

export const jobs: Finishable<Job> = {
  kind: Job,
  controller: 'ttl-after-finished',
  queue: 'ttl_jobs_to_delete',
  projection: { name: 'job-ttl', project },
  finish,
  ttl: (job) => ttlOf(job.spec?.ttlSecondsAfterFinished, RULE),
};
