// The common parts of one-shot requests: one operation, one condition, one completion time.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import type { Column } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';

export interface RequestStatus {
  /** When the request ended; written once. */
  completionTimestamp?: string;
  /** Contains only Ready, and only after the request has ended. */
  conditions?: Condition[];
}

export interface RequestObject extends KubeObject {
  status?: RequestStatus;
}

const text = (maxLength: number): JsonObject => ({ type: 'string', maxLength });

/** The name of an object, not empty. */
export const NAME_SCHEMA: JsonObject = { type: 'string', minLength: 1, maxLength: 253 };
export const NAMESPACE_SCHEMA: JsonObject = { type: 'string', minLength: 1, maxLength: 63 };

/** A name or namespace that may be empty. Empty counts as unset, as in storage-foundation. */
export const OPTIONAL_NAME_SCHEMA: JsonObject = { type: 'string', maxLength: 253 };
export const OPTIONAL_NAMESPACE_SCHEMA: JsonObject = { type: 'string', maxLength: 63 };

const CONDITION_SCHEMA: JsonObject = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
  properties: {
    type: { type: 'string', maxLength: 316 },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: { type: 'string', minLength: 1, maxLength: 1024 },
    message: text(32_768),
    lastTransitionTime: { type: 'string', format: 'date-time' },
    observedGeneration: { type: 'integer', format: 'int64', minimum: 0 },
  },
};

export const CONDITIONS_SCHEMA: JsonObject = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: CONDITION_SCHEMA,
};

/** The status of a request. `result`: the schema of its result fields. */
export const requestStatusSchema = (result: Record<string, JsonObject>): JsonObject => ({
  type: 'object',
  description: 'Written once, by the controller of this kind alone, when the request has ended.',
  properties: {
    completionTimestamp: { type: 'string', format: 'date-time', description: 'When the request ended.' },
    // Stored requests of storage-foundation may contain a type twice.
    conditions: { type: 'array', items: CONDITION_SCHEMA },
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'Of earlier controllers of this kind. Not written by Lapse.',
    },
    ...result,
  },
});

/** A result of a request: the object that it made. */
export const objectRefSchema = (description: string): JsonObject => ({
  type: 'object',
  description,
  required: ['name'],
  properties: {
    kind: { type: 'string' },
    name: { type: 'string' },
    namespace: { type: 'string' },
    uid: { type: 'string' },
  },
});

export const SPEC_IMMUTABLE: JsonObject = {
  rule: 'self == oldSelf',
  message: 'a request stands for one operation: its spec cannot be changed; delete it and create another',
};

export const READY_COLUMNS: readonly Column[] = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
];
export const AGE_COLUMN: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
