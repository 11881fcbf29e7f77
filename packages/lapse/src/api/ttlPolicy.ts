// TTLPolicy and ClusterTTLPolicy: when objects of any kind expire. The schema validates what does not depend on the
// target; the admission function validates expressions and permissions.

import type { JsonObject } from '@lapse/kube/api/json';
import { defineKind } from '@lapse/kube/api/kind';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import { type CustomKind, defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import type { LabelSelectorSpec } from '@lapse/kube/api/labelSelectorQuery';
import type { KubeObject } from '@lapse/kube/api/object';
import { LIMITS_SCHEMA, type LimitSpec, type LimitsStatus } from './limits.ts';
import { COLUMNS, STATUS } from './ttlPolicyStatus.ts';

export const POLICY_MODES = ['DryRun', 'Enforce', 'Paused'] as const;
export type PolicyMode = (typeof POLICY_MODES)[number];

export interface TTLPolicySpec {
  target: { apiVersion: string; kind: string };
  selector?: LabelSelectorSpec;
  /** CEL over `object`: a timestamp, a string with a timestamp, or null while unfinished. */
  finishedAt?: string;
  /** CEL over `object`: a bool. */
  succeeded?: string;
  ttl?: string;
  ttlAfter?: { succeeded?: string; failed?: string };
  allowOverrides?: boolean;
  respectOwnTTL?: boolean;
  includeOwned?: boolean;
  from?: 'Finished' | 'Created';
  mode: PolicyMode;
  serviceAccountName?: string;
  propagationPolicy?: 'Background' | 'Foreground' | 'Orphan';
  maxDeletionsPerMinute?: number;
  limits?: LimitSpec;
}

export interface ClusterTTLPolicySpec extends TTLPolicySpec {
  namespaceSelector?: LabelSelectorSpec;
  excludedNamespaces?: string[];
  serviceAccountNamespace?: string;
}

export interface TTLPolicyStatus {
  observedGeneration?: number;
  /** The generation that deletes: its due objects were compared with limits.firstActivation, or approved. */
  enforcedGeneration?: number;
  matched?: number;
  waiting?: number;
  due?: number;
  deleted?: number;
  /** Objects that could not be evaluated; they are kept. */
  errors?: number;
  nextExpiry?: string | null;
  limits?: LimitsStatus;
  conditions?: Condition[];
}

export interface TTLPolicy extends KubeObject {
  spec: TTLPolicySpec;
  status?: TTLPolicyStatus;
}
export interface ClusterTTLPolicy extends KubeObject {
  spec: ClusterTTLPolicySpec;
  status?: TTLPolicyStatus;
}

export const TTLPolicy = defineKind<TTLPolicy>({
  group: 'lapse.dev',
  version: 'v1alpha1',
  kind: 'TTLPolicy',
  resource: 'ttlpolicies',
  namespaced: true,
});
export const ClusterTTLPolicy = defineKind<ClusterTTLPolicy>({
  group: 'lapse.dev',
  version: 'v1alpha1',
  kind: 'ClusterTTLPolicy',
  resource: 'clusterttlpolicies',
  namespaced: false,
});

/** The defaults of the schema. The author's signature excludes them, so that new defaults do not break signatures. */
export const POLICY_DEFAULTS = {
  allowOverrides: false,
  respectOwnTTL: true,
  includeOwned: false,
  from: 'Finished',
  propagationPolicy: 'Background',
  excludedNamespaces: ['kube-*'],
} as const;

const DURATION: JsonObject = {
  type: 'string',
  maxLength: 64,
  pattern: '^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$',
};
const EXPRESSION: JsonObject = { type: 'string', minLength: 1, maxLength: 4096 };
const LABEL: JsonObject = { type: 'string', maxLength: 63 };
const NAME: JsonObject = {
  type: 'string',
  maxLength: 253,
  pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$',
};

const selector = (description: string): JsonObject => ({
  type: 'object',
  description,
  properties: {
    matchLabels: { type: 'object', maxProperties: 64, additionalProperties: LABEL },
    matchExpressions: {
      type: 'array',
      maxItems: 64,
      items: {
        type: 'object',
        required: ['key', 'operator'],
        properties: {
          key: { type: 'string', maxLength: 317 },
          operator: { type: 'string', enum: ['In', 'NotIn', 'Exists', 'DoesNotExist'] },
          values: { type: 'array', maxItems: 256, items: LABEL },
        },
      },
    },
  },
});

const FIELDS: JsonObject = {
  target: {
    type: 'object',
    description: 'The kind whose objects end.',
    required: ['apiVersion', 'kind'],
    properties: {
      apiVersion: {
        type: 'string',
        maxLength: 317,
        pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[a-z0-9]([-a-z0-9]*[a-z0-9])?$',
      },
      kind: { type: 'string', maxLength: 63, pattern: '^[A-Za-z]([-A-Za-z0-9]*[A-Za-z0-9])?$' },
    },
  },
  selector: selector('Which objects. Default: all.'),
  finishedAt: {
    ...EXPRESSION,
    description:
      'CEL over `object`: when it finished, as a timestamp or RFC 3339 text; null or a missing field means unfinished.',
  },
  succeeded: { ...EXPRESSION, description: 'CEL over `object`: whether it finished well.' },
  ttl: { ...DURATION, description: 'How long objects stay after they finished, e.g. 24h.' },
  ttlAfter: {
    type: 'object',
    description: 'How long they stay by outcome; an outcome that is not named ends nothing.',
    minProperties: 1,
    properties: { succeeded: DURATION, failed: DURATION },
  },
  allowOverrides: {
    type: 'boolean',
    default: POLICY_DEFAULTS.allowOverrides,
    description: 'Whether lapse.dev/ttl and lapse.dev/expires-at on objects count. `never` always does.',
  },
  respectOwnTTL: {
    type: 'boolean',
    default: POLICY_DEFAULTS.respectOwnTTL,
    description:
      'Whether the TTL of the object itself is the least it gets: ttlSecondsAfterFinished of a Job, lapse.dev/ttl-seconds-after-finished of a Pod.',
  },
  includeOwned: {
    type: 'boolean',
    default: POLICY_DEFAULTS.includeOwned,
    description: 'Whether Pods of Jobs are deleted as well. Only for the target v1 Pod.',
  },
  from: {
    type: 'string',
    enum: ['Finished', 'Created'],
    default: POLICY_DEFAULTS.from,
    description: 'When the clock of an object starts.',
  },
  mode: {
    type: 'string',
    enum: [...POLICY_MODES],
    description: 'DryRun says what would be deleted, Enforce deletes, Paused does neither.',
  },
  serviceAccountName: {
    ...NAME,
    description: 'Delete as this service account; unset, with the rights of the author.',
  },
  propagationPolicy: {
    type: 'string',
    enum: ['Background', 'Foreground', 'Orphan'],
    default: POLICY_DEFAULTS.propagationPolicy,
  },
  maxDeletionsPerMinute: {
    type: 'integer',
    format: 'int32',
    minimum: 1,
    maximum: 100_000,
    description: 'Delays deletions above this rate. See limits for a number at which the policy stops.',
  },
  limits: LIMITS_SCHEMA,
};

const CLUSTER_FIELDS: JsonObject = {
  namespaceSelector: selector('Namespaces of the objects. Default: all.'),
  excludedNamespaces: {
    type: 'array',
    maxItems: 64,
    items: { type: 'string', maxLength: 63, pattern: '^[-a-z0-9*]+$' },
    default: [...POLICY_DEFAULTS.excludedNamespaces],
    description: 'Namespaces left alone; `*` stands for any characters.',
  },
  serviceAccountNamespace: { ...NAME, maxLength: 63, description: 'Where serviceAccountName lives.' },
};

const RULES: readonly JsonObject[] = [
  { rule: 'has(self.ttl) != has(self.ttlAfter)', message: 'exactly one of ttl and ttlAfter must be set' },
  {
    rule: '!has(self.ttlAfter) || has(self.succeeded)',
    message: 'ttlAfter needs succeeded, to tell the outcomes apart',
  },
  {
    rule: "!has(self.includeOwned) || !self.includeOwned || (self.target.apiVersion == 'v1' && self.target.kind == 'Pod')",
    message: 'includeOwned is only for the target v1 Pod',
  },
];
const ACCOUNT_RULE: JsonObject = {
  rule: 'has(self.serviceAccountName) == has(self.serviceAccountNamespace)',
  message: 'serviceAccountName and serviceAccountNamespace go together',
};

const specSchema = (more: JsonObject, rules: readonly JsonObject[]): JsonObject => ({
  type: 'object',
  required: ['target', 'mode'],
  properties: { ...FIELDS, ...more },
  'x-kubernetes-validations': [...RULES, ...rules],
});

export const TTLPolicyKind: CustomKind<TTLPolicy> = defineCustomKind({
  kind: TTLPolicy,
  description: 'When objects of a kind in this namespace end.',
  shortNames: ['ttlp'],
  categories: ['lapse'],
  spec: specSchema({}, []),
  status: STATUS,
  columns: COLUMNS,
});

export const ClusterTTLPolicyKind: CustomKind<ClusterTTLPolicy> = defineCustomKind({
  kind: ClusterTTLPolicy,
  description: 'When objects of a kind end, in all namespaces or those selected.',
  shortNames: ['cttlp'],
  categories: ['lapse'],
  spec: specSchema(CLUSTER_FIELDS, [ACCOUNT_RULE]),
  status: STATUS,
  columns: COLUMNS,
});
