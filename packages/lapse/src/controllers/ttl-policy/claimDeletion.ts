// Claims one deletion from the limits of a policy. Deletions are counted in the status of the policy before they are sent.

import { assertNever } from '@lapse/base/assertNever';
import { type Millis, minutes, plus } from '@lapse/base/instant';
import { again, type Outcome, waitUntil } from '@lapse/runtime/outcome';
import { patchStatus } from '@lapse/runtime/patchStatus';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import type { LimitsStatus } from '#api/limits';
import { type ActivePolicy, identityOf } from './policies.ts';
import { reportStopped } from './reportStopped.ts';
import { computeStatus, type Report } from './status.ts';

/** The retry interval while the policy is stopped. Its Ready condition triggers a reconcile when it goes on. */
const STOPPED_RETRY: Millis = minutes(5);

/** Returns undefined if the object may be deleted now; otherwise the outcome of the reconcile. */
export function claimDeletion(
  ctx: ReconcileContext,
  by: ActivePolicy,
  uid: string,
): Promise<Outcome> | Outcome | undefined {
  if (by.mode !== 'Enforce' || ctx.dryRun) return undefined;
  const { gate } = by.limits;
  const claim = gate.claim(uid, ctx.now, by.limits.limitsOf(by).length > 0);
  switch (claim.kind) {
    case 'go':
      return undefined;
    case 'exceeded':
      return stopped(ctx);
    case 'reserve':
      return reserveBlock(ctx, by);
    default:
      return assertNever(claim);
  }
}

const stopped = (ctx: ReconcileContext): Outcome =>
  waitUntil(plus(ctx.now, STOPPED_RETRY), 'held: the policy is stopped at its limit');

/** The object is decided again after the write: it may have changed meanwhile. */
async function reserveBlock(ctx: ReconcileContext, by: ActivePolicy): Promise<Outcome> {
  const { matched, due } = by.records.count(ctx.now);
  const { limits } = by;
  const reserved = await limits.gate.reserve({
    situation: {
      limits: limits.limitsOf(by),
      now: ctx.now,
      generation: generationOf(by),
      selected: matched,
      due,
    },
    write: (state) => writeLimits(ctx, by, state),
    read: () => policyOf(ctx, by)?.status?.limits ?? limits.gate.state,
  });
  switch (reserved) {
    case 'reserved':
      return waitUntil(ctx.now, 'deletions are reserved');
    case 'exceeded':
      return stopped(ctx);
    case 'changed':
      return again('the policy has changed since it was read');
    default:
      return assertNever(reserved);
  }
}

const generationOf = ({ identity }: ActivePolicy): number => Number(identity.split(' ')[1]);

const policyOf = (ctx: ReconcileContext, by: ActivePolicy) => {
  const cached = ctx.cache.get(by.of, by.key);
  return cached && by.limits.newest(cached);
};

/** Writes the limits; when the policy stops, also its condition. Only over the policy that this process knows. */
async function writeLimits(ctx: ReconcileContext, by: ActivePolicy, limits: LimitsStatus): Promise<boolean> {
  const policy = policyOf(ctx, by);
  if (policy === undefined || identityOf(policy) !== by.identity) return false;
  const { generation } = policy.metadata;
  const report: Report = {
    kind: 'working',
    mode: by.mode,
    counts: by.records.count(ctx.now),
    deleted: by.records.deleted,
    limits,
    enforcedGeneration: generation,
  };
  const status = limits.exceeded === undefined ? { limits } : computeStatus(policy, report, ctx.now);
  const patched = await patchStatus(ctx, by.of, policy, status);
  if (patched.kind === 'refused') throw patched.error;
  if ('outcome' in patched) return false;
  by.limits.remember(patched.object);
  reportStopped(ctx, policy, status);
  return true;
}
