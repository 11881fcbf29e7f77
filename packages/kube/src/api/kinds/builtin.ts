// Built-in kinds that controllers and simulated controllers read. Only the fields they use are typed; objects keep all
// other fields.

import { defineKind } from '../kind.ts';
import type { KubeObject } from '../object.ts';

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
  /** Set on Jobs and Pods. */
  lastProbeTime?: string | null;
  /** Set on Nodes. */
  lastHeartbeatTime?: string;
  observedGeneration?: number;
}

export interface Namespace extends KubeObject {
  spec?: { finalizers?: string[] };
  status?: { phase?: string; conditions?: Condition[] };
}
export const Namespace = defineKind<Namespace>({
  group: '',
  version: 'v1',
  kind: 'Namespace',
  resource: 'namespaces',
  namespaced: false,
});

export interface Job extends KubeObject {
  spec?: {
    ttlSecondsAfterFinished?: number;
    suspend?: boolean;
    completions?: number;
    completionMode?: string;
    parallelism?: number;
    backoffLimit?: number;
    managedBy?: string;
    template?: { metadata?: KubeObject['metadata']; spec?: Record<string, unknown> };
  };
  status?: {
    conditions?: Condition[];
    startTime?: string;
    completionTime?: string;
    active?: number;
    succeeded?: number;
    failed?: number;
  };
}
export const Job = defineKind<Job>({
  group: 'batch',
  version: 'v1',
  kind: 'Job',
  resource: 'jobs',
  namespaced: true,
});

export interface ContainerStatus {
  name: string;
  image?: string;
  ready?: boolean;
  restartCount?: number;
  state?: {
    running?: { startedAt?: string };
    terminated?: { startedAt?: string; finishedAt?: string; exitCode?: number; reason?: string };
  };
}
export interface PodVolume {
  name: string;
  persistentVolumeClaim?: { claimName: string };
  ephemeral?: Record<string, unknown>;
}
export interface Pod extends KubeObject {
  spec?: {
    restartPolicy?: string;
    nodeName?: string;
    terminationGracePeriodSeconds?: number;
    containers?: { name: string; image?: string }[];
    volumes?: PodVolume[];
  };
  status?: {
    phase?: string;
    startTime?: string;
    reason?: string;
    conditions?: Condition[];
    containerStatuses?: ContainerStatus[];
    initContainerStatuses?: ContainerStatus[];
    ephemeralContainerStatuses?: ContainerStatus[];
  };
}
export const Pod = defineKind<Pod>({
  group: '',
  version: 'v1',
  kind: 'Pod',
  resource: 'pods',
  namespaced: true,
});

export interface Node extends KubeObject {
  spec?: { unschedulable?: boolean };
  status?: { conditions?: Condition[] };
}
export const Node = defineKind<Node>({
  group: '',
  version: 'v1',
  kind: 'Node',
  resource: 'nodes',
  namespaced: false,
});

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
  immutable?: boolean;
}
export const ConfigMap = defineKind<ConfigMap>({
  group: '',
  version: 'v1',
  kind: 'ConfigMap',
  resource: 'configmaps',
  namespaced: true,
});

export interface Secret extends KubeObject {
  type?: string;
  data?: Record<string, string>;
  immutable?: boolean;
}
export const Secret = defineKind<Secret>({
  group: '',
  version: 'v1',
  kind: 'Secret',
  resource: 'secrets',
  namespaced: true,
});

export interface CustomResourceDefinition extends KubeObject {
  spec?: {
    group: string;
    scope: string;
    names: { kind: string; plural: string };
    versions: { name: string; served: boolean; storage: boolean }[];
  };
  status?: { conditions?: Condition[] };
}
export const CustomResourceDefinition = defineKind<CustomResourceDefinition>({
  group: 'apiextensions.k8s.io',
  version: 'v1',
  kind: 'CustomResourceDefinition',
  resource: 'customresourcedefinitions',
  namespaced: false,
});
