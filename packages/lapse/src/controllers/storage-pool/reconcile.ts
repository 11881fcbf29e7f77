// The reconcile of one pool: reads everything, computes the status, writes it once if it changed, and returns when
// the next grace period ends.

import type { Clock } from '@lapse/base/clock';
import { isDue, millis } from '@lapse/base/instant';
import { Node, Pod } from '@lapse/kube/api/kinds/builtin';
import { again, type Outcome, settled, terminal, waitUntil } from '@lapse/runtime/outcome';
import { type Patched, patchStatus } from '@lapse/runtime/patchStatus';
import type { KindReader, ReconcileContext } from '@lapse/runtime/reconcileContext';
import { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import { ReplicatedStoragePool, type ReplicatedStoragePoolStatus } from '#api/replicatedStoragePool';
import type { SkewGuard } from '#deletion/skewGuard';
import {
  type ActualEligibleNodes,
  computeActualEligibleNodes,
  hasSystemNetworks,
  isAgentReady,
} from './compute.ts';
import type { FutureTransitions } from './futureTransitions.ts';
import { ANY_LABEL } from './nodeSelector.ts';
import { AGENT_LABEL, NODES_BY_LABEL, PODS_BY_NODE } from './sources.ts';
import {
  applyEligibleNodesAndIncrementRevisionIfChanged,
  applyLegacyFieldsCleared,
  applyReadyCondFalse,
  applyReadyCondTrue,
} from './status.ts';
import { type LVGs, type Problem, type Validation, validateLimits, validateRSPAndLVGs } from './validate.ts';

type Selector = Extract<Validation, { kind: 'valid' }>['nodeSelector'];

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
  const found = getRSP(ctx);
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
    applyReadyCondTrue(listed, eligibleNodes.length, observed(ctx, rsp), agentHint(ctx, options)),
  );
  return 'outcome' in patched ? patched.outcome : outcome;
}

/** Without any agent Pod the agents probably run in another namespace, and `agentReady` of every node is false. */
function agentHint({ cache }: ReconcileContext, { agentNamespace }: ReconcileOptions): string {
  for (const _ of cache.list(Pod)) return '';
  return `no agent Pods (label ${AGENT_LABEL}) found in namespace ${agentNamespace}`;
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

// Single reads and writes.

const getRSP = ({ cache, key }: ReconcileContext): ReplicatedStoragePool | undefined =>
  cache.get(ReplicatedStoragePool, key);

/** The existing ones, by name. */
function getLVGsByRSP({ cache }: ReconcileContext, { spec }: ReplicatedStoragePool): LVGs {
  const lvgs = new Map<string, LVMVolumeGroup>();
  for (const { name } of spec.lvmVolumeGroups) {
    const lvg = cache.get(LVMVolumeGroup, { name });
    if (lvg !== undefined) lvgs.set(name, lvg);
  }
  return lvgs;
}

/** The nodes that the pool selects, sorted by name. */
function getSortedNodes(
  { cache }: ReconcileContext,
  { spec }: ReplicatedStoragePool,
  selector: Selector,
): Node[] {
  const nodes: Node[] = [];
  for (const node of candidates(cache, selector))
    if (selector.matches(node.metadata.labels) && hasSystemNetworks(node, spec.systemNetworkNames ?? []))
      nodes.push(node);
  return nodes.sort((a, b) => (a.metadata.name! < b.metadata.name! ? -1 : 1));
}

/**
 * Nodes with one of the labels that the selector requires, or all nodes if no single label is required. The labels
 * have the same key, so no node is returned twice.
 */
const candidates = (cache: KindReader, { requires }: Selector): Iterable<Node> =>
  requires.includes(ANY_LABEL)
    ? cache.list(Node)
    : requires.flatMap((label) => cache.byIndex(Node, NODES_BY_LABEL, label));

/** The agent of a node is ready if any of its Pods is. */
function getAgentReadiness({ cache }: ReconcileContext, nodes: readonly Node[]): Map<string, boolean> {
  const readiness = new Map<string, boolean>();
  for (const { metadata } of nodes) {
    const pods = cache.byIndex(Pod, PODS_BY_NODE, metadata.name!);
    readiness.set(metadata.name!, pods.some(isAgentReady));
  }
  return readiness;
}

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
