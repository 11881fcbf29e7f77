// For tests: minimal objects of the kinds that a pool refers to. Times are milliseconds since START.

import { formatTime, type Instant, type Millis, millis, minutes, parseTime, plus } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import type { Node, Pod } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import type { KindReader } from '@lapse/runtime/reconcileContext';
import type { LVMVolumeGroup } from '#api/lvmVolumeGroup';
import type {
  LVMVolumeGroupReference,
  ReplicatedStoragePool,
  ReplicatedStoragePoolStatus,
} from '#api/replicatedStoragePool';
import type { EligibilityInputs } from './decide.ts';
import { ZONE_LABEL } from './nodeSelector.ts';
import { podIndexes, poolIndexes } from './sources.ts';

export const START = parseTime('2026-01-01T00:00:00Z');
export const at = (since: number): Instant => plus(START, millis(since));
export const GRACE = minutes(5);
export const AGENTS = 'agents';

export interface NodeParts {
  zone?: string;
  labels?: Record<string, string>;
  /** Default: True. null: no Ready condition. */
  ready?: 'True' | 'False' | 'Unknown' | null;
  /** Transition time. null: not set. */
  since?: number | null;
  createdAt?: number | null;
  unschedulable?: boolean;
}

export function node(name: string, parts: NodeParts = {}): Node {
  const { zone, labels = {}, ready = 'True', since = 0, createdAt = 0, unschedulable } = parts;
  return {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name,
      ...(createdAt === null ? {} : { creationTimestamp: formatTime(at(createdAt)) }),
      labels: { ...labels, ...(zone === undefined ? {} : { [ZONE_LABEL]: zone }) },
    },
    spec: unschedulable === undefined ? {} : { unschedulable },
    status: {
      conditions: [
        { type: 'MemoryPressure', status: 'False' },
        ...(ready === null
          ? []
          : [
              {
                type: 'Ready',
                status: ready,
                ...(since === null ? {} : { lastTransitionTime: formatTime(at(since)) }),
              },
            ]),
      ],
    },
  };
}

export interface LVGParts {
  ready?: 'True' | 'False' | null;
  /** Name → ready in the status. Default: the spec has the same names. */
  thinPools?: Record<string, boolean>;
  specThinPools?: string[];
  annotations?: Record<string, string>;
}

/** A volume group on `nodeName`. '' for one without a node. */
export function lvg(name: string, nodeName: string, parts: LVGParts = {}): LVMVolumeGroup {
  const { ready = 'True', thinPools = {}, specThinPools = Object.keys(thinPools), annotations } = parts;
  return {
    apiVersion: 'storage.deckhouse.io/v1alpha1',
    kind: 'LVMVolumeGroup',
    metadata: { name, ...(annotations === undefined ? {} : { annotations }) },
    spec: {
      ...(nodeName === '' ? {} : { local: { nodeName } }),
      thinPools: specThinPools.map((pool) => ({ name: pool })),
    },
    status: {
      conditions: ready === null ? [] : [{ type: 'Ready', status: ready }],
      thinPools: Object.entries(thinPools).map(([pool, poolReady]) => ({ name: pool, ready: poolReady })),
    },
  };
}

export interface PoolParts extends Partial<ReplicatedStoragePool['spec']> {
  grace?: string;
  status?: ReplicatedStoragePoolStatus;
}

/** References as `lvg` or `lvg/thinPool`. */
export function pool(
  name: string,
  references: readonly string[],
  parts: PoolParts = {},
): ReplicatedStoragePool {
  const { grace = '5m', status, ...spec } = parts;
  const lvmVolumeGroups = references.map((text): LVMVolumeGroupReference => {
    const [lvgName = '', thinPoolName] = text.split('/');
    return { name: lvgName, ...(thinPoolName === undefined ? {} : { thinPoolName }) };
  });
  return {
    apiVersion: 'storage.deckhouse.io/v1alpha1',
    kind: 'ReplicatedStoragePool',
    metadata: { name, generation: 1 },
    spec: {
      type: references.some((text) => text.includes('/')) ? 'LVMThin' : 'LVM',
      lvmVolumeGroups,
      systemNetworkNames: ['Internal'],
      eligibleNodesPolicy: { notReadyGracePeriod: grace },
      ...spec,
    },
    ...(status === undefined ? {} : { status }),
  };
}

export interface PodParts {
  ready?: 'True' | 'False' | null;
  terminating?: boolean;
  namespace?: string;
  app?: string;
}

/** An agent on `nodeName`. '' for one that is not scheduled. */
export function agent(name: string, nodeName: string, parts: PodParts = {}): Pod {
  const { ready = 'True', terminating = false, namespace = AGENTS, app = 'agent' } = parts;
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name,
      namespace,
      labels: { app },
      ...(terminating ? { deletionTimestamp: formatTime(START) } : {}),
    },
    spec: nodeName === '' ? {} : { nodeName },
    status: { conditions: ready === null ? [] : [{ type: 'Ready', status: ready }] },
  };
}

export const lvgMap = (...lvgs: LVMVolumeGroup[]): Map<string, LVMVolumeGroup> =>
  new Map(lvgs.map((each) => [each.metadata.name!, each]));

export function inputs(
  parts: Partial<Omit<EligibilityInputs, 'lvgs'>> & { lvgs?: LVMVolumeGroup[] },
): EligibilityInputs {
  const {
    rsp = pool('p', ['vg']),
    nodes = [],
    lvgs = [],
    agentReadyByNode = new Map(),
    gracePeriod = GRACE,
  } = parts;
  return { rsp, nodes, lvgs: lvgMap(...lvgs), agentReadyByNode, gracePeriod: gracePeriod as Millis };
}

/** The caches of the controller with these objects. */
export function readerOf(...objects: readonly KubeObject[]): KindReader {
  const indexes: Record<string, (object: never) => readonly string[]> = { ...poolIndexes, ...podIndexes };
  const of = <T extends KubeObject>({ kind }: Kind<T>) => objects.filter((each) => each.kind === kind) as T[];
  return {
    isSynced: () => true,
    get: (kind, key) => of(kind).find(({ metadata }) => metadata.name === key.name),
    list: (kind) => of(kind),
    byIndex: (kind, index, value) =>
      of(kind).filter((each) => indexes[index]!(each as never).includes(value)),
  };
}
