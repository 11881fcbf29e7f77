// Leases as data, and every decision about them. Pure: (what the record says, what we remember, now) → what to do.

import { formatMicroTime, type Instant, type Millis, millis } from '@lapse/base/instant';
import { defineKind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';

export interface LeaseSpec {
  holderIdentity?: string | null;
  leaseDurationSeconds?: number | null;
  acquireTime?: string | null;
  renewTime?: string | null;
  leaseTransitions?: number | null;
}

export interface Lease extends KubeObject {
  spec?: LeaseSpec;
}

export const Lease = defineKind<Lease>({
  group: 'coordination.k8s.io',
  version: 'v1',
  kind: 'Lease',
  resource: 'leases',
  namespaced: true,
});

/** A record somebody else holds, and since when (monotonic) it has not changed before our eyes. */
export interface Observed {
  readonly holder: string;
  readonly renewTime: string;
  readonly since: Millis;
}

export type Claim =
  /** Nobody holds it, or we do, or its holder has let it lapse. */
  { readonly kind: 'take' } | { readonly kind: 'wait'; readonly left: Millis; readonly observed: Observed };

/**
 * May we take the lease? The times in the record are by its holder's clock and are not compared with ours: a record
 * must stay unchanged for its whole duration by our own clock.
 */
export function computeClaim(spec: LeaseSpec, me: string, before: Observed | undefined, now: Millis): Claim {
  const holder = spec.holderIdentity ?? '';
  if (holder === '' || holder === me) return { kind: 'take' };
  const renewTime = spec.renewTime ?? '';
  const same = before?.holder === holder && before.renewTime === renewTime;
  const observed: Observed = same ? before : { holder, renewTime, since: now };
  const left = observed.since + (spec.leaseDurationSeconds ?? 0) * 1000 - now;
  return left <= 0 ? { kind: 'take' } : { kind: 'wait', left: millis(left), observed };
}

export interface Taking {
  readonly me: string;
  readonly durationSeconds: number;
  readonly now: Instant;
}

/** The record with us as its holder. Changing hands is counted; renewing is not. */
export function buildTaken(before: LeaseSpec | undefined, { me, durationSeconds, now }: Taking): LeaseSpec {
  const time = formatMicroTime(now);
  const transitions = before?.leaseTransitions ?? 0;
  const isOurs = before?.holderIdentity === me;
  return {
    holderIdentity: me,
    leaseDurationSeconds: durationSeconds,
    acquireTime: isOurs ? (before?.acquireTime ?? time) : time,
    renewTime: time,
    leaseTransitions: before === undefined || isOurs ? transitions : transitions + 1,
  };
}

/** The record without a holder: the next candidate need not wait. */
export function buildReleased(before: LeaseSpec, now: Instant): LeaseSpec {
  const time = formatMicroTime(now);
  return { ...before, holderIdentity: '', leaseDurationSeconds: 1, renewTime: time, acquireTime: time };
}
