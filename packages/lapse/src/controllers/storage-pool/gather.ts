// Reads what the status of a pool depends on, from the caches or from a snapshot: volume groups, selected nodes,
// agents.

import { Node, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KindReader } from '@lapse/runtime/reconcileContext';
import { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import type { ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { hasSystemNetworks, isAgentReady } from './decide.ts';
import { ANY_LABEL } from './nodeSelector.ts';
import { AGENT_LABEL, NODES_BY_LABEL, PODS_BY_NODE } from './sources.ts';
import type { LVGs, Validation } from './validate.ts';

type Selector = Extract<Validation, { kind: 'valid' }>['nodeSelector'];

/** A reconcile, or a forecast with the same sources. */
interface Cached {
  readonly cache: KindReader;
}

/** The existing ones, by name. */
export function getLVGsByRSP({ cache }: Cached, { spec }: ReplicatedStoragePool): LVGs {
  const lvgs = new Map<string, LVMVolumeGroup>();
  for (const { name } of spec.lvmVolumeGroups) {
    const lvg = cache.get(LVMVolumeGroup, { name });
    if (lvg !== undefined) lvgs.set(name, lvg);
  }
  return lvgs;
}

/** The nodes that the pool selects, sorted by name. */
export function getSortedNodes(
  { cache }: Cached,
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
export function getAgentReadiness({ cache }: Cached, nodes: readonly Node[]): Map<string, boolean> {
  const readiness = new Map<string, boolean>();
  for (const { metadata } of nodes) {
    const pods = cache.byIndex(Pod, PODS_BY_NODE, metadata.name!);
    readiness.set(metadata.name!, pods.some(isAgentReady));
  }
  return readiness;
}

/** Without any agent Pod the agents probably run in another namespace, and `agentReady` of every node is false. */
export function agentHint({ cache }: Cached, agentNamespace: string): string {
  for (const _ of cache.list(Pod)) return '';
  return `no agent Pods (label ${AGENT_LABEL}) found in namespace ${agentNamespace}`;
}
