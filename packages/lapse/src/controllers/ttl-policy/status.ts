// What a policy's status should say. Counts may wait a few seconds for company; whether it works may not.

import {
  formatEnd,
  formatTime,
  type Instant,
  instant,
  isDue,
  type Millis,
  plus,
  seconds,
} from '@lapse/base/instant';
import { equal, type Json } from '@lapse/kube/api/json';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import type { PolicyMode, TTLPolicyStatus } from '#api/ttlPolicy';
import type { Counts } from './book.ts';
import type { AnyPolicy } from './compile.ts';
import type { Refusal } from './rights.ts';

/** The shortest time between two writes that only change counts. */
const STATUS_GAP: Millis = seconds(5);
/** A changed count waits this long for others: what was deleted is gone from the next count. */
const COMPANY: Millis = seconds(1);
const MOST_MESSAGE = 2000;

export type Report =
  | {
      readonly kind: 'working';
      readonly mode: PolicyMode;
      readonly counts: Counts;
      readonly deleted: number;
      /** What else the message says. */
      readonly notice?: string | undefined;
    }
  | { readonly kind: 'refused'; readonly refusal: Refusal; readonly deleted: number };

export function computeStatus(policy: AnyPolicy, report: Report, now: Instant): TTLPolicyStatus {
  const { generation = 0 } = policy.metadata;
  const ready = report.kind === 'working' ? workingCondition(report) : refusedCondition(report.refusal);
  const before = policy.status?.conditions?.find(({ type }) => type === 'Ready');
  const lastTransitionTime =
    before?.status === ready.status && before.lastTransitionTime !== undefined
      ? before.lastTransitionTime
      : formatTime(now);
  return {
    observedGeneration: generation,
    ...countsOf(report),
    deleted: report.deleted,
    conditions: [{ type: 'Ready', ...ready, lastTransitionTime, observedGeneration: generation }],
  };
}

function countsOf(report: Report): TTLPolicyStatus {
  if (report.kind === 'refused') return { matched: 0, waiting: 0, due: 0, errors: 0, nextExpiry: null };
  const { matched, waiting, due, errors, next } = report.counts;
  const nextExpiry = next === undefined ? null : formatEnd(next);
  return { matched, waiting, due, errors, nextExpiry };
}

type Ready = Required<Pick<Condition, 'status' | 'reason' | 'message'>>;

const WORDS: Readonly<Record<PolicyMode, string>> = {
  Enforce: 'objects are deleted when they are due',
  DryRun: 'nothing is deleted, only said',
  Paused: 'nothing is deleted',
};

function workingCondition({ mode, counts, notice }: Extract<Report, { kind: 'working' }>): Ready {
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

/** When we wrote last, and when we first saw that counts differ from what is written. */
export interface Written {
  wroteAt?: Instant;
  differsSince?: Instant;
}

/** Whether to write, now or a little later. */
export function computeStep(
  before: TTLPolicyStatus | undefined,
  next: TTLPolicyStatus,
  { wroteAt, differsSince }: Written,
  now: Instant,
): StatusStep {
  if (equal(asJson(before), asJson(next))) return { kind: 'same' };
  if (isNewState(before, next)) return { kind: 'write' };
  const company = plus(differsSince ?? now, COMPANY);
  const at = instant(Math.max(company, wroteAt === undefined ? company : plus(wroteAt, STATUS_GAP)));
  return isDue(at, now) ? { kind: 'write' } : { kind: 'later', at };
}

/** A missing count and null are the same to whoever reads. */
function asJson(status: TTLPolicyStatus = {}): Json {
  const { nextExpiry = null, ...rest } = status;
  return { ...rest, nextExpiry } as unknown as Json;
}

function isNewState(before: TTLPolicyStatus | undefined, next: TTLPolicyStatus): boolean {
  const [a, b] = [before?.conditions?.[0], next.conditions?.[0]];
  return (
    before?.observedGeneration !== next.observedGeneration ||
    a?.status !== b?.status ||
    a?.reason !== b?.reason
  );
}
