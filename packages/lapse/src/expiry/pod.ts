// Pods. A Pod opts in by an annotation, because PodSpec has no TTL field. podFinish.ts computes the finish time.

import { Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject, OwnerReference } from '@lapse/kube/api/object';
import { many, OWNERS, one, type Shape, text, time } from '@lapse/kube/api/shape';
import { type Finish, TTL_ANNOTATION, type Ttl } from './expiry.ts';
import { type Exemption, type Finishable, type FirstSight, ttlOf } from './finishable.ts';
import { computePodFinish, needsFirstSight, projectFinish } from './podFinish.ts';
import { identityOf, metadataShape, share } from './projectedMetadata.ts';

export const POD_TTL_ANNOTATION = 'lapse.dev/ttl-seconds-after-finished';

const ANNOTATIONS = [TTL_ANNOTATION, POD_TTL_ANNOTATION];

const DECIMAL = /^(0|[1-9][0-9]{0,9})$/;

function ttl(pod: Pod): Ttl {
  const text = pod.metadata.annotations?.[POD_TTL_ANNOTATION];
  const value = text !== undefined && DECIMAL.test(text) ? Number(text) : text;
  return ttlOf(value, POD_TTL_ANNOTATION);
}

const isFinished = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

const finish = (pod: Pod, sight?: FirstSight): Finish =>
  isFinished(pod) ? computePodFinish(pod, sight) : { kind: 'unfinished' };

/** The Job that controls the object. */
export const jobOf = ({ metadata }: KubeObject): OwnerReference | undefined =>
  metadata.ownerReferences?.find(
    ({ controller, kind, apiVersion }) =>
      controller === true && kind === 'Job' && apiVersion.startsWith('batch/'),
  );

function exempt(pod: Pod): Exemption | undefined {
  const job = jobOf(pod);
  if (job !== undefined) {
    const note = `Job ${job.name} needs its Pods; set ttlSecondsAfterFinished on the Job`;
    return { kind: 'exempt', reason: 'OwnedByJob', because: 'owned by a Job', note };
  }
  if (pod.spec?.restartPolicy !== 'Always') return undefined;
  const note = 'a Pod with restartPolicy Always does not finish by itself; its TTL has no effect';
  return { kind: 'exempt', reason: 'RestartPolicyAlways', because: 'restart policy Always', note };
}

/** Of a Pod that did not opt in, only the identity is kept. */
function project(pod: Pod): Pod {
  const { apiVersion, kind } = IDENTITY;
  const metadata = identityOf(pod.metadata, ANNOTATIONS);
  if (metadata.annotations?.[POD_TTL_ANNOTATION] === undefined) return { apiVersion, kind, metadata };
  const job = jobOf(pod);
  if (job !== undefined) metadata.ownerReferences = [job];
  const { restartPolicy } = pod.spec ?? {};
  const spec = restartPolicy === undefined ? {} : { restartPolicy: share(restartPolicy) };
  const { phase } = pod.status ?? {};
  if (phase === undefined) return { apiVersion, kind, metadata, spec };
  return { apiVersion, kind, metadata, spec, status: { phase: share(phase), ...projectFinish(pod) } };
}

const CONTAINER: Shape = {
  name: text(1),
  state: one(2, { terminated: one(3, { finishedAt: time(6) }) }),
};

/** The fields that `project` reads. */
const shape: Shape = {
  metadata: one(1, { ...metadataShape(ANNOTATIONS), ...OWNERS }),
  spec: one(2, { restartPolicy: text(3) }),
  status: one(3, {
    phase: text(1),
    conditions: many(2, { type: text(1), status: text(2), lastTransitionTime: time(4) }),
    containerStatuses: many(8, CONTAINER),
    initContainerStatuses: many(10, CONTAINER),
    ephemeralContainerStatuses: many(13, CONTAINER),
  }),
};

const IDENTITY = { apiVersion: 'v1', kind: 'Pod' } satisfies Partial<KubeObject>;

export const pods: Finishable<Pod> = {
  kind: Pod,
  controller: 'ttl-after-finished-pods',
  queue: 'ttl_pods_to_delete',
  fieldSelector: 'status.phase!=Pending,status.phase!=Running,status.phase!=Unknown',
  projection: { name: 'pod-ttl', shape, project },
  finish,
  needsFirstSight: (pod) => isFinished(pod) && needsFirstSight(pod),
  ttl,
  exempt,
};
