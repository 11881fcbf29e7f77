// Builds the complete status of a Cleaner and writes it only when it differs from the current one.

import { formatTime, type Instant } from '@lapse/base/instant';
import { equal, type Json } from '@lapse/kube/api/json';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { Cleaner, type CleanerStatus, type ConditionOutcome, type DeletionRecord } from '#api/cleaner';
import type { Shown } from './targets.ts';

/** All reasons of the condition, and the condition status of each. */
export const REASONS = {
  NotExpired: 'True',
  WaitingForConditions: 'True',
  Deleting: 'True',
  DryRun: 'True',
  TargetNotFound: 'False',
  KindNotServed: 'False',
  Forbidden: 'False',
  AuthorExpired: 'False',
  InvalidSpec: 'False',
  ConditionError: 'False',
  BudgetExceeded: 'False',
  Unavailable: 'False',
  ClockUnknown: 'False',
  HelmUninstallFailed: 'False',
  HelmUninstallIncomplete: 'False',
  HelmOperationInProgress: 'False',
  HelmDriverNotSupported: 'False',
} as const;
export type Reason = keyof typeof REASONS;

export interface Report {
  readonly reason: Reason;
  readonly message: string;
  readonly next?: Instant;
  readonly shown?: Shown;
  readonly evaluations?: readonly ConditionOutcome[];
  /** Undefined: no decision is in progress. */
  readonly deletion?: DeletionRecord;
}

const LONGEST_MESSAGE = 1000;
const READY = 'Ready';

export function buildStatus(cleaner: Cleaner, report: Report, now: Instant): CleanerStatus {
  const { reason, message, next, shown, evaluations, deletion } = report;
  const generation = cleaner.metadata.generation ?? 1;
  const known = cleaner.status?.conditions ?? [];
  const before = known.find(({ type }) => type === READY);
  const ready: Condition = {
    type: READY,
    status: REASONS[reason],
    reason,
    message: message.slice(0, LONGEST_MESSAGE),
    lastTransitionTime:
      before?.status === REASONS[reason] && before.lastTransitionTime !== undefined
        ? before.lastTransitionTime
        : formatTime(now),
    observedGeneration: generation,
  };
  return {
    observedGeneration: generation,
    conditions: before === undefined ? [...known, ready] : known.map((one) => (one === before ? ready : one)),
    ...(next === undefined ? {} : { nextScheduledEvaluation: formatTime(next) }),
    ...(shown ?? {}),
    ...(evaluations === undefined || evaluations.length === 0 ? {} : { evaluations: [...evaluations] }),
    ...(deletion === undefined ? {} : { deletion }),
  };
}

export const readyOf = (cleaner: Cleaner): Condition | undefined =>
  cleaner.status?.conditions?.find(({ type }) => type === READY);

/** The parts of the last report that stay valid while something else is reported. */
export function keptOf({ status }: Cleaner): Pick<Report, 'shown' | 'evaluations'> {
  const { resolvedTargets, resolvedTargetCount, evaluations } = status ?? {};
  return {
    ...(resolvedTargets === undefined
      ? {}
      : { shown: { resolvedTargets, resolvedTargetCount: resolvedTargetCount ?? resolvedTargets.length } }),
    ...(evaluations === undefined ? {} : { evaluations }),
  };
}

/** Fields that a merge patch must set to null to remove them. */
const FIELDS: readonly (keyof CleanerStatus)[] = [
  'observedGeneration',
  'conditions',
  'nextScheduledEvaluation',
  'resolvedTargets',
  'resolvedTargetCount',
  'evaluations',
  'deletion',
];

const plain = (value: unknown): Json => value as Json;

export type Written =
  /** The Cleaner after the write. The same object if no write was needed. */
  | { readonly kind: 'written'; readonly cleaner: Cleaner }
  /** The Cleaner changed or was deleted meanwhile and must be evaluated again. */
  | { readonly kind: 'lost' };

/** At most one write, with the resourceVersion that was read. */
export async function writeStatus(ctx: ReconcileContext, cleaner: Cleaner, report: Report): Promise<Written> {
  const status = buildStatus(cleaner, report, ctx.now);
  const current = cleaner.status ?? {};
  if (equal(plain(current), plain(status))) return { kind: 'written', cleaner };
  const patch = Object.fromEntries(FIELDS.map((field) => [field, replacing(current[field], status[field])]));
  const answer = await ctx.client.patch(
    Cleaner,
    ctx.key,
    { type: 'merge', patch: { status: patch } },
    { subresource: 'status', ...premise(cleaner) },
  );
  switch (answer.kind) {
    case 'patched':
      announce(ctx, cleaner, report);
      return { kind: 'written', cleaner: answer.object };
    case 'conflict':
    case 'missing':
      return { kind: 'lost' };
    case 'invalid':
      throw answer.error;
  }
}

const premise = ({ metadata: { uid, resourceVersion } }: Cleaner) => ({
  ...(uid === undefined ? {} : { ifUid: uid }),
  ...(resourceVersion === undefined ? {} : { ifVersion: resourceVersion }),
});

/**
 * Sets the fields of a replaced object to null one by one: a merge patch would keep those that the new object
 * lacks.
 */
function replacing(before: unknown, after: unknown): unknown {
  if (after === undefined) return null;
  if (!isRecord(before) || !isRecord(after)) return after;
  const removed = Object.keys(before).filter((key) => after[key] === undefined);
  return {
    ...Object.fromEntries(Object.entries(after).map(([key, value]) => [key, replacing(before[key], value)])),
    ...Object.fromEntries(removed.map((key) => [key, null])),
  };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Emits a warning Event when a problem begins, not at every evaluation. */
function announce(ctx: ReconcileContext, cleaner: Cleaner, { reason, message }: Report): void {
  if (REASONS[reason] === 'True' || readyOf(cleaner)?.reason === reason) return;
  ctx.event(cleaner, { type: 'Warning', reason, action: 'Evaluate', note: message });
}
