// A hundred thousand finished Jobs, and Pods of some of them, as in a cluster without cleanup.

import type { Bed } from '../bed/bed.ts';

/** Every hundredth Job still has its Pod. */
export const PODS_PER = 100;
const HOUR = 3_600_000;

const timeText = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
const uidOf = (kind: number, i: number): string =>
  `0000000${kind}-0000-4000-8000-${i.toString(16).padStart(12, '0')}`;

/** Finished during the last hour; the TTLs range over the next ten days. */
export const ttlOf = (i: number): number => 3600 + (i % 240) * 3600;
export const finishedAt = (i: number, now: number): number =>
  Math.floor((now - (i % 3600) * 1000) / 1000) * 1000;

export const jobName = (i: number): string => `report-${String(i).padStart(6, '0')}`;

function job(i: number, now: number): object {
  const name = jobName(i);
  const uid = uidOf(1, i);
  const time = timeText(finishedAt(i, now));
  const labels = {
    app: 'report',
    'batch.kubernetes.io/controller-uid': uid,
    'batch.kubernetes.io/job-name': name,
    'controller-uid': uid,
    'job-name': name,
  };
  const condition = (type: string) => ({
    type,
    status: 'True',
    lastProbeTime: time,
    lastTransitionTime: time,
  });
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name,
      namespace: 'default',
      uid,
      generation: 1,
      creationTimestamp: timeText(now - 2 * HOUR),
      labels,
    },
    spec: {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      completionMode: 'NonIndexed',
      suspend: false,
      podReplacementPolicy: 'TerminatingOrFailed',
      ttlSecondsAfterFinished: ttlOf(i),
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: {
        metadata: { labels },
        spec: {
          restartPolicy: 'Never',
          containers: [
            {
              name: 'main',
              image: 'registry.example.com/team/report:1.2.3',
              args: ['--from', 'yesterday', '--to', 'today'],
              resources: { requests: { cpu: '100m', memory: '64Mi' } },
            },
          ],
        },
      },
    },
    status: {
      startTime: time,
      completionTime: time,
      succeeded: 1,
      conditions: [condition('SuccessCriteriaMet'), condition('Complete')],
    },
  };
}

function pod(i: number, now: number): object {
  const name = `${jobName(i)}-pod`;
  const owner = { apiVersion: 'batch/v1', kind: 'Job', name: jobName(i), uid: uidOf(1, i) };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace: 'default',
      uid: uidOf(2, i),
      creationTimestamp: timeText(now - 2 * HOUR),
      ownerReferences: [{ ...owner, controller: true, blockOwnerDeletion: true }],
    },
    spec: {
      restartPolicy: 'Never',
      containers: [{ name: 'main', image: 'registry.example.com/team/report:1.2.3' }],
    },
    status: { phase: 'Succeeded' },
  };
}

/** Jobs 0 … `count` − 1 and their Pods, as of `now`. */
export async function plantCrowd(bed: Bed, count: number, now: number): Promise<void> {
  await bed.plant(count, (i) => ({
    key: `/registry/jobs/default/${jobName(i)}`,
    value: JSON.stringify(job(i, now)),
  }));
  await bed.plant(Math.floor(count / PODS_PER), (i) => ({
    key: `/registry/pods/default/${jobName(i * PODS_PER)}-pod`,
    value: JSON.stringify(pod(i * PODS_PER, now)),
  }));
}
