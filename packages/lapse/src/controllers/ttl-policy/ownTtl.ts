// The TTL that an object has itself: a policy does not delete the object before. Pods of Jobs are left to their Job. A
// policy overrides this only by `respectOwnTTL: false` and `includeOwned: true`.

import type { ReadPath } from '@lapse/cel/cel';
import { Job, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { computeExpiry, type Expiry, endOfBasis } from '#expiry/expiry';
import type { Finishable } from '#expiry/finishable';
import { JOB_TTL_FIELD, jobs } from '#expiry/job';
import { jobOf, POD_TTL_ANNOTATION, pods } from '#expiry/pod';
import type { LeftAlone, PolicyExpiry } from './combine.ts';
import type { CompiledPolicy, Moment } from './compile.ts';

export interface OwnTtl {
  readonly rule: string;
  /** The fields that `compute` reads. */
  readonly reads: readonly ReadPath[];
  /** Undefined if the object has no TTL of its own. */
  compute(object: KubeObject, moment: Moment): Expiry | undefined;
}

const ownTtl = <T extends KubeObject>(
  finishable: Finishable<T>,
  rule: string,
  reads: readonly ReadPath[],
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

type Target = CompiledPolicy['target'];

const isKind = ({ group, kind }: Target, of: { readonly group: string; readonly kind: string }): boolean =>
  group === of.group && kind === of.kind;

export function ownTtlOf(target: Target): OwnTtl | undefined {
  if (isKind(target, Job)) return OF_JOBS;
  return isKind(target, Pod) ? OF_PODS : undefined;
}

/** Whether a Job may control objects of the kind. */
export const mayBelongToJob = (target: Target): boolean => isKind(target, Pod);

export function computeLeftAlone(policy: CompiledPolicy, object: KubeObject): LeftAlone | undefined {
  if (policy.includeOwned || !mayBelongToJob(policy.target)) return undefined;
  const job = jobOf(object);
  if (job === undefined) return undefined;
  const note = `Job ${job.name} needs its Pods; set spec.includeOwned: true to delete them all the same`;
  return { kind: 'leftAlone', note };
}

/** The later of both deadlines. While the object's own deadline is unknown, the policy does not delete it. */
export function respectOwnTtl(expiry: PolicyExpiry, own: Expiry | undefined, rule: string): PolicyExpiry {
  if (own === undefined || expiry.kind === 'error' || expiry.kind === 'leftAlone') return expiry;
  if (expiry.kind === 'notApplicable') return expiry;
  if (own.kind === 'notApplicable') {
    const why = own.note === undefined ? '' : `${own.note}; `;
    return { ...own, note: `${why}${rule} is not over; set spec.respectOwnTTL: false to ignore it` };
  }
  const isLater = endOfBasis(own.because) > endOfBasis(expiry.because);
  return own.kind === 'held' || (expiry.kind !== 'held' && isLater) ? own : expiry;
}
