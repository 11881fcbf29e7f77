// Limits of a rule: how much it may delete before it stops and waits for an approval. Shared by policies and Cleaners.

import type { JsonObject } from '@lapse/kube/api/json';

export interface LimitSpec {
  maxDeletions?: number;
  /** Of the objects that the policy selects when the window begins. */
  maxPercent?: number;
  /** The length of a window. */
  per: string;
}

/** `spec`: the limits of the rule. `configuration`: the limits of the operator, which no rule can exceed. */
export type LimitSource = 'spec' | 'configuration';

/** A window begins with its first deletion. */
export interface LimitWindow {
  from: LimitSource;
  startedAt: string;
  /** The objects that the policy selected then. */
  selected: number;
  /** Deletions that were sent or may be sent. Written before they are sent. */
  deletions: number;
}

/** The limit that stopped the rule, with the numbers of that moment. */
export interface LimitExceeded {
  limit: 'maxDeletions' | 'maxPercent' | 'firstActivation';
  from: LimitSource;
  allowed: number;
  /** Deletions in the window. */
  deletions: number;
  /** Further objects that were due. */
  due: number;
  at: string;
  generation: number;
  /** The window. Unset for firstActivation. */
  since?: string;
  per?: string;
}

export interface LimitApproval {
  generation: number;
  deletions: number;
  /** When the controller accepted it. */
  at: string;
  /** The user who wrote it, if the webhook recorded it. */
  by?: string;
  /** The annotation. An approval is accepted once. */
  annotation: string;
}

export interface LimitsStatus {
  /** WouldExceed: the rule deletes nothing now; if it did, it would stop before its first deletion. */
  state?: 'Exceeded' | 'WouldExceed';
  windows?: LimitWindow[];
  exceeded?: LimitExceeded;
  /** The approval in use, and how many of its deletions were sent or may be sent. */
  approved?: { generation: number; deletions: number; used: number };
  /** The newest first. */
  approvals?: LimitApproval[];
}

export const MOST_APPROVALS = 10;

const DURATION: JsonObject = {
  type: 'string',
  maxLength: 64,
  pattern: '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$',
};

export const MAX_DELETIONS: JsonObject = {
  type: 'integer',
  format: 'int32',
  minimum: 1,
  maximum: 1_000_000,
};

export const LIMITS_SCHEMA: JsonObject = {
  type: 'object',
  description:
    'How much the policy may delete. When the next deletion would exceed a limit, the policy stops until `lapse approve`.',
  required: ['per'],
  properties: {
    maxDeletions: { ...MAX_DELETIONS, description: 'Deletions per window.' },
    maxPercent: {
      type: 'integer',
      format: 'int32',
      minimum: 1,
      maximum: 100,
      description:
        'Deletions per window, in percent of the objects that the policy selects when the window begins, rounded up.',
    },
    per: { ...DURATION, description: 'The length of a window, e.g. 1h. It begins with its first deletion.' },
  },
  'x-kubernetes-validations': [
    {
      rule: 'has(self.maxDeletions) || has(self.maxPercent)',
      message: 'at least one of maxDeletions and maxPercent must be set',
    },
    { rule: "duration(self.per) >= duration('1s')", message: 'per must be at least 1s', fieldPath: '.per' },
  ],
};

const COUNT: JsonObject = { type: 'integer', format: 'int64' };
const TIME: JsonObject = { type: 'string', format: 'date-time' };
const FROM: JsonObject = { type: 'string', enum: ['spec', 'configuration'] };

export const LIMITS_STATUS_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    state: {
      type: 'string',
      description: 'Exceeded: nothing is deleted before an approval. WouldExceed: so it would be in Enforce.',
    },
    windows: {
      type: 'array',
      maxItems: 2,
      items: {
        type: 'object',
        required: ['from', 'startedAt', 'selected', 'deletions'],
        properties: {
          from: FROM,
          startedAt: TIME,
          selected: { ...COUNT, description: 'Objects that the policy selected when the window began.' },
          deletions: { ...COUNT, description: 'Deletions in the window; written before they are sent.' },
        },
      },
    },
    exceeded: {
      type: 'object',
      description: 'The limit that stopped the rule.',
      required: ['limit', 'from', 'allowed', 'deletions', 'due', 'at', 'generation'],
      properties: {
        limit: { type: 'string' },
        from: FROM,
        allowed: COUNT,
        deletions: COUNT,
        due: COUNT,
        at: TIME,
        generation: COUNT,
        since: TIME,
        per: { type: 'string' },
      },
    },
    approved: {
      type: 'object',
      description: 'The approval in use.',
      required: ['generation', 'deletions', 'used'],
      properties: { generation: COUNT, deletions: COUNT, used: COUNT },
    },
    approvals: {
      type: 'array',
      maxItems: MOST_APPROVALS,
      items: {
        type: 'object',
        required: ['generation', 'deletions', 'at', 'annotation'],
        properties: {
          generation: COUNT,
          deletions: COUNT,
          at: TIME,
          by: { type: 'string' },
          annotation: { type: 'string' },
        },
      },
    },
  },
};
