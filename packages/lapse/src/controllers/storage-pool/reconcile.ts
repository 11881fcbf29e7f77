// The reconcile of one pool: reads everything, computes the status, writes it once if it changed, and returns when
// the next grace period ends.

import type { Clock } from '@lapse/base/clock';
import { isDue, millis } from '@lapse/base/instant';
import { again, type Outcome, settled, terminal, waitUntil } from '@lapse/runtime/outcome';
import { type Patched, patchStatus } from '@lapse/runtime/patchStatus';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import { ReplicatedStoragePool, type ReplicatedStoragePoolStatus } from '#api/replicatedStoragePool';
import type { SkewGuard } from '#deletion/skewGuard';
import { type ActualEligibleNodes, computeActualEligibleNodes } from './decide.ts';
import type { FutureTransitions } from './futureTransitions.ts';
import { agentHint, getAgentReadiness, getLVGsByRSP, getSortedNodes } from './gather.ts';
import {
  applyEligibleNodesAndIncrementRevisionIfChanged,
  applyLegacyFieldsCleared,
  applyReadyCondFalse,
  applyReadyCondTrue,
} from './status.ts';
import { type Problem, validateLimits, validateRSPAndLVGs } from './validate.ts';

/** The API server's time. Checked before a node is removed because of time. */
export type TimeGuard = Pick<SkewGuard, 'check' | 'now'>;

export interface ReconcileOptions {
  readonly agentNamespace: string;
  /** Default: the time of a reconcile is trusted. */
  readonly guard?: TimeGuard;
  /** Default: the wall clock is used. */
  readonly clock?: Pick<Clock, 'elapsed'>;
  readonly transitions: FutureTransitions;
}

export async function reconcile(ctx: ReconcileContext, options: ReconcileOptions): Promise<Outcome> {
  const { guard } = options;
  const found = ctx.cache.get(ReplicatedStoragePool, ctx.key);
  if (found === undefined) return settled();
  const migrated = await patchRSPStatus(ctx, found, applyLegacyFieldsCleared(statusOf(found)));
  if ('outcome' in migrated) return migrated.outcome;
  const rsp = migrated.object;
  const lvgs = getLVGsByRSP(ctx, rsp);
  const validation = validateRSPAndLVGs(rsp, lvgs);
  if (validation.kind === 'invalid') return report(ctx, rsp, validation, settled());
  const nodes = getSortedNodes(ctx, rsp, validation.nodeSelector);
  const agentReadyByNode = getAgentReadiness(ctx, nodes);
  const elapsed = options.clock?.elapsed() ?? millis(ctx.now);
  const firstSeen = options.transitions.firstSeen(nodes, { now: ctx.now, elapsed });
  const inputs = { rsp, nodes, lvgs, agentReadyByNode, gracePeriod: validation.gracePeriod, firstSeen };
  const actual = computeActualEligibleNodes(inputs, ctx.now);
  if (!(await isTimeRight(rsp, actual, guard))) return again('our clock is ahead of the API server’s');
  const { eligibleNodes, worldStateExpiresAt } = actual;
  const outcome =
    worldStateExpiresAt === undefined ? settled() : waitUntil(worldStateExpiresAt, 'not ready grace period');
  const tooMany = validateLimits(eligibleNodes);
  if (tooMany !== undefined) return report(ctx, rsp, tooMany, outcome);
  const listed = applyEligibleNodesAndIncrementRevisionIfChanged(statusOf(rsp), eligibleNodes);
  const patched = await patchRSPStatus(
    ctx,
    rsp,
    applyReadyCondTrue(
      listed,
      eligibleNodes.length,
      observed(ctx, rsp),
      agentHint(ctx, options.agentNamespace),
    ),
  );
  return 'outcome' in patched ? patched.outcome : outcome;
}

/** Reports the problem in the condition. The list is kept. */
async function report(
  ctx: ReconcileContext,
  rsp: ReplicatedStoragePool,
  problem: Problem,
  outcome: Outcome,
): Promise<Outcome> {
  const status = applyReadyCondFalse(statusOf(rsp), problem, observed(ctx, rsp));
  const patched = await patchRSPStatus(ctx, rsp, status);
  return 'outcome' in patched ? patched.outcome : outcome;
}

/** A local clock that is ahead must not remove nodes from a list. Listed nodes expire by the API server's time. */
async function isTimeRight(
  rsp: ReplicatedStoragePool,
  { expired }: ActualEligibleNodes,
  guard: TimeGuard | undefined,
): Promise<boolean> {
  if (guard === undefined || expired.size === 0) return true;
  const leaving = (statusOf(rsp).eligibleNodes ?? []).flatMap(({ nodeName }) => expired.get(nodeName) ?? []);
  if (leaving.length === 0) return true;
  await guard.check();
  return leaving.every((since) => isDue(since, guard.now()));
}

const NO_STATUS: ReplicatedStoragePoolStatus = {};
const statusOf = (rsp: ReplicatedStoragePool): ReplicatedStoragePoolStatus => rsp.status ?? NO_STATUS;
const observed = ({ now }: ReconcileContext, { metadata }: ReplicatedStoragePool) => ({
  now,
  generation: metadata.generation ?? 0,
});

/** The status fields that this controller owns. Other writers own the rest. */
export const OUR_FIELDS = [
  'conditions',
  'eligibleNodes',
  'eligibleNodesRevision',
  'phase',
  'message',
  'reason',
] as const;

/** A refused status is not retried: the next one is computed from the same objects. */
async function patchRSPStatus(
  ctx: ReconcileContext,
  rsp: ReplicatedStoragePool,
  next: ReplicatedStoragePoolStatus,
): Promise<Patched<ReplicatedStoragePool>> {
  const fields = Object.fromEntries(OUR_FIELDS.map((field) => [field, next[field]]));
  const patched = await patchStatus(ctx, ReplicatedStoragePool, rsp, fields);
  return patched.kind === 'refused'
    ? { ...patched, outcome: terminal('StatusRefused', patched.error.message) }
    : patched;
}
