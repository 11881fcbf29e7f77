// Reconciles one keeper: reads its spec, looks up the followed object, and keeps or deletes the keeper.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant } from '@lapse/base/instant';
import { equal, type Json } from '@lapse/kube/api/json';
import { keyOf } from '@lapse/kube/api/kind';
import { again, failed, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { ObjectKeeper } from '#api/objectKeeper';
import { outcomeOf } from '#deletion/deletion';
import type { Decision, GuardedDeletes } from '#deletion/guardedDelete';
import type { SkewGuard } from '#deletion/skewGuard';
import { computePlan, computeRule, startsCounting } from './compute.ts';
import { type LookupOptions, lookup } from './lookup.ts';
import { computeStatusPatch } from './status.ts';

export interface KeeperOptions extends LookupOptions {
  readonly deletes: GuardedDeletes;
  readonly guard: Pick<SkewGuard, 'stamp'>;
  /** Resources of other kinds that keepers may follow; used for the RBAC rules. */
  readonly follow?: readonly string[];
}

export async function reconcileKeeper(ctx: ReconcileContext, options: KeeperOptions): Promise<Outcome> {
  const keeper = ctx.cache.get(ObjectKeeper, ctx.key);
  if (keeper === undefined || keeper.metadata.deletionTimestamp !== undefined) return settled();
  const rule = computeRule(keeper);
  const found = rule.kind === 'follow' ? await lookup(ctx, rule, keeper, options) : undefined;
  if (found === undefined) ctx.dynamic.declare([]);
  const { followed, blind = false } = found ?? {};
  const stamp = startsCounting(rule, followed, keeper) ? await options.guard.stamp() : undefined;
  const plan = computePlan(rule, followed, { keeper, now: ctx.now, blind, stamp });
  switch (plan.kind) {
    case 'delete':
      return deleteKeeper(ctx, keeper, plan.since, options.deletes);
    case 'wait':
      return waitUntil(plan.until, 'held: clock');
    case 'keep':
      return (
        (await patchStatus(ctx, keeper, plan.status)) ??
        (plan.until === undefined ? settled() : waitUntil(plan.until, 'keeper'))
      );
    default:
      return assertNever(plan);
  }
}

async function deleteKeeper(
  ctx: ReconcileContext,
  keeper: ObjectKeeper,
  since: Instant,
  deletes: GuardedDeletes,
): Promise<Outcome> {
  /** The loss was just confirmed, so only the spec and `lostAt` of the keeper are compared. */
  const decide = (live: ObjectKeeper): Decision<'changed'> =>
    live.status?.lostAt === keeper.status?.lostAt &&
    equal(live.spec as Json | undefined, keeper.spec as Json | undefined)
      ? { kind: 'delete', since }
      : { kind: 'keep', verdict: 'changed' };
  const deletion = await deletes.delete(ctx, { kind: ObjectKeeper, object: keeper, since, decide });
  return outcomeOf(deletion, () => again('the keeper changed'));
}

/** The outcome if the status could not be written; undefined if the status is up to date. */
async function patchStatus(
  ctx: ReconcileContext,
  keeper: ObjectKeeper,
  wanted: NonNullable<ObjectKeeper['status']>,
): Promise<Outcome | undefined> {
  const patch = computeStatusPatch(keeper, wanted);
  if (patch === undefined) return undefined;
  const { resourceVersion: ifVersion, uid: ifUid } = keeper.metadata;
  const answer = await ctx.client.patch(
    ObjectKeeper,
    keyOf(keeper),
    { type: 'merge', patch },
    { subresource: 'status', ifVersion: ifVersion!, ifUid: ifUid! },
  );
  switch (answer.kind) {
    case 'patched':
      return undefined;
    case 'missing':
      return settled();
    case 'conflict':
      return again('the keeper changed');
    case 'invalid':
      return failed(answer.error);
    default:
      return assertNever(answer);
  }
}
