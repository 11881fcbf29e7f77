// Computes the status of a policy. Changed counts are batched for a few seconds; a changed state is written at once.

import { formatEnd, type Instant, instant, isDue, type Millis, plus, seconds } from '@lapse/base/instant';
import { findCondition, setCondition } from '@lapse/kube/api/conditions';
import { equal, type Json } from '@lapse/kube/api/json';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import type { LimitsStatus } from '#api/limits';
import type { PolicyMode, TTLPolicyStatus } from '#api/ttlPolicy';
import { describeExceeded, ruleArgument } from '#limits/limit';
import type { AnyPolicy } from './compile.ts';
import type { Refusal } from './rights.ts';
import type { Counts } from './targetRecords.ts';

/** The minimum interval between two writes that only change counts. */
const STATUS_GAP: Millis = seconds(5);
/** How long a changed count waits for further changes: a deletion changes several counts. */
const BATCH_DELAY: Millis = seconds(1);
const MOST_MESSAGE = 2000;

export type Report =
  | {
      readonly kind: 'working';
      readonly mode: PolicyMode;
      readonly counts: Counts;
      readonly deleted: number;
      /** Appended to the message. */
      readonly notice?: string | undefined;
      /** Undefined: nothing to report, no limit in use. */
      readonly limits?: LimitsStatus | undefined;
      /** Why an approval does not count. */
      readonly voided?: string | undefined;
      readonly enforcedGeneration?: number | undefined;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly deleted: number };

export function computeStatus(policy: AnyPolicy, report: Report, now: Instant): TTLPolicyStatus {
  const { generation = 0 } = policy.metadata;
  const ready =
    report.kind === 'working' ? workingCondition(policy, report) : refusedCondition(report.refusal);
  return {
    observedGeneration: generation,
    ...countsOf(report),
    deleted: report.deleted,
    ...limitsOf(policy, report),
    conditions: setCondition(
      policy.status?.conditions,
      { type: 'Ready', ...ready, observedGeneration: generation },
      now,
    ),
  };
}

function countsOf(report: Report): TTLPolicyStatus {
  if (report.kind === 'refused') return { matched: 0, waiting: 0, due: 0, errors: 0, nextExpiry: null };
  const { matched, waiting, due, errors, next } = report.counts;
  const nextExpiry = next === undefined ? null : formatEnd(next);
  return { matched, waiting, due, errors, nextExpiry };
}

/** A policy that does not work keeps what is recorded about its limits. */
function limitsOf(
  { status }: AnyPolicy,
  report: Report,
): Pick<TTLPolicyStatus, 'limits' | 'enforcedGeneration'> {
  const { limits, enforcedGeneration } = report.kind === 'working' ? report : (status ?? {});
  return {
    ...(limits === undefined || Object.keys(limits).length === 0 ? {} : { limits }),
    ...(enforcedGeneration === undefined ? {} : { enforcedGeneration }),
  };
}

type Ready = Required<Pick<Condition, 'status' | 'reason' | 'message'>>;

const WORDS: Readonly<Record<PolicyMode, string>> = {
  Enforce: 'objects are deleted when they are due',
  DryRun: 'nothing is deleted; Events report what would be deleted',
  Paused: 'nothing is deleted',
};

function workingCondition(policy: AnyPolicy, report: Extract<Report, { kind: 'working' }>): Ready {
  const { mode, counts, notice, limits, voided } = report;
  if (mode === 'Enforce' && limits?.exceeded !== undefined) {
    const rule = ruleArgument(policy.kind, policy.metadata);
    const message = describeExceeded(limits.exceeded, counts.due, rule);
    const full = voided === undefined ? message : `${voided}; ${message}`;
    return { status: 'False', reason: 'LimitExceeded', message: full.slice(0, MOST_MESSAGE) };
  }
  const reason = { Enforce: 'Enforcing', DryRun: 'DryRun', Paused: 'Paused' }[mode];
  const { errors, example = '' } = counts;
  const trouble = errors === 0 ? '' : `; ${errors} cannot be judged and are kept, e.g. ${example}`;
  return {
    status: 'True',
    reason,
    message: `${WORDS[mode]}${trouble}${notice === undefined ? '' : `; ${notice}`}`.slice(0, MOST_MESSAGE),
  };
}

const refusedCondition = ({ reason, message }: Refusal): Ready => ({
  status: 'False',
  reason,
  message: message.slice(0, MOST_MESSAGE),
});

export type StatusStep =
  | { readonly kind: 'same' }
  | { readonly kind: 'later'; readonly at: Instant }
  | { readonly kind: 'write' };

/** The time of the last write, and since when the counts differ from the written status. */
export interface Written {
  wroteAt?: Instant;
  differsSince?: Instant;
}

/** Whether to write the status now, later or not at all. */
export function computeStep(
  before: TTLPolicyStatus | undefined,
  next: TTLPolicyStatus,
  { wroteAt, differsSince }: Written,
  now: Instant,
): StatusStep {
  if (equal(asJson(before), asJson(next))) return { kind: 'same' };
  if (isNewState(before, next)) return { kind: 'write' };
  const batchedAt = plus(differsSince ?? now, BATCH_DELAY);
  const at = instant(Math.max(batchedAt, wroteAt === undefined ? batchedAt : plus(wroteAt, STATUS_GAP)));
  return isDue(at, now) ? { kind: 'write' } : { kind: 'later', at };
}

/** A missing `nextExpiry` and null are equal. */
function asJson(status: TTLPolicyStatus = {}): Json {
  const { nextExpiry = null, ...rest } = status;
  return { ...rest, nextExpiry } as unknown as Json;
}

function isNewState(before: TTLPolicyStatus | undefined, next: TTLPolicyStatus): boolean {
  const [a, b] = [findCondition(before?.conditions, 'Ready'), findCondition(next.conditions, 'Ready')];
  return (
    before?.observedGeneration !== next.observedGeneration ||
    a?.status !== b?.status ||
    a?.reason !== b?.reason ||
    before?.limits?.state !== next.limits?.state
  );
}
