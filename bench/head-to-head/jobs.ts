// The data: finished Jobs of a realistic size, created through the API in the state in which the Job controller leaves
// them. Each takes two writes, so they are created before a contender starts.

import { completedStatus, podTemplate } from '../jobParts.ts';
import type { Load } from './load.ts';

const PATH = '/apis/batch/v1/namespaces/default/jobs';
export const jobPath = (name: string): string => `${PATH}/${name}`;
export const ALL_JOBS = PATH;

export interface Plan {
  readonly name: string;
  /** Seconds; undefined: set later. */
  readonly ttl?: number;
  /** Whole seconds since the epoch; undefined: not finished. */
  readonly finishedAt?: number;
}

const manifest = ({ name, ttl }: Plan) => ({
  apiVersion: 'batch/v1',
  kind: 'Job',
  metadata: {
    name,
    labels: { app: 'report', tier: 'batch', 'example.com/team': 'analytics' },
    annotations: { 'example.com/why': 'a realistic size', 'example.com/run': name },
  },
  spec: {
    parallelism: 1,
    ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }),
    template: podTemplate({ app: 'report' }),
  },
});

/** Complete since this second. */
function finishedStatus(finishedAt: number): object {
  const time = new Date(finishedAt * 1000).toISOString().replace('.000', '');
  return completedStatus(time, time);
}

export async function finishJob(load: Load, { name, finishedAt }: Plan, version?: string): Promise<void> {
  const metadata = { name, ...(version === undefined ? {} : { resourceVersion: version }) };
  const status = finishedStatus(finishedAt ?? Math.floor(Date.now() / 1000));
  await load.patch(`${jobPath(name)}/status`, { metadata, status });
}

export async function createJob(load: Load, plan: Plan): Promise<void> {
  await load.call('POST', PATH, manifest(plan));
  if (plan.finishedAt !== undefined) await finishJob(load, plan);
}

export async function createJobs(load: Load, plans: readonly Plan[]): Promise<void> {
  await load.rate(plans.length, (i) => createJob(load, plans[i]!));
}

export const setTtl = (load: Load, name: string, ttl: number): Promise<number> =>
  load.tryPatch(jobPath(name), { spec: { ttlSecondsAfterFinished: ttl } });

/** Removes what a round left behind. */
export async function removeAll(load: Load): Promise<void> {
  await load.call('DELETE', PATH, {
    kind: 'DeleteOptions',
    apiVersion: 'v1',
    propagationPolicy: 'Background',
  });
}

export const nowSeconds = (): number => Math.floor(Date.now() / 1000);
