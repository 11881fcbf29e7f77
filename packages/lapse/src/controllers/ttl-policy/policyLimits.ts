// The limits of one policy: its own and the operator's, its first activation, and the counted deletions in its status.

import type { Instant } from '@lapse/base/instant';
import { findCondition } from '@lapse/kube/api/conditions';
import { compareVersions } from '@lapse/kube/api/versions';
import type { LimitsStatus } from '#api/limits';
import { endApproval, reviewApproval } from '#limits/approval';
import type { LimitsConfiguration } from '#limits/configuration';
import { exceedFirstActivation, exceedsFirstActivation, type Limit } from '#limits/limit';
import { LimitGate } from '#limits/limitGate';
import type { AnyPolicy, CompiledPolicy } from './compile.ts';
import type { Counts } from './targetRecords.ts';

export class PolicyLimits {
  readonly configuration: LimitsConfiguration;
  readonly gate: LimitGate;
  /** The number of due objects was compared with limits.firstActivation, or the policy needs no comparison. */
  isActivated: boolean;
  #newest: AnyPolicy;

  /** `before`: of the same policy with another spec. */
  constructor(policy: AnyPolicy, configuration: LimitsConfiguration, before?: PolicyLimits) {
    this.configuration = configuration;
    this.#newest = before?.newest(policy) ?? policy;
    this.gate = new LimitGate(this.#newest.status?.limits ?? {});
    this.isActivated = isEnforced(policy);
  }

  /** The newer of the cached policy and the one that this process wrote last: the cache may be behind. */
  newest(cached: AnyPolicy): AnyPolicy {
    const [a, b] = [this.#newest.metadata, cached.metadata];
    const isNewer = a.uid === b.uid && compareVersions(a.resourceVersion, b.resourceVersion) === 1;
    return isNewer ? this.#newest : cached;
  }

  /** The policy as it was written or read last. */
  remember(policy: AnyPolicy): void {
    this.#newest = this.newest(policy);
  }

  limitsOf({ limit }: CompiledPolicy): readonly Limit[] {
    const all = this.configuration.limit;
    return [...(limit === undefined ? [] : [limit]), ...(all === undefined ? [] : [all])];
  }

  /** Whether the policy may start to delete. `selected`: an upper bound of the objects that can be due. */
  mayStart(selected: number): boolean {
    this.isActivated ||= !exceedsFirstActivation(selected, this.configuration.firstActivation);
    return this.isActivated;
  }
}

/** The generation deletes already. A status of a version without limits says so by its condition. */
export function isEnforced({ metadata, status }: AnyPolicy): boolean {
  const { generation = 0 } = metadata;
  if (status?.enforcedGeneration !== undefined) return status.enforcedGeneration === generation;
  const ready = findCondition(status?.conditions, 'Ready');
  return (
    status?.observedGeneration === generation && ready?.status === 'True' && ready.reason === 'Enforcing'
  );
}

export interface LimitsReview {
  readonly limits: LimitsStatus;
  /** Why an approval does not count. */
  readonly voided?: string;
  readonly enforcedGeneration?: number;
}

export interface ReviewSituation {
  readonly policy: AnyPolicy;
  readonly mode: CompiledPolicy['mode'];
  readonly counts: Pick<Counts, 'due'>;
  readonly now: Instant;
  readonly isActivated: boolean;
  readonly firstActivation: number;
  /** Whether the webhook records who approves. */
  readonly isRecorded: boolean;
}

/** The first activation and approvals, after all targets were evaluated. Pure. */
export function reviewLimits(state: LimitsStatus, situation: ReviewSituation): LimitsReview {
  const { policy, mode, counts, now, isActivated, firstActivation, isRecorded } = situation;
  const { metadata } = policy;
  const { generation = 0 } = metadata;
  const { due } = counts;
  if (mode !== 'Enforce') return { limits: preview(state, exceedsFirstActivation(due, firstActivation)) };
  const approval = reviewApproval(state, { metadata, due, now, isRecorded });
  if (approval.kind === 'accepted') return { limits: approval.state, enforcedGeneration: generation };
  const enforced = isActivated ? { enforcedGeneration: generation } : {};
  if (state.exceeded !== undefined)
    return {
      limits: { ...state, state: 'Exceeded' },
      ...enforced,
      ...(approval.kind === 'void' ? { voided: approval.why } : {}),
    };
  if (!isActivated && exceedsFirstActivation(due, firstActivation))
    return { limits: exceedFirstActivation(state, { now, generation, due, allowed: firstActivation }) };
  return { limits: endApproval(without(state), due, generation), enforcedGeneration: generation };
}

/** A policy that deletes nothing: what would happen if it did. */
const preview = (state: LimitsStatus, wouldExceed: boolean): LimitsStatus =>
  wouldExceed || state.exceeded !== undefined ? { ...state, state: 'WouldExceed' } : without(state);

function without({ state: _, ...rest }: LimitsStatus): LimitsStatus {
  return rest;
}
