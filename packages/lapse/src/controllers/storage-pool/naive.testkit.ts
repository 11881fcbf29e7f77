// For tests and benchmarks: the expected status of a pool, computed from scratch from complete objects in the
// simplest way. It shares no code with the controller and uses no caches, indexes or earlier results.

import type { Node, Pod } from '@lapse/kube/api/kinds/builtin';
import type { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import type { EligibleNode, ReplicatedStoragePool } from '#api/replicatedStoragePool';

export interface Everything {
  readonly nodes: readonly Node[];
  readonly lvgs: readonly LVMVolumeGroup[];
  /** All Pods of all namespaces. */
  readonly pods: readonly Pod[];
  readonly agentNamespace: string;
}

export type Expected = { reason: 'Ready'; nodes: EligibleNode[] } | { reason: string; nodes?: undefined };

const ZONE = 'topology.kubernetes.io/zone';
const VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9])?$/;
const KEY = /^([a-z0-9]([-a-z0-9.]{0,250}[a-z0-9])?\/)?([A-Za-z0-9][-A-Za-z0-9_.]{0,61})?[A-Za-z0-9]$/;
const UNITS: Record<string, number> = { ns: 1e-6, us: 1e-3, ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

export function expectedOf(pool: ReplicatedStoragePool, all: Everything, now: number): Expected {
  const { spec } = pool;
  for (const reference of spec.lvmVolumeGroups)
    if (!all.lvgs.some((lvg) => lvg.metadata.name === reference.name))
      return { reason: 'LVMVolumeGroupNotFound' };
  if (spec.type === 'LVMThin')
    for (const reference of spec.lvmVolumeGroups) {
      const lvg = all.lvgs.find((candidate) => candidate.metadata.name === reference.name)!;
      const names = (lvg.spec?.thinPools ?? []).map((thinPool) => thinPool.name);
      if (!reference.thinPoolName || !names.includes(reference.thinPoolName))
        return { reason: 'InvalidLVMVolumeGroup' };
    }
  if (!isSelectorValid(pool) || !(spec.zones ?? []).every((zone) => VALUE.test(zone)))
    return { reason: 'InvalidNodeLabelSelector' };
  const grace = millisOf(spec.eligibleNodesPolicy.notReadyGracePeriod);
  if (grace === undefined) return { reason: 'InvalidEligibleNodesPolicy' };

  const nodes: EligibleNode[] = [];
  for (const node of all.nodes)
    if (isSelected(pool, node) && isInTime(node, grace, now)) nodes.push(entryOf(pool, node, all));
  nodes.sort((a, b) => Buffer.compare(Buffer.from(a.nodeName), Buffer.from(b.nodeName)));
  if (nodes.length > 1000 || nodes.some((node) => (node.lvmVolumeGroups ?? []).length > 50))
    return { reason: 'TooManyEligibleNodes' };
  return { reason: 'Ready', nodes };
}

function isSelectorValid({ spec }: ReplicatedStoragePool): boolean {
  const { matchLabels = {}, matchExpressions = [] } = spec.nodeLabelSelector ?? {};
  for (const [key, value] of Object.entries(matchLabels))
    if (!KEY.test(key) || !VALUE.test(value)) return false;
  for (const { key, operator, values = [] } of matchExpressions) {
    if (!KEY.test(key) || !values.every((value) => VALUE.test(value))) return false;
    if ((operator === 'In' || operator === 'NotIn') && values.length > 0) continue;
    if ((operator === 'Exists' || operator === 'DoesNotExist') && values.length === 0) continue;
    return false;
  }
  return true;
}

function isSelected({ spec }: ReplicatedStoragePool, node: Node): boolean {
  const labels = new Map(Object.entries(node.metadata.labels ?? {}));
  const { matchLabels = {}, matchExpressions = [] } = spec.nodeLabelSelector ?? {};
  for (const [key, value] of Object.entries(matchLabels)) if (labels.get(key) !== value) return false;
  for (const { key, operator, values = [] } of matchExpressions) {
    const value = labels.get(key);
    if (operator === 'In' && (value === undefined || values.indexOf(value) < 0)) return false;
    if (operator === 'NotIn' && value !== undefined && values.indexOf(value) >= 0) return false;
    if (operator === 'Exists' && value === undefined) return false;
    if (operator === 'DoesNotExist' && value !== undefined) return false;
  }
  const { zones = [] } = spec;
  const zone = labels.get(ZONE);
  return zones.length === 0 || (zone !== undefined && zones.indexOf(zone) >= 0);
}

const conditionOf = (object: {
  status?: { conditions?: { type: string; status: string; lastTransitionTime?: string }[] };
}) => (object.status?.conditions ?? []).filter((condition) => condition.type === 'Ready')[0];

function isInTime(node: Node, grace: number, now: number): boolean {
  const condition = conditionOf(node);
  if (condition !== undefined && condition.status === 'True') return true;
  let since = Date.parse(condition?.lastTransitionTime ?? node.metadata.creationTimestamp ?? '');
  if (since > now) since = now;
  return now - since < grace;
}

function entryOf(pool: ReplicatedStoragePool, node: Node, all: Everything): EligibleNode {
  const name = node.metadata.name!;
  const groups = new Map<string, NonNullable<EligibleNode['lvmVolumeGroups']>[number]>();
  for (const reference of pool.spec.lvmVolumeGroups)
    for (const lvg of all.lvgs) {
      if (lvg.metadata.name !== reference.name || lvg.spec?.local?.nodeName !== name) continue;
      const marks = Object.keys(lvg.metadata.annotations ?? {});
      const thinPool = lvg.status?.thinPools?.find((candidate) => candidate.name === reference.thinPoolName);
      groups.set(`${reference.name}\u0000${reference.thinPoolName ?? ''}`, {
        name: reference.name,
        ...(reference.thinPoolName === undefined ? {} : { thinPoolName: reference.thinPoolName }),
        unschedulable:
          marks.includes('storage.deckhouse.io/lvmVolumeGroupUnschedulable') ||
          marks.includes('sds-replicated-volume.deckhouse.io/unschedulable'),
        ready:
          conditionOf(lvg)?.status === 'True' && (pool.spec.type === 'LVM' || (thinPool?.ready ?? false)),
      });
    }
  const zone = node.metadata.labels?.[ZONE];
  const agents = all.pods.filter(
    (pod) =>
      pod.metadata.namespace === all.agentNamespace &&
      pod.metadata.labels?.app === 'agent' &&
      pod.metadata.deletionTimestamp === undefined &&
      pod.spec?.nodeName === name,
  );
  const sorted = [...groups.keys()].sort();
  return {
    nodeName: name,
    ...(zone === undefined || zone === '' ? {} : { zoneName: zone }),
    nodeReady: conditionOf(node)?.status === 'True',
    unschedulable: node.spec?.unschedulable ?? false,
    agentReady: agents.some((pod) => conditionOf(pod)?.status === 'True'),
    ...(sorted.length === 0 ? {} : { lvmVolumeGroups: sorted.map((key) => groups.get(key)!) }),
  };
}

/** Sum of numbers with units. Undefined for negative and all other values. */
function millisOf(text: string): number | undefined {
  if (/^[-+]?0$/.test(text)) return 0;
  if (!/^\+?(([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|ms|s|m|h))+$/.test(text)) return undefined;
  let sum = 0;
  for (const [, number, unit] of text.matchAll(/([0-9.]+)(ns|us|ms|s|m|h)/g))
    sum += Number(number) * UNITS[unit!]!;
  return sum;
}
