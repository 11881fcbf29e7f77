// The limit of a Cleaner: if a decision would delete more objects, nothing is deleted until a user approves. A Cleaner that
// is stopped stays stopped, also if fewer objects would be deleted later.

import { formatTime, type Instant } from '@lapse/base/instant';
import type { Cleaner } from '#api/cleaner';
import type { LimitExceeded, LimitsStatus } from '#api/limits';
import { reviewApproval } from '#limits/approval';
import { describeExceeded, ruleArgument } from '#limits/limit';
import type { Meaning } from './spec.ts';

export interface LimitRules {
  /** The limit of the configuration. */
  readonly maxDeletions?: number;
  /** Whether the webhook records who approves. */
  readonly isRecorded: boolean;
}

export type LimitResult =
  | { readonly kind: 'within'; readonly limits?: LimitsStatus }
  | { readonly kind: 'exceeded'; readonly message: string; readonly limits: LimitsStatus };

/** `count`: the deletions of the decision. */
export function computeLimit(
  { metadata, status }: Cleaner,
  meaning: Pick<Meaning, 'maxDeletions' | 'dryRun'>,
  count: number,
  rules: LimitRules,
  now: Instant,
): LimitResult {
  if (meaning.dryRun) return { kind: 'within' };
  const { limits: state = {} } = status ?? {};
  const own = meaning.maxDeletions ?? Number.POSITIVE_INFINITY;
  const all = rules.maxDeletions ?? Number.POSITIVE_INFINITY;
  if (state.exceeded === undefined && count <= Math.min(own, all)) return { kind: 'within' };
  const { generation = 1 } = metadata;
  const exceeded: LimitExceeded = {
    limit: 'maxDeletions',
    from: own <= all ? 'spec' : 'configuration',
    allowed: Math.min(own, all),
    deletions: 0,
    at: formatTime(now),
    generation,
    ...state.exceeded,
    due: count,
  };
  const limits: LimitsStatus = { ...state, state: 'Exceeded', exceeded };
  const approval = reviewApproval(limits, { metadata, due: count, now, isRecorded: rules.isRecorded });
  if (approval.kind === 'accepted') {
    // A decision is carried out completely, so its deletions need not be counted.
    const { approved: _, ...accepted } = approval.state;
    return { kind: 'within', limits: accepted };
  }
  const about = describeExceeded(exceeded, count, ruleArgument('Cleaner', metadata));
  return {
    kind: 'exceeded',
    message: approval.kind === 'void' ? `${approval.why}; ${about}` : about,
    limits,
  };
}
