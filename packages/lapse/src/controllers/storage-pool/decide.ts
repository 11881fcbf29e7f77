// Computes which nodes are eligible, and until when the result is valid:
//   eligible = matchesNodeLabelSelector AND matchesZones AND (nodeReady OR withinGracePeriod)
// The input nodes already match selector and zones. The state of the agent, the node's cordon and the volume groups
// is reported with each node but never decides: the agent is scheduled only after its node is eligible.

import { type Instant, instant, isDue, type Millis, parseTime, plus } from '@lapse/base/instant';
import { findCondition } from '@lapse/kube/api/conditions';
import type { Node, Pod } from '@lapse/kube/api/kinds/builtin';
import type { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import type {
  EligibleNode,
  EligibleNodeLVMVolumeGroup,
  LVMVolumeGroupReference,
  ReplicatedStoragePool,
} from '#api/replicatedStoragePool';
import { ZONE_LABEL } from './nodeSelector.ts';
import type { LVGs } from './validate.ts';

/** If present with any value, the volume group takes no new volumes. The second name is used in existing clusters. */
export const UNSCHEDULABLE_ANNOTATIONS = [
  'storage.deckhouse.io/lvmVolumeGroupUnschedulable',
  'sds-replicated-volume.deckhouse.io/unschedulable',
] as const;

export interface EligibilityInputs {
  readonly rsp: ReplicatedStoragePool;
  /** Selected by the pool, sorted by name. */
  readonly nodes: readonly Node[];
  readonly lvgs: LVGs;
  readonly agentReadyByNode: ReadonlyMap<string, boolean>;
  readonly gracePeriod: Millis;
  /** For nodes whose transition is in the future: when it was first seen. Default: now. */
  readonly firstSeen?: ReadonlyMap<string, Instant>;
}

export interface ActualEligibleNodes {
  readonly eligibleNodes: EligibleNode[];
  /** When the result changes through time alone: the earliest end of a grace period. */
  readonly worldStateExpiresAt: Instant | undefined;
  /** Nodes whose grace period has expired, and since when. */
  readonly expired: ReadonlyMap<string, Instant>;
}

export function computeActualEligibleNodes(inputs: EligibilityInputs, now: Instant): ActualEligibleNodes {
  const { rsp, nodes, lvgs, agentReadyByNode, gracePeriod, firstSeen } = inputs;
  const lvgByNode = buildLVGByNodeMap(rsp, lvgs);
  const eligibleNodes: EligibleNode[] = [];
  const expired = new Map<string, Instant>();
  let worldStateExpiresAt: Instant | undefined;
  for (const node of nodes) {
    const name = node.metadata.name!;
    const state = isNodeReadyOrWithinGrace(node, gracePeriod, now, firstSeen?.get(name));
    if (state.kind === 'expired') {
      expired.set(name, state.since);
      continue;
    }
    if (state.kind === 'withinGrace') worldStateExpiresAt = earlier(worldStateExpiresAt, state.until);
    const zoneName = node.metadata.labels?.[ZONE_LABEL];
    const lvmVolumeGroups = lvgByNode.get(name);
    eligibleNodes.push({
      nodeName: name,
      ...(zoneName ? { zoneName } : {}),
      nodeReady: state.kind === 'ready',
      unschedulable: node.spec?.unschedulable === true,
      agentReady: agentReadyByNode.get(name) === true,
      ...(lvmVolumeGroups === undefined ? {} : { lvmVolumeGroups }),
    });
  }
  return { eligibleNodes, worldStateExpiresAt, expired };
}

const earlier = (a: Instant | undefined, b: Instant): Instant => (a !== undefined && a < b ? a : b);

export type NodeState =
  | { readonly kind: 'ready' }
  | { readonly kind: 'withinGrace'; readonly until: Instant }
  | { readonly kind: 'expired'; readonly since: Instant };

/** When the node stopped being Ready. Undefined: it is Ready. */
export function transitionOf(node: Node): Instant | undefined {
  const ready = findCondition(node.status?.conditions, 'Ready');
  return ready?.status === 'True' ? undefined : (timeOf(ready?.lastTransitionTime) ?? bornAt(node));
}

/**
 * A transition in the future means that another clock is ahead. It does not extend the grace period, which counts
 * from `firstSeen` in this case.
 */
export function isNodeReadyOrWithinGrace(
  node: Node,
  gracePeriod: Millis,
  now: Instant,
  firstSeen: Instant = now,
): NodeState {
  const transition = transitionOf(node);
  if (transition === undefined) return { kind: 'ready' };
  const expiration = plus(instant(Math.min(transition, firstSeen, now)), gracePeriod);
  return isDue(expiration, now)
    ? { kind: 'expired', since: expiration }
    : { kind: 'withinGrace', until: expiration };
}

const timeOf = (text: string | null | undefined): Instant | undefined => {
  const at = parseTime(text ?? '');
  return Number.isNaN(at) ? undefined : at;
};

/** A node without a transition time counts as not Ready since its creation. */
const bornAt = ({ metadata }: Node): Instant => timeOf(metadata.creationTimestamp) ?? instant(0);

/** The pool's volume groups by node, sorted by name and thin pool. Duplicate references count once. */
export function buildLVGByNodeMap(
  rsp: ReplicatedStoragePool,
  lvgs: LVGs,
): Map<string, EligibleNodeLVMVolumeGroup[]> {
  const byNode = new Map<string, EligibleNodeLVMVolumeGroup[]>();
  const seen = new Set<string>();
  for (const reference of rsp.spec.lvmVolumeGroups) {
    const { name, thinPoolName } = reference;
    const lvg = lvgs.get(name);
    const nodeName = lvg?.spec?.local?.nodeName;
    const id = `${name}/${thinPoolName ?? ''}`;
    if (lvg === undefined || !nodeName || seen.has(id)) continue;
    seen.add(id);
    const entry: EligibleNodeLVMVolumeGroup = {
      name,
      ...(thinPoolName ? { thinPoolName } : {}),
      unschedulable: isLVGUnschedulable(lvg),
      ready: isLVGReady(lvg, rsp.spec.type, reference),
    };
    const list = byNode.get(nodeName);
    if (list === undefined) byNode.set(nodeName, [entry]);
    else list.push(entry);
  }
  for (const list of byNode.values()) if (list.length > 1) list.sort(byNameAndThinPool);
  return byNode;
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const byNameAndThinPool = (a: EligibleNodeLVMVolumeGroup, b: EligibleNodeLVMVolumeGroup): number =>
  compareText(a.name, b.name) || compareText(a.thinPoolName ?? '', b.thinPoolName ?? '');

/** LVM: the volume group is Ready. LVMThin: the referenced thin pool is ready too. */
export function isLVGReady(
  lvg: LVMVolumeGroup,
  type: ReplicatedStoragePool['spec']['type'],
  { thinPoolName }: Pick<LVMVolumeGroupReference, 'thinPoolName'>,
): boolean {
  const { conditions = [], thinPools = [] } = lvg.status ?? {};
  if (!conditions.some((condition) => condition.type === 'Ready' && condition.status === 'True'))
    return false;
  return type === 'LVM' || thinPools.some(({ name, ready }) => name === thinPoolName && ready === true);
}

export const isLVGUnschedulable = ({ metadata: { annotations = {} } }: LVMVolumeGroup): boolean =>
  UNSCHEDULABLE_ANNOTATIONS.some((key) => Object.hasOwn(annotations, key));

/** A terminating Pod does not count. */
export const isAgentReady = ({ metadata, status }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  (status?.conditions ?? []).some(({ type, status }) => type === 'Ready' && status === 'True');

/**
 * Whether the node has every network the pool requests. Every node has the default network, Internal. No other
 * networks are watched, so a pool that names one (the schema rejects this) matches no node.
 */
export const hasSystemNetworks = (_node: Node, systemNetworkNames: readonly string[]): boolean =>
  systemNetworkNames.every((name) => name === 'Internal');
