// ReplicatedStoragePool: the LVMVolumeGroups of a pool, the nodes that may take part and, in its status, the nodes that
// are eligible now. Schema, defaults, rules and columns are those of the storage.deckhouse.io CRD; the validation of the
// duration is an addition of Lapse.

import type { JsonObject } from '@lapse/kube/api/json';
import { defineKind } from '@lapse/kube/api/kind';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';

export interface LabelSelectorSpec {
  matchLabels?: Record<string, string>;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

export interface LVMVolumeGroupReference {
  name: string;
  thinPoolName?: string;
}

export interface EligibleNodeLVMVolumeGroup {
  name: string;
  thinPoolName?: string;
  unschedulable: boolean;
  ready: boolean;
}

export interface EligibleNode {
  nodeName: string;
  zoneName?: string;
  nodeReady: boolean;
  unschedulable: boolean;
  agentReady: boolean;
  lvmVolumeGroups?: EligibleNodeLVMVolumeGroup[];
}

export interface ReplicatedStoragePoolStatus {
  conditions?: Condition[];
  /** bigint above 2^53. */
  eligibleNodesRevision?: number | bigint;
  eligibleNodes?: EligibleNode[];
  /** Written by other controllers. */
  usedBy?: { replicatedStorageClassNames?: string[] };
  /** Ready, WaitingForLVMVolumeGroups or InvalidConfiguration. */
  phase?: string;
  /** The message of the Ready condition. */
  message?: string;
  /** Written by older controllers only. */
  reason?: string;
}

export interface ReplicatedStoragePool extends KubeObject {
  spec: {
    type: 'LVM' | 'LVMThin';
    lvmVolumeGroups: LVMVolumeGroupReference[];
    zones?: string[];
    nodeLabelSelector?: LabelSelectorSpec;
    systemNetworkNames: string[];
    eligibleNodesPolicy: { notReadyGracePeriod: string };
  };
  status?: ReplicatedStoragePoolStatus;
}

/** Limits of the schema. The API server refuses a status that exceeds them. */
export const MOST_ELIGIBLE_NODES = 1000;
export const MOST_LVGS_PER_NODE = 50;
export const LONGEST_MESSAGE = 32_768;

export const DEFAULT_GRACE_PERIOD = '10m';
const LVG_NAME = '^[a-z0-9]([a-z0-9-.]{0,251}[a-z0-9])?$';
const THIN_POOL_NAME = '^[a-zA-Z0-9][a-zA-Z0-9_.+-]*$';
/** The syntax of Go durations, without a limit of the size. */
const GO_DURATION = '^[-+]?(0|(([0-9]+([.][0-9]*)?|[.][0-9]+)(ns|us|µs|μs|ms|s|m|h))+)$';

const IMMUTABLE = [{ rule: 'self == oldSelf', message: 'Value is immutable.' }];

const nodeLabelSelector: JsonObject = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  description: 'Nodes that may take part. Unset: all. Nodes without a matching LVMVolumeGroup count too.',
  properties: {
    matchLabels: { type: 'object', additionalProperties: { type: 'string' } },
    matchExpressions: {
      type: 'array',
      'x-kubernetes-list-type': 'atomic',
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: { type: 'string' },
          operator: { type: 'string' },
          values: { type: 'array', 'x-kubernetes-list-type': 'atomic', items: { type: 'string' } },
        },
      },
    },
  },
  'x-kubernetes-validations': [
    ...IMMUTABLE,
    {
      rule: "!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",
      message: 'matchExpressions[].operator must be one of: In, NotIn, Exists, DoesNotExist',
    },
    {
      rule: "!has(self.matchExpressions) || self.matchExpressions.all(e, (e.operator in ['Exists', 'DoesNotExist']) ? (!has(e.values) || size(e.values) == 0) : (has(e.values) && size(e.values) > 0))",
      message:
        'matchExpressions[].values must be empty for Exists/DoesNotExist operators, non-empty for In/NotIn',
    },
  ],
};

const eligibleNodesPolicy: JsonObject = {
  type: 'object',
  required: ['notReadyGracePeriod'],
  default: { notReadyGracePeriod: DEFAULT_GRACE_PERIOD },
  properties: {
    notReadyGracePeriod: {
      type: 'string',
      maxLength: 64,
      default: DEFAULT_GRACE_PERIOD,
      description: 'How long a node that is not Ready stays in the list; a Go duration.',
      'x-kubernetes-validations': [
        {
          rule: `self.matches('${GO_DURATION}') && duration(self) >= duration('0s')`,
          message: 'must be a Go duration of at least 0s, for example 10m or 1h30m',
        },
      ],
    },
  },
};

const spec: JsonObject = {
  type: 'object',
  'x-kubernetes-map-type': 'atomic',
  required: ['type', 'lvmVolumeGroups', 'systemNetworkNames', 'eligibleNodesPolicy'],
  properties: {
    type: { type: 'string', enum: ['LVM', 'LVMThin'], 'x-kubernetes-validations': IMMUTABLE },
    lvmVolumeGroups: {
      type: 'array',
      minItems: 1,
      'x-kubernetes-list-type': 'atomic',
      'x-kubernetes-validations': IMMUTABLE,
      items: {
        type: 'object',
        required: ['name'],
        properties: {
          name: { type: 'string', minLength: 1, pattern: LVG_NAME },
          thinPoolName: { type: 'string', minLength: 1, maxLength: 128, pattern: THIN_POOL_NAME },
        },
      },
    },
    zones: {
      type: 'array',
      maxItems: 10,
      'x-kubernetes-list-type': 'set',
      'x-kubernetes-validations': IMMUTABLE,
      items: { type: 'string', maxLength: 63 },
    },
    nodeLabelSelector,
    systemNetworkNames: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      default: ['Internal'],
      'x-kubernetes-list-type': 'atomic',
      items: { type: 'string', maxLength: 64 },
      'x-kubernetes-validations': [
        {
          rule: "self.all(n, n == 'Internal')",
          message: "Only 'Internal' network is currently supported",
        },
      ],
    },
    eligibleNodesPolicy,
  },
  'x-kubernetes-validations': [
    {
      rule: "self.type != 'LVMThin' || self.lvmVolumeGroups.all(g, has(g.thinPoolName) && size(g.thinPoolName) > 0)",
      message: 'thinPoolName is required for each lvmVolumeGroups entry when type is LVMThin',
    },
    {
      rule: "self.type != 'LVM' || self.lvmVolumeGroups.all(g, !has(g.thinPoolName) || size(g.thinPoolName) == 0)",
      message: 'thinPoolName must not be specified when type is LVM',
    },
  ],
};

const conditions: JsonObject = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status', 'lastTransitionTime', 'reason', 'message'],
    properties: {
      type: { type: 'string', maxLength: 316 },
      status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
      observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
      lastTransitionTime: { type: 'string', format: 'date-time' },
      reason: { type: 'string', minLength: 1, maxLength: 1024 },
      message: { type: 'string', maxLength: LONGEST_MESSAGE },
    },
  },
};

const eligibleNodes: JsonObject = {
  type: 'array',
  maxItems: MOST_ELIGIBLE_NODES,
  'x-kubernetes-list-type': 'atomic',
  description: 'Nodes that can host volumes of this pool, by name.',
  items: {
    type: 'object',
    required: ['nodeName', 'unschedulable', 'nodeReady', 'agentReady'],
    properties: {
      nodeName: { type: 'string', maxLength: 253 },
      zoneName: { type: 'string', maxLength: 63 },
      nodeReady: { type: 'boolean' },
      unschedulable: { type: 'boolean' },
      agentReady: { type: 'boolean' },
      lvmVolumeGroups: {
        type: 'array',
        maxItems: MOST_LVGS_PER_NODE,
        'x-kubernetes-list-type': 'atomic',
        items: {
          type: 'object',
          required: ['name', 'unschedulable', 'ready'],
          properties: {
            name: { type: 'string', maxLength: 253 },
            thinPoolName: { type: 'string', maxLength: 128 },
            unschedulable: { type: 'boolean' },
            ready: { type: 'boolean' },
          },
        },
      },
    },
  },
};

const status: JsonObject = {
  type: 'object',
  properties: {
    conditions,
    eligibleNodesRevision: {
      type: 'integer',
      format: 'int64',
      description: 'Grows by one whenever eligibleNodes changes.',
    },
    eligibleNodes,
    usedBy: {
      type: 'object',
      properties: {
        replicatedStorageClassNames: {
          type: 'array',
          maxItems: 100,
          'x-kubernetes-list-type': 'atomic',
          items: { type: 'string', maxLength: 253 },
        },
      },
    },
    phase: {
      type: 'string',
      description:
        'Ready, WaitingForLVMVolumeGroups or InvalidConfiguration, for components that wait for it.',
    },
    message: {
      type: 'string',
      maxLength: LONGEST_MESSAGE,
      description: 'The message of the Ready condition.',
    },
    reason: { type: 'string', description: 'Deprecated: cleared when found.' },
  },
};

export const ReplicatedStoragePool = defineKind<ReplicatedStoragePool>({
  group: 'storage.deckhouse.io',
  version: 'v1alpha1',
  kind: 'ReplicatedStoragePool',
  resource: 'replicatedstoragepools',
  namespaced: false,
});

export const replicatedStoragePool = defineCustomKind<ReplicatedStoragePool>({
  kind: ReplicatedStoragePool,
  description: 'A pool of LVM volume groups, and the nodes that are fit to host its volumes.',
  spec,
  status,
  shortNames: ['rsp'],
  columns: [
    { name: 'Type', type: 'string', jsonPath: '.spec.type' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
    { name: 'Message', type: 'string', jsonPath: '.status.message', priority: 1 },
  ],
});
