// A finished Job as it arrives from a busy cluster: about 2.6 kB, a quarter of it managedFields.

import { seededRandom, uuid } from '@lapse/base/random';
import type { KubeObject } from '@lapse/kube/api/object';
import { completedStatus, podTemplate } from '../jobParts.ts';

const random = seededRandom(3);

const managed = (manager: string) => ({
  manager,
  operation: 'Update',
  apiVersion: 'batch/v1',
  time: '2026-01-01T00:00:00Z',
  fieldsType: 'FieldsV1',
  fieldsV1: {
    'f:spec': {
      'f:template': {
        'f:spec': { 'f:containers': { 'k:{"name":"main"}': { '.': {}, 'f:image': {}, 'f:args': {} } } },
      },
    },
  },
});

const two = (n: number) => String(Math.trunc(n)).padStart(2, '0');
/** A second of one day. */
const secondOf = (i: number) => `2026-01-01T${two((i / 3600) % 24)}:${two((i / 60) % 60)}:${two(i % 60)}Z`;

/** The `i`th of many: finished, with a TTL of `ttl` seconds. */
export function job(i: number, ttl = 86_400): KubeObject {
  const finished = secondOf(i * 7919);
  const uid = uuid(random);
  return {
    apiVersion: 'batch/v1',
    kind: 'Job',
    metadata: {
      name: `nightly-report-${String(i).padStart(7, '0')}`,
      namespace: `team-${i % 50}-production`,
      uid,
      resourceVersion: String(10_000_000 + i),
      generation: 1,
      creationTimestamp: '2026-01-01T00:00:00Z',
      labels: { app: 'report', 'batch.kubernetes.io/controller-uid': uid, tier: 'batch' },
      annotations: { 'example.com/why': 'a realistic size' },
      ownerReferences: [
        {
          apiVersion: 'batch/v1',
          kind: 'CronJob',
          name: 'nightly-report',
          uid: uuid(random),
          controller: true,
        },
      ],
      managedFields: [managed('kube-controller-manager'), managed('kubectl-client-side-apply')],
    },
    spec: {
      parallelism: 1,
      completions: 1,
      backoffLimit: 6,
      ttlSecondsAfterFinished: ttl,
      selector: { matchLabels: { 'batch.kubernetes.io/controller-uid': uid } },
      template: podTemplate({ app: 'report', 'batch.kubernetes.io/controller-uid': uid }),
    },
    status: completedStatus('2026-01-01T00:00:00Z', finished),
  };
}
