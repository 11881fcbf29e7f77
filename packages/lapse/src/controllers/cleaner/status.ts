// Builds the complete status of a Cleaner and writes it only when it differs from the current one.

import { assertNever } from '@lapse/base/assertNever';
import { formatTime, type Instant } from '@lapse/base/instant';
import { findCondition, setCondition } from '@lapse/kube/api/conditions';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import { patchStatus } from '@lapse/runtime/patchStatus';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { Cleaner, type CleanerStatus, type ConditionOutcome, type DeletionRecord } from '#api/cleaner';
import type { LimitsStatus } from '#api/limits';
import { generationOf } from './context.ts';
import type { Shown } from './targets.ts';

/** All reasons of the condition, and the condition status of each. */
export const REASONS = {
  NotExpired: 'True',
  OptedOut: 'True',
  WaitingForConditions: 'True',
  Deleting: 'True',
  DryRun: 'True',
  TargetNotFound: 'False',
  KindNotServed: 'False',
  Forbidden: 'False',
  AuthorExpired: 'False',
  InvalidSpec: 'False',
  InvalidAnnotation: 'False',
  ConditionError: 'False',
  BudgetExceeded: 'False',
  SaveFailed: 'False',
  LimitExceeded: 'False',
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
  /** Default: as recorded. */
  readonly limits?: LimitsStatus;
}

const LONGEST_MESSAGE = 1000;
const READY = 'Ready';

export function buildStatus(cleaner: Cleaner, report: Report, now: Instant): CleanerStatus {
  const { reason, message, next, shown, evaluations, deletion } = report;
  const limits = report.limits ?? cleaner.status?.limits;
  const generation = generationOf(cleaner);
  const ready: Condition = {
    type: READY,
    status: REASONS[reason],
    reason,
    message: message.slice(0, LONGEST_MESSAGE),
    observedGeneration: generation,
  };
  return {
    observedGeneration: generation,
    conditions: setCondition(cleaner.status?.conditions, ready, now),
    ...(next === undefined ? {} : { nextScheduledEvaluation: formatTime(next) }),
    ...(shown ?? {}),
    ...(evaluations === undefined || evaluations.length === 0 ? {} : { evaluations: [...evaluations] }),
    ...(limits === undefined ? {} : { limits }),
    ...(deletion === undefined ? {} : { deletion }),
  };
}

export const readyOf = ({ status }: Cleaner): Condition | undefined =>
  findCondition(status?.conditions, READY);

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

/** A report replaces all of these fields. */
const REMOVED: Readonly<Record<keyof CleanerStatus, null>> = {
  observedGeneration: null,
  conditions: null,
  nextScheduledEvaluation: null,
  resolvedTargets: null,
  resolvedTargetCount: null,
  evaluations: null,
  limits: null,
  deletion: null,
};

export type Written =
  /** The Cleaner after the write. The same object if no write was needed. */
  | { readonly kind: 'written'; readonly cleaner: Cleaner }
  /** The Cleaner changed or was deleted meanwhile and must be evaluated again. */
  | { readonly kind: 'lost' };

/** At most one write, with the resourceVersion that was read. */
export async function writeStatus(ctx: ReconcileContext, cleaner: Cleaner, report: Report): Promise<Written> {
  const status = buildStatus(cleaner, report, ctx.now);
  const patched = await patchStatus(ctx, Cleaner, cleaner, { ...REMOVED, ...status });
  switch (patched.kind) {
    case 'written':
      announce(ctx, cleaner, report);
      return { kind: 'written', cleaner: patched.object };
    case 'unchanged':
      return { kind: 'written', cleaner };
    case 'gone':
    case 'changed':
      return { kind: 'lost' };
    case 'refused':
      throw patched.error;
    default:
      return assertNever(patched);
  }
}

/** Emits a warning Event when a problem begins, not at every evaluation. */
function announce(ctx: ReconcileContext, cleaner: Cleaner, { reason, message }: Report): void {
  if (REASONS[reason] === 'True' || readyOf(cleaner)?.reason === reason) return;
  ctx.event(cleaner, { type: 'Warning', reason, action: 'Evaluate', note: message });
}
