// The decisions of a Cleaner as pure functions of what was gathered and one time: whether its TTL has expired, what
// stands against a deletion, and what is deleted. Conditions are evaluated in conditions.ts.

import { assertNever } from '@lapse/base/assertNever';
import { type Instant, isDue, type Millis, parseTime, plus } from '@lapse/base/instant';
import type { Cleaner, DeletionRecord } from '#api/cleaner';
import type { LimitsStatus } from '#api/limits';
import type { ReleasePlan } from '#helm/readPlan';
import { type Delay, readDelay } from './delay.ts';
import { computeLimit, type LimitRules } from './limit.ts';
import { buildRecord, countDeletions, type DecisionParts, MOST_DELETIONS, recordTargets } from './record.ts';
import type { Meaning } from './spec.ts';
import type { Reason } from './status.ts';
import { boundCount, type Found, MOST_BOUND, missingOf } from './targets.ts';

export type Gate =
  /** `delayed`: an annotation moved the end of the TTL. */
  | { readonly kind: 'waiting'; readonly until: Instant; readonly delayed?: true }
  | { readonly kind: 'open'; readonly since: Instant; readonly delayed?: true }
  /** An annotation keeps the Cleaner: see delay.ts. */
  | Extract<Delay, { kind: 'never' | 'invalid' }>;

/** Open from `creationTimestamp + ttl` on, or from the time of the annotation if that is later. */
export function computeGate(cleaner: Cleaner, ttl: Millis, now: Instant): Gate {
  const created = parseTime(cleaner.metadata.creationTimestamp ?? '');
  // A Cleaner without a valid creation time counts as created now, so it cannot be overdue.
  const end = plus(Number.isFinite(created) ? created : now, ttl);
  const delay = readDelay(cleaner.metadata);
  if (delay.kind === 'never' || delay.kind === 'invalid') return delay;
  const isLater = delay.kind === 'until' && delay.at > end;
  const until = isLater ? delay.at : end;
  const delayed = isLater ? { delayed: true as const } : {};
  return isDue(until, now)
    ? { kind: 'open', since: until, ...delayed }
    : { kind: 'waiting', until, ...delayed };
}

/** Why no decision is made: the reason to report and, if known, when to evaluate again. */
export interface Obstacle {
  readonly reason: Reason;
  readonly message: string;
  readonly until?: Instant;
  /** Set if the Cleaner is stopped at its limit. */
  readonly limits?: LimitsStatus;
}

/** Why the conditions cannot be evaluated on these objects, or undefined. */
export function computeObstacle(found: readonly Found[]): Obstacle | undefined {
  const missing = missingOf(found);
  if (missing.length > 0)
    return { reason: 'TargetNotFound', message: missing.map(describeMissing).join('; ') };
  if (boundCount(found) <= MOST_BOUND) return undefined;
  const message = `targets are more than the ${MOST_BOUND} objects that conditions may read`;
  return { reason: 'BudgetExceeded', message };
}

const describeMissing = ({ target, kind }: Found): string =>
  `${kind.kind} ${target.reference.name} (${target.name}) does not exist`;

/** Why the release cannot be uninstalled according to its plan, or undefined. */
export function computeReleaseObstacle(release: string, plan: ReleasePlan): Obstacle | undefined {
  switch (plan.kind) {
    case 'absent':
    case 'uninstall':
      return undefined;
    case 'forbidden':
      return { reason: 'Forbidden', message: plan.why };
    case 'tooMany':
      return { reason: 'BudgetExceeded', message: `the release ${release} has too many revisions` };
    case 'unrecorded':
      return { reason: 'HelmDriverNotSupported', message: plan.why };
    case 'busy': {
      const message = `the release ${release} is ${plan.status}`;
      return { reason: 'HelmOperationInProgress', message, until: plan.until };
    }
    case 'corrupt':
      return { reason: 'HelmUninstallFailed', message: `the release ${release} cannot be read: ${plan.why}` };
    default:
      return assertNever(plan);
  }
}

/** The parts of a decision on these objects and this plan of the release. */
export const partsOf = (
  { release }: Meaning,
  found: readonly Found[],
  plan: ReleasePlan | undefined,
): DecisionParts => ({
  targets: recordTargets(found),
  ...(release !== undefined && plan?.kind === 'uninstall'
    ? { release: { name: release, steps: plan.steps } }
    : {}),
});

/** Why the parts are too many for one decision, or undefined. */
export function computeExcess(parts: DecisionParts): Obstacle | undefined {
  const count = countDeletions(parts);
  if (count <= MOST_DELETIONS) return undefined;
  const message = `${count} deletions are more than the ${MOST_DELETIONS} that one decision may lead to`;
  return { reason: 'BudgetExceeded', message };
}

export type Decision =
  | { readonly kind: 'not'; readonly obstacle: Obstacle }
  /** Only the Cleaner itself is left to be deleted. */
  | { readonly kind: 'nothing' }
  /** `limits`: an approval was used. */
  | { readonly kind: 'delete'; readonly record: DeletionRecord; readonly limits?: LimitsStatus };

/** What is deleted, given that all conditions are true for the objects on the API server. */
export function decide(
  cleaner: Cleaner,
  meaning: Meaning,
  { found, plan }: { readonly found: readonly Found[]; readonly plan?: ReleasePlan },
  /** The account and the author that the decision is made for, and the limits of the configuration. */
  actor: {
    readonly account: string | undefined;
    readonly author: string | undefined;
    readonly limits: LimitRules;
  },
  now: Instant,
): Decision {
  const { release } = meaning;
  const ofRelease =
    release === undefined || plan === undefined ? undefined : computeReleaseObstacle(release, plan);
  const parts = partsOf(meaning, found, plan);
  const obstacle = ofRelease ?? computeExcess(parts);
  if (obstacle !== undefined) return { kind: 'not', obstacle };
  const count = countDeletions(parts);
  if (count === 0) return { kind: 'nothing' };
  const limit = computeLimit(cleaner, meaning, count, actor.limits, now);
  if (limit.kind === 'exceeded')
    return {
      kind: 'not',
      obstacle: { reason: 'LimitExceeded', message: limit.message, limits: limit.limits },
    };
  return {
    kind: 'delete',
    record: buildRecord(cleaner, { ...parts, account: actor.account, author: actor.author }, now),
    ...(limit.limits === undefined ? {} : { limits: limit.limits }),
  };
}
