// Approvals: a user lets a rule that stopped at its limit go on. The annotation names the generation of the spec and how
// many deletions are approved. It is void if the spec has changed or more objects are due by now.

import { formatTime, type Instant } from '@lapse/base/instant';
import { equal } from '@lapse/kube/api/json';
import type { ObjectMeta } from '@lapse/kube/api/object';
import { type LimitApproval, type LimitsStatus, MOST_APPROVALS } from '#api/limits';

/** Written by `lapse approve`. */
export const APPROVAL_ANNOTATION = 'lapse.dev/approved-deletions';
/** Written by the webhook: the user who wrote the approval. */
export const APPROVER_ANNOTATION = 'lapse.dev/approved-by';

export interface Approval {
  readonly generation: number;
  readonly deletions: number;
  /** Makes two approvals of the same number differ: each is accepted once. */
  readonly at?: string;
}

export const formatApproval = ({ generation, deletions, at }: Approval): string =>
  JSON.stringify({ generation, deletions, ...(at === undefined ? {} : { at }) });

export function parseApproval(text: string): Approval | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  const { generation, deletions, at } = (parsed ?? {}) as Partial<Approval>;
  if (!isCount(generation) || !isCount(deletions)) return undefined;
  return { generation, deletions, ...(typeof at === 'string' ? { at } : {}) };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

export type ApprovalReview =
  /** There is no new approval. */
  | { readonly kind: 'none' }
  | { readonly kind: 'void'; readonly why: string }
  | { readonly kind: 'accepted'; readonly state: LimitsStatus };

export interface ApprovalSituation {
  readonly metadata: ObjectMeta;
  /** The objects to be deleted now. */
  readonly due: number;
  readonly now: Instant;
  /** Whether the webhook records who approves; otherwise APPROVER_ANNOTATION could be written by any client. */
  readonly isRecorded: boolean;
}

/** Whether the annotation lets the rule go on. The deletions that it approves count in no window. */
export function reviewApproval(
  state: LimitsStatus,
  { metadata, due, now, isRecorded }: ApprovalSituation,
): ApprovalReview {
  const { annotations = {}, generation = 0 } = metadata;
  const text = annotations[APPROVAL_ANNOTATION];
  const { approvals = [] } = state;
  if (text === undefined || state.exceeded === undefined) return { kind: 'none' };
  if (approvals.some(({ annotation }) => annotation === text)) return { kind: 'none' };
  const approval = parseApproval(text);
  if (approval === undefined)
    return {
      kind: 'void',
      why: `the annotation ${APPROVAL_ANNOTATION} is not {"generation":…,"deletions":…}`,
    };
  const { deletions } = approval;
  if (approval.generation !== generation)
    return {
      kind: 'void',
      why: `the approval is for generation ${approval.generation} of the spec, which is ${generation} now`,
    };
  if (due > deletions)
    return { kind: 'void', why: `${deletions} deletions are approved, but ${due} objects are due` };
  const by = isRecorded ? annotations[APPROVER_ANNOTATION] : undefined;
  const accepted: LimitApproval = {
    generation,
    deletions,
    at: formatTime(now),
    ...(by === undefined ? {} : { by }),
    annotation: text,
  };
  return {
    kind: 'accepted',
    state: {
      ...(deletions === 0 ? {} : { approved: { generation, deletions, used: 0 } }),
      approvals: [accepted, ...approvals].slice(0, MOST_APPROVALS),
    },
  };
}

/** Removes an approval whose deletions are done, or whose spec has changed. */
export function endApproval(state: LimitsStatus, due: number, generation: number): LimitsStatus {
  const { approved, ...rest } = state;
  if (approved === undefined || (due > 0 && approved.generation === generation)) return state;
  return rest;
}

/** For the webhook: records the caller when the approval changes, and keeps the record otherwise. */
export function recordApprover(
  annotations: Readonly<Record<string, string>> = {},
  before: Readonly<Record<string, string>> = {},
  caller: string,
): Readonly<Record<string, string>> {
  const { [APPROVER_ANNOTATION]: _, ...rest } = annotations;
  const approval = annotations[APPROVAL_ANNOTATION];
  const isChanged = approval !== before[APPROVAL_ANNOTATION];
  const approver = isChanged ? caller : before[APPROVER_ANNOTATION];
  const next =
    approval === undefined || approver === undefined ? rest : { ...rest, [APPROVER_ANNOTATION]: approver };
  return equal(next, annotations as typeof next) ? annotations : next;
}
