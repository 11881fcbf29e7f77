// ObjectKeeper: owns artifacts and follows the object they were created for. When the keeper is deleted, the garbage
// collector deletes the objects that it owns.

import { defineKind } from '@lapse/kube/api/kind';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';
import { CONDITIONS_SCHEMA } from './storage/request.ts';

export interface FollowObjectRef {
  apiVersion: string;
  kind: string;
  /** Empty for cluster-scoped objects. */
  namespace: string;
  name: string;
  uid: string;
}

export type KeeperPhase = 'Pending' | 'Tracking' | 'Expiring';

export interface ObjectKeeperStatus {
  phase?: KeeperPhase;
  message?: string;
  /** When the followed object was found missing. */
  lostAt?: string;
  conditions?: Condition[];
}

export interface ObjectKeeper extends KubeObject {
  spec?: {
    mode?: string;
    followObjectRef?: FollowObjectRef;
    /** A Go duration. */
    ttl?: string;
  };
  status?: ObjectKeeperStatus;
}

export const ObjectKeeper = defineKind<ObjectKeeper>({
  group: 'deckhouse.io',
  version: 'v1alpha1',
  kind: 'ObjectKeeper',
  resource: 'objectkeepers',
  namespaced: false,
});

const text = { type: 'string' };

export const objectKeeperKind = defineCustomKind<ObjectKeeper>({
  kind: ObjectKeeper,
  description:
    'Keeps what it owns for as long as another object exists, for a time, or for a time after that object is gone.',
  spec: {
    type: 'object',
    required: ['mode'],
    properties: {
      mode: { type: 'string', enum: ['FollowObject', 'TTL', 'FollowObjectWithTTL'] },
      followObjectRef: {
        type: 'object',
        required: ['apiVersion', 'kind', 'namespace', 'name', 'uid'],
        properties: { apiVersion: text, kind: text, namespace: text, name: text, uid: text },
      },
      ttl: { type: 'string', description: 'A Go duration: 30m, 24h.' },
    },
    'x-kubernetes-validations': [
      {
        rule: "self.mode == 'TTL' || has(self.followObjectRef)",
        message: 'followObjectRef is required in the modes FollowObject and FollowObjectWithTTL',
      },
      {
        rule: "self.mode == 'FollowObject' || has(self.ttl)",
        message: 'ttl is required in the modes TTL and FollowObjectWithTTL',
      },
      {
        rule: "self.mode != 'TTL' || !has(self.followObjectRef)",
        message: 'followObjectRef is not allowed in the mode TTL',
      },
      {
        rule: "self.mode != 'FollowObject' || !has(self.ttl)",
        message: 'ttl is not allowed in the mode FollowObject',
      },
    ],
  },
  status: {
    type: 'object',
    properties: {
      phase: { type: 'string', enum: ['Pending', 'Tracking', 'Expiring'] },
      message: text,
      lostAt: { type: 'string', format: 'date-time' },
      conditions: CONDITIONS_SCHEMA,
    },
  },
  columns: [
    { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase' },
    { name: 'FollowObject', type: 'string', jsonPath: '.spec.followObjectRef.name' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
