// Emits one Event when a policy stops at a limit.

import { findCondition } from '@lapse/kube/api/conditions';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { TTLPolicyStatus } from '#api/ttlPolicy';
import type { AnyPolicy } from './compile.ts';

export const LIMIT_EXCEEDED = 'LimitExceeded';

/** `policy`: before the write of `status`. */
export function reportStopped(ctx: ReconcileContext, policy: AnyPolicy, status: TTLPolicyStatus): void {
  const before = findCondition(policy.status?.conditions, 'Ready');
  const after = findCondition(status.conditions, 'Ready');
  if (after?.reason !== LIMIT_EXCEEDED || before?.reason === LIMIT_EXCEEDED) return;
  const note = after.message ?? '';
  ctx.event(policy, { type: 'Warning', reason: LIMIT_EXCEEDED, action: 'Delete', note });
}
