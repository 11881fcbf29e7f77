// What is watched: per kind, the fields that decisions read (projection), the fields whose change is relevant
// (facts), the indexes, and the mapping from a changed object to the pools it concerns. Pure functions.

import { findCondition } from '@lapse/kube/api/conditions';
import { keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import { type Condition, Node, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject, ObjectMeta } from '@lapse/kube/api/object';
import type { WatchDefinition } from '@lapse/runtime/definition';
import type { KindReader } from '@lapse/runtime/reconcileContext';
import type { Projection } from '@lapse/runtime/source';
import { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import { ReplicatedStoragePool } from '#api/replicatedStoragePool';
import { isAgentReady, isLVGUnschedulable, UNSCHEDULABLE_ANNOTATIONS } from './decide.ts';
import { ANY_LABEL, labelText, nodeSelectorOf } from './nodeSelector.ts';

export const BY_ELIGIBLE_NODE = 'status.eligibleNodes[].nodeName';
export const BY_LVG_NAME = 'spec.lvmVolumeGroups[].name';
export const BY_REQUIRED_LABEL = 'spec.nodeLabelSelector, spec.zones';
export const NODES_BY_LABEL = 'metadata.labels';
export const PODS_BY_NODE = 'spec.nodeName';

export const AGENT_LABEL = 'app=agent';

export const poolIndexes = {
  [BY_ELIGIBLE_NODE]: ({ status }: ReplicatedStoragePool) =>
    (status?.eligibleNodes ?? []).map(({ nodeName }) => nodeName),
  [BY_LVG_NAME]: ({ spec }: ReplicatedStoragePool) => [
    ...new Set(spec.lvmVolumeGroups.map(({ name }) => name)),
  ],
  [BY_REQUIRED_LABEL]: (pool: ReplicatedStoragePool) => {
    const selector = nodeSelectorOf(pool);
    return selector.kind === 'selector' ? selector.requires : [ANY_LABEL];
  },
};

/**
 * The generation, and a summary of the status fields that this controller owns. A decision that required no write
 * may be based on a stale copy. It is repeated when the newer copy arrives. The price is one reconcile without a
 * write after each write.
 */
export const poolFacts = ({ metadata, status = {} }: ReplicatedStoragePool) => {
  const ready = findCondition(status.conditions, 'Ready');
  return {
    generation: metadata.generation,
    revision: status.eligibleNodesRevision,
    nodes: status.eligibleNodes?.length ?? 0,
    ready: [ready?.status, ready?.reason, ready?.message, ready?.observedGeneration],
    phase: [status.phase, status.message, status.reason],
  };
};

const identityOf = ({ name, namespace, uid, resourceVersion }: ObjectMeta): ObjectMeta => ({
  ...(name === undefined ? {} : { name }),
  ...(namespace === undefined ? {} : { namespace }),
  ...(uid === undefined ? {} : { uid }),
  ...(resourceVersion === undefined ? {} : { resourceVersion }),
});

interface WithConditions extends KubeObject {
  status?: { conditions?: Condition[] };
}
const readyOf = ({ status }: WithConditions): Condition | undefined =>
  findCondition(status?.conditions, 'Ready');

/** State and transition time of Ready. Heartbeats and messages are dropped. */
function readyOnly(object: WithConditions): Condition[] {
  const { status = '', lastTransitionTime } = readyOf(object) ?? {};
  if (status === '') return [];
  return [{ type: 'Ready', status, ...(lastTransitionTime === undefined ? {} : { lastTransitionTime }) }];
}

export const nodeProjection: Projection<Node> = {
  name: 'storage-pool',
  project: (node) => ({
    apiVersion: node.apiVersion,
    kind: node.kind,
    metadata: {
      ...identityOf(node.metadata),
      ...(node.metadata.creationTimestamp ? { creationTimestamp: node.metadata.creationTimestamp } : {}),
      ...(node.metadata.labels === undefined ? {} : { labels: node.metadata.labels }),
    },
    ...(node.spec?.unschedulable === true ? { spec: { unschedulable: true } } : {}),
    status: { conditions: readyOnly(node) },
  }),
};

export const nodeFacts = (node: Node) => {
  const ready = readyOf(node);
  return {
    labels: node.metadata.labels ?? {},
    createdAt: node.metadata.creationTimestamp,
    ready: ready?.status,
    since: ready?.lastTransitionTime,
    unschedulable: node.spec?.unschedulable === true,
  };
};

const labelsOf = ({ metadata }: Node): string[] =>
  Object.entries(metadata.labels ?? {}).map(([key, value]) => labelText(key, value));

export const nodeIndexes = { [NODES_BY_LABEL]: labelsOf };

export const lvgProjection: Projection<LVMVolumeGroup> = {
  name: 'storage-pool',
  project: (lvg) => {
    const { generation, annotations = {} } = lvg.metadata;
    const kept = UNSCHEDULABLE_ANNOTATIONS.filter((key) => Object.hasOwn(annotations, key));
    const nodeName = lvg.spec?.local?.nodeName;
    return {
      apiVersion: lvg.apiVersion,
      kind: lvg.kind,
      metadata: {
        ...identityOf(lvg.metadata),
        ...(generation === undefined ? {} : { generation }),
        ...(kept.length === 0 ? {} : { annotations: Object.fromEntries(kept.map((key) => [key, ''])) }),
      },
      spec: {
        ...(nodeName === undefined ? {} : { local: { nodeName } }),
        thinPools: (lvg.spec?.thinPools ?? []).map(({ name }) => ({ name })),
      },
      status: {
        conditions: readyOnly(lvg),
        thinPools: (lvg.status?.thinPools ?? []).map(({ name, ready }) => ({ name, ready: ready === true })),
      },
    };
  },
};

export const lvgFacts = (lvg: LVMVolumeGroup) => ({
  generation: lvg.metadata.generation,
  nodeName: lvg.spec?.local?.nodeName,
  thinPools: (lvg.spec?.thinPools ?? []).map(({ name }) => name),
  unschedulable: isLVGUnschedulable(lvg),
  ready: readyOf(lvg)?.status ?? 'Unknown',
  thinPoolsReady: (lvg.status?.thinPools ?? []).map(({ name, ready }) => [name, ready === true]),
});

export const podProjection: Projection<Pod> = {
  name: 'storage-pool',
  project: (pod) => ({
    apiVersion: pod.apiVersion,
    kind: pod.kind,
    metadata: {
      ...identityOf(pod.metadata),
      ...(pod.metadata.deletionTimestamp === undefined
        ? {}
        : { deletionTimestamp: pod.metadata.deletionTimestamp }),
    },
    ...(pod.spec?.nodeName ? { spec: { nodeName: pod.spec.nodeName } } : {}),
    status: { conditions: readyOnly(pod) },
  }),
};

export const podFacts = (pod: Pod) => ({ nodeName: pod.spec?.nodeName, ready: isAgentReady(pod) });

export const podIndexes = {
  [PODS_BY_NODE]: ({ spec }: Pod) => (spec?.nodeName ? [spec.nodeName] : []),
};

/** Pools that list the node, and pools that select it. A pool with an invalid selector counts as selecting it. */
export function* poolsOfNode(node: Node, cache: KindReader): Generator<ObjectKey> {
  const { name } = node.metadata;
  for (const pool of cache.byIndex(ReplicatedStoragePool, BY_ELIGIBLE_NODE, name!)) yield keyOf(pool);
  for (const hint of [ANY_LABEL, ...labelsOf(node)])
    for (const pool of cache.byIndex(ReplicatedStoragePool, BY_REQUIRED_LABEL, hint))
      if (mightSelect(pool, node)) yield keyOf(pool);
}

export function mightSelect(pool: ReplicatedStoragePool, { metadata }: Node): boolean {
  const selector = nodeSelectorOf(pool);
  return selector.kind === 'problem' || selector.matches(metadata.labels);
}

export const poolsOfLVG = ({ metadata }: LVMVolumeGroup, cache: KindReader): ObjectKey[] =>
  cache.byIndex(ReplicatedStoragePool, BY_LVG_NAME, metadata.name!).map(keyOf);

/** Whether there is at most one: the first was created, or the last was deleted. */
function isAlone(pods: Iterable<Pod>): boolean {
  let count = 0;
  for (const _ of pods) if (++count > 1) return false;
  return true;
}

/**
 * Includes pools that select the node: a pool that is about to list the node does not list it yet. All pools report
 * in their condition whether there are agents at all.
 */
export function* poolsOfPod({ spec }: Pod, cache: KindReader): Generator<ObjectKey> {
  if (isAlone(cache.list(Pod))) {
    for (const pool of cache.list(ReplicatedStoragePool)) yield keyOf(pool);
    return;
  }
  const name = spec?.nodeName;
  if (!name) return;
  const node = cache.get(Node, { name });
  if (node !== undefined) yield* poolsOfNode(node, cache);
  else for (const pool of cache.byIndex(ReplicatedStoragePool, BY_ELIGIBLE_NODE, name)) yield keyOf(pool);
}

export const NODES: WatchDefinition = {
  kind: Node,
  projection: nodeProjection,
  facts: nodeFacts,
  indexes: nodeIndexes,
  to: poolsOfNode,
} as WatchDefinition;

export const VOLUME_GROUPS: WatchDefinition = {
  kind: LVMVolumeGroup,
  projection: lvgProjection,
  facts: lvgFacts,
  to: poolsOfLVG,
} as WatchDefinition;

export const watches = (agentNamespace: string): readonly WatchDefinition[] => [
  NODES,
  VOLUME_GROUPS,
  {
    kind: Pod,
    namespace: agentNamespace,
    labelSelector: AGENT_LABEL,
    projection: podProjection,
    facts: podFacts,
    indexes: podIndexes,
    to: poolsOfPod,
  } as WatchDefinition,
];
