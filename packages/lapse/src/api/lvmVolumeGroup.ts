// LVMVolumeGroup: a volume group on one node, managed by its own agent. Lapse only reads it, so the schema names the
// fields that Lapse reads and preserves all others.

import type { JsonObject } from '@lapse/kube/api/json';
import { defineKind } from '@lapse/kube/api/kind';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';

export interface LVMVolumeGroup extends KubeObject {
  spec?: {
    local?: { nodeName: string };
    thinPools?: { name: string }[];
  };
  status?: {
    conditions?: Condition[];
    thinPools?: { name: string; ready?: boolean }[];
  };
}

const spec: JsonObject = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  properties: {
    type: { type: 'string', enum: ['Local'] },
    local: {
      type: 'object',
      required: ['nodeName'],
      'x-kubernetes-preserve-unknown-fields': true,
      properties: {
        nodeName: {
          type: 'string',
          'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'Value is immutable.' }],
        },
      },
    },
    thinPools: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name'],
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { name: { type: 'string' } },
      },
    },
  },
};

const status: JsonObject = {
  type: 'object',
  'x-kubernetes-preserve-unknown-fields': true,
  properties: {
    conditions: {
      type: 'array',
      items: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: {
          type: {
            type: 'string',
            enum: ['VGConfigurationApplied', 'VGReady', 'NodeReady', 'AgentReady', 'Ready'],
          },
          status: { type: 'string' },
        },
      },
    },
    thinPools: {
      type: 'array',
      items: {
        type: 'object',
        'x-kubernetes-preserve-unknown-fields': true,
        properties: { name: { type: 'string' }, ready: { type: 'boolean' } },
      },
    },
  },
};

export const LVMVolumeGroup = defineKind<LVMVolumeGroup>({
  group: 'storage.deckhouse.io',
  version: 'v1alpha1',
  kind: 'LVMVolumeGroup',
  resource: 'lvmvolumegroups',
  namespaced: false,
});

export const lvmVolumeGroup = defineCustomKind<LVMVolumeGroup>({
  kind: LVMVolumeGroup,
  description: 'A volume group of LVM on one node.',
  spec,
  status,
  shortNames: ['lvg'],
  columns: [
    { name: 'Node', type: 'string', jsonPath: '.spec.local.nodeName' },
    { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
