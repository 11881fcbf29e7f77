// The Lease kind and the pure decisions of leader election: (Lease, last observation, now) → take or wait.

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

/** A Lease of another holder, and since when (monotonic) it has been observed unchanged. */
export interface Observed {
  readonly holder: string;
  readonly renewTime: string;
  readonly since: Millis;
}

export type Claim =
  /** The Lease has no holder, is held by this process, or has expired. */
  { readonly kind: 'take' } | { readonly kind: 'wait'; readonly left: Millis; readonly observed: Observed };

/**
 * Whether this process may take the Lease. Times in the Lease come from the holder's clock and are not compared with the
 * local clock. The Lease has expired if it stayed unchanged for its duration by the local clock.
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

/** The Lease spec with this process as holder. A change of the holder increments leaseTransitions; a renewal does not. */
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

/** The Lease spec without a holder, so that the next candidate need not wait. */
export function buildReleased(before: LeaseSpec, now: Instant): LeaseSpec {
  const time = formatMicroTime(now);
  return { ...before, holderIdentity: '', leaseDurationSeconds: 1, renewTime: time, acquireTime: time };
}
