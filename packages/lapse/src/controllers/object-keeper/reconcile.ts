// Reconciles one keeper: reads its spec, looks up the followed object, and keeps or deletes the keeper.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant } from '@lapse/base/instant';
import { equal, type Json } from '@lapse/kube/api/json';
import { again, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import { patchStatus } from '@lapse/runtime/patchStatus';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { ObjectKeeper } from '#api/objectKeeper';
import { type Decision, outcomeOf } from '#deletion/deletion';
import type { Expirer } from '#deletion/expirer';
import type { SkewGuard } from '#deletion/skewGuard';
import { observeDeletion } from '#requests/ownDeletion';
import { computePlan, computeRule, startsCounting } from './decide.ts';
import { type GatherOptions, getFollowed } from './gather.ts';

export interface KeeperOptions extends GatherOptions {
  readonly expirer: Expirer<unknown>;
  readonly guard: Pick<SkewGuard, 'stamp'>;
  /** Resources of other kinds that keepers may follow; used for the RBAC rules. */
  readonly follow?: readonly string[];
}

export async function reconcileKeeper(ctx: ReconcileContext, options: KeeperOptions): Promise<Outcome> {
  const keeper = ctx.cache.get(ObjectKeeper, ctx.key);
  const observed = observeDeletion(ctx, ObjectKeeper, keeper, options.expirer);
  if (observed !== undefined || keeper === undefined) return observed ?? settled();
  const rule = computeRule(keeper);
  const found = rule.kind === 'follow' ? await getFollowed(ctx, rule, keeper, options) : undefined;
  if (found === undefined) ctx.dynamic.declare([]);
  const { followed, blind = false } = found ?? {};
  const stamp = startsCounting(rule, followed, keeper) ? await options.guard.stamp() : undefined;
  const plan = computePlan(rule, followed, { keeper, now: ctx.now, blind, stamp });
  switch (plan.kind) {
    case 'delete':
      return deleteKeeper(ctx, keeper, plan.since, options.expirer);
    case 'wait':
      return waitUntil(plan.until, 'held: clock');
    case 'keep': {
      const { status, until } = plan;
      const patched = await patchStatus(ctx, ObjectKeeper, keeper, { ...status, lostAt: status.lostAt });
      if ('outcome' in patched) return patched.outcome;
      return until === undefined ? settled() : waitUntil(until, 'keeper');
    }
    default:
      return assertNever(plan);
  }
}

async function deleteKeeper(
  ctx: ReconcileContext,
  keeper: ObjectKeeper,
  since: Instant,
  expirer: Expirer<unknown>,
): Promise<Outcome> {
  /** The loss was just confirmed, so only the spec and `lostAt` of the keeper are compared. */
  const decide = (live: ObjectKeeper): Decision<'changed'> =>
    live.status?.lostAt === keeper.status?.lostAt &&
    equal(live.spec as Json | undefined, keeper.spec as Json | undefined)
      ? { kind: 'delete', since }
      : { kind: 'keep', because: 'changed' };
  const deletion = await expirer.expire(ctx, { kind: ObjectKeeper, object: keeper, since, decide });
  return outcomeOf(deletion, () => again('the keeper changed'));
}
