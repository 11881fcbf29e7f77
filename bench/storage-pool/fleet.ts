// A fleet for measurements: nodes in groups, two volume groups and one agent on each, and pools that each select the
// nodes of one group and refer to a few volume groups on them.

import type { Node, Pod } from '@lapse/kube/api/kinds/builtin';
import type { LVMVolumeGroup } from 'lapse/api/lvmVolumeGroup';
import type { ReplicatedStoragePool } from 'lapse/api/replicatedStoragePool';

export interface Size {
  readonly pools: number;
  readonly nodes: number;
  /** Nodes that a pool selects. */
  readonly selected: number;
}

export const AGENTS = 'agents';
const REFERENCES = 10;
const SINCE = '2026-01-01T00:00:00Z';

const nodeName = (i: number) => `worker-${String(i).padStart(5, '0')}`;
const groupsOf = ({ nodes, selected }: Size) => Math.ceil(nodes / selected);

export const node = (i: number, size: Size, ready = true): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: nodeName(i),
    uid: `node-${i}`,
    creationTimestamp: SINCE,
    labels: {
      'kubernetes.io/hostname': nodeName(i),
      'kubernetes.io/os': 'linux',
      'kubernetes.io/arch': 'amd64',
      'topology.kubernetes.io/zone': `zone-${i % 3}`,
      group: `group-${i % groupsOf(size)}`,
    },
  },
  status: {
    conditions: ['MemoryPressure', 'DiskPressure', 'PIDPressure', 'Ready'].map((type) => ({
      type,
      status: type === 'Ready' && ready ? 'True' : 'False',
      reason: 'KubeletSays',
      message: 'kubelet is posting its status',
      lastTransitionTime: ready ? SINCE : new Date().toISOString(),
    })),
  },
});

/** The first on every node, and the second. */
export const lvg = (i: number, { nodes }: Size): LVMVolumeGroup => ({
  apiVersion: 'storage.deckhouse.io/v1alpha1',
  kind: 'LVMVolumeGroup',
  metadata: { name: `vg-${i}`, uid: `lvg-${i}`, generation: 1 },
  spec: { local: { nodeName: nodeName(i % nodes) }, thinPools: [{ name: 'data' }] },
  status: { conditions: [{ type: 'Ready', status: 'True' }], thinPools: [{ name: 'data', ready: true }] },
});

export const agent = (i: number): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: `agent-${i}`, namespace: AGENTS, uid: `pod-${i}`, labels: { app: 'agent' } },
  spec: { nodeName: nodeName(i) },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});

export function pool(i: number, size: Size): ReplicatedStoragePool {
  const groups = groupsOf(size);
  const home = (k: number) => ((i * REFERENCES + k) * groups + (i % groups)) % (2 * size.nodes);
  return {
    apiVersion: 'storage.deckhouse.io/v1alpha1',
    kind: 'ReplicatedStoragePool',
    metadata: { name: `pool-${i}`, uid: `pool-${i}`, generation: 1 },
    spec: {
      type: 'LVMThin',
      lvmVolumeGroups: Array.from({ length: REFERENCES }, (_, k) => ({
        name: `vg-${home(k)}`,
        thinPoolName: 'data',
      })),
      nodeLabelSelector: { matchLabels: { group: `group-${i % groups}` } },
      systemNetworkNames: ['Internal'],
      eligibleNodesPolicy: { notReadyGracePeriod: '10m' },
    },
  };
}

/** One that selects every node. */
export const greedyPool = (size: Size): ReplicatedStoragePool => {
  const made = pool(0, size);
  const { nodeLabelSelector: _, ...spec } = made.spec;
  return { ...made, metadata: { name: 'all', uid: 'all', generation: 1 }, spec };
};
