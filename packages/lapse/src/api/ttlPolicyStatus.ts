// The status of policies in the schema, and the columns of `kubectl get`.

import type { JsonObject } from '@lapse/kube/api/json';
import type { Column } from '@lapse/kube/api/kinds/customKind';
import { LIMITS_STATUS_SCHEMA } from './limits.ts';

const COUNT: JsonObject = { type: 'integer', format: 'int64' };
export const STATUS: JsonObject = {
  type: 'object',
  properties: {
    observedGeneration: COUNT,
    enforcedGeneration: {
      ...COUNT,
      description:
        'The generation that deletes objects: its first activation was within the limit, or approved.',
    },
    matched: { ...COUNT, description: 'Objects the policy selects.' },
    waiting: { ...COUNT, description: 'Of these, with a deadline to come.' },
    due: { ...COUNT, description: 'Of these, past their deadline and still there.' },
    deleted: { ...COUNT, description: 'Deleted by this policy since it was made.' },
    errors: { ...COUNT, description: 'Objects that could not be judged; they are kept.' },
    nextExpiry: { type: 'string', format: 'date-time', nullable: true },
    limits: LIMITS_STATUS_SCHEMA,
    conditions: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
      items: {
        type: 'object',
        required: ['type', 'status'],
        properties: {
          type: { type: 'string' },
          status: { type: 'string' },
          reason: { type: 'string' },
          message: { type: 'string' },
          lastTransitionTime: { type: 'string', format: 'date-time' },
          observedGeneration: COUNT,
        },
      },
    },
  },
};

export const COLUMNS: readonly Column[] = [
  { name: 'Target', type: 'string', jsonPath: '.spec.target.kind' },
  { name: 'Mode', type: 'string', jsonPath: '.spec.mode' },
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Matched', type: 'integer', jsonPath: '.status.matched' },
  { name: 'Due', type: 'integer', jsonPath: '.status.due' },
  { name: 'Deleted', type: 'integer', jsonPath: '.status.deleted' },
  {
    name: 'Limit',
    type: 'string',
    jsonPath: '.status.limits.state',
    description: 'Whether the policy is stopped at a limit, or would be in mode Enforce.',
  },
  { name: 'Next', type: 'string', jsonPath: '.status.nextExpiry', description: 'When the next object ends.' },
  {
    name: 'Reason',
    type: 'string',
    priority: 1,
    jsonPath: '.status.conditions[?(@.type=="Ready")].reason',
  },
  { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
];
