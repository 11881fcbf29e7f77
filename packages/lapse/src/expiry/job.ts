// Jobs. A Job has finished when a condition Complete or Failed is True. The spec contains its TTL.

import { type Condition, Job } from '@lapse/kube/api/kinds/builtin';
import { int, many, one, type Shape, text, time } from '@lapse/kube/api/shape';
import { type Finish, TTL_ANNOTATION } from './expiry.ts';
import { type Finishable, timeOf, ttlOf } from './finishable.ts';
import { identityOf, metadataShape, share } from './projectedMetadata.ts';

export const JOB_TTL_FIELD = 'spec.ttlSecondsAfterFinished';

/** Suspended, SuccessCriteriaMet and FailureTarget are not terminal. */
const TERMINAL = ['Complete', 'Failed'];

/** The first match in list order decides, as in Kubernetes. */
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

const KIND = 'Job';
const API_VERSION = 'batch/v1';

/** Of a Job without a TTL, only the identity is kept: no other field can make it expire. */
function project(job: Job): Job {
  const metadata = identityOf(job.metadata, ANNOTATIONS);
  const ttl = job.spec?.ttlSecondsAfterFinished;
  if (ttl === undefined || ttl === null) return { apiVersion: API_VERSION, kind: KIND, metadata };
  const spec = specOf(ttl);
  const condition = terminalCondition(job);
  if (condition === undefined) return { apiVersion: API_VERSION, kind: KIND, metadata, spec };
  return {
    apiVersion: API_VERSION,
    kind: KIND,
    metadata,
    spec,
    status: statusOf(compact(condition)),
  };
}

const ANNOTATIONS = [TTL_ANNOTATION];

/** The fields that `project` reads. */
const shape: Shape = {
  metadata: one(1, metadataShape(ANNOTATIONS)),
  spec: one(2, { ttlSecondsAfterFinished: int(8) }),
  status: one(3, {
    conditions: many(1, { type: text(1), status: text(2), lastTransitionTime: time(4) }),
  }),
};

// Saves memory: clusters use few different TTLs, so Jobs with the same TTL share one spec object.
const MOST_SPECS = 1000;
const specs = new Map<number, { ttlSecondsAfterFinished: number }>();

function specOf(ttlSecondsAfterFinished: number): { ttlSecondsAfterFinished: number } {
  const known = specs.get(ttlSecondsAfterFinished);
  if (known !== undefined) return known;
  const spec = { ttlSecondsAfterFinished };
  if (specs.size < MOST_SPECS) specs.set(ttlSecondsAfterFinished, spec);
  return spec;
}

const compact = ({ type, lastTransitionTime }: Condition): Condition =>
  lastTransitionTime === undefined
    ? { type: share(type), status: 'True' }
    : { type: share(type), status: 'True', lastTransitionTime };

// Saves memory: Jobs that finish in the same second share one status object. The table is indexed by a hash of the
// timestamp; each entry keeps the last status. It has entries for a day and a half.
const TABLE_SIZE = 1 << 17;
const statuses: { readonly conditions: Condition[] }[] = [];

/** The table index of a timestamp. The last characters differ most and get the lowest weight. */
function tableIndex(text: string): number {
  let place = 0;
  for (let i = 0; i < text.length; i++) place = (place * 101 + text.charCodeAt(i)) & (TABLE_SIZE - 1);
  return place;
}

function statusOf(condition: Condition): { readonly conditions: Condition[] } {
  const place = tableIndex(condition.lastTransitionTime ?? '');
  const known = statuses[place]?.conditions[0];
  if (known?.lastTransitionTime === condition.lastTransitionTime && known?.type === condition.type)
    return statuses[place]!;
  const status = { conditions: [condition] };
  statuses[place] = status;
  return status;
}

export const jobs: Finishable<Job> = {
  kind: Job,
  controller: 'ttl-after-finished',
  queue: 'ttl_jobs_to_delete',
  projection: { name: 'job-ttl', shape, project },
  finish,
  ttl: (job) => ttlOf(job.spec?.ttlSecondsAfterFinished, JOB_TTL_FIELD),
};
