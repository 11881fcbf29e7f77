// The TTL that a Job or a Pod has itself, for rules that respect it.

import type { Instant, Millis } from '@lapse/base/instant';
import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { computeExpiry, type Expiry } from './expiry.ts';
import type { Finishable } from './finishable.ts';
import { JOB_TTL_FIELD, jobs } from './job.ts';
import { POD_TTL_ANNOTATION, pods } from './pod.ts';

export interface OwnTtl {
  readonly rule: string;
  /** The fields that `compute` reads. */
  readonly reads: readonly (readonly string[])[];
  /** Undefined if the object has no TTL of its own. */
  compute(
    object: KubeObject,
    moment: { readonly now: Instant; readonly tolerance: Millis },
  ): Expiry | undefined;
}

const ownTtl = <T extends KubeObject>(
  finishable: Finishable<T>,
  rule: string,
  reads: OwnTtl['reads'],
): OwnTtl => ({
  rule,
  reads,
  compute(object, { now, tolerance }) {
    const ttl = finishable.ttl(object as T);
    return ttl.kind === 'none'
      ? undefined
      : computeExpiry(finishable.finish(object as T), ttl, now, tolerance);
  },
});

const STATUS_OF_POD = [
  'phase',
  'conditions',
  'containerStatuses',
  'initContainerStatuses',
  'ephemeralContainerStatuses',
];

const OF_JOBS = ownTtl(jobs, JOB_TTL_FIELD, [
  ['spec', 'ttlSecondsAfterFinished'],
  ['status', 'conditions'],
]);
const OF_PODS = ownTtl(pods, POD_TTL_ANNOTATION, [
  ['metadata', 'annotations', POD_TTL_ANNOTATION],
  ...STATUS_OF_POD.map((field) => ['status', field]),
]);

interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

const isKind = ({ group, kind }: GroupKind, of: GroupKind): boolean => group === of.group && kind === of.kind;

/** Undefined for kinds without a TTL of their own. */
export function ownTtlOf(kind: GroupKind): OwnTtl | undefined {
  if (isKind(kind, Job)) return OF_JOBS;
  return isKind(kind, Pod) ? OF_PODS : undefined;
}

/** Whether a Job may control objects of the kind. */
export const mayBelongToJob = (kind: GroupKind): boolean => isKind(kind, Pod);
