// How a policy treats an object with a TTL of its own, and the Pods of a Job: it does not delete the object before, and
// leaves the Pods to their Job. `respectOwnTTL: false` and `includeOwned: true` override this.

import type { KubeObject } from '@lapse/kube/api/object';
import { type Expiry, endOfBasis } from '#expiry/expiry';
import { mayBelongToJob } from '#expiry/ownTtl';
import { jobOf } from '#expiry/pod';
import type { LeftAlone, PolicyExpiry } from './combine.ts';
import type { CompiledPolicy } from './compile.ts';

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
