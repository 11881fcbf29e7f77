// Cleaner: deletes its targets, a Helm release and itself when its TTL has expired and all of its conditions are true.
// The schema defines the fields and limits their sizes. Admission validates the fields together; a Cleaner that was
// created without admission is validated again, with the result in its status.

import type { JsonObject } from '@lapse/kube/api/json';
import { defineKind } from '@lapse/kube/api/kind';
import type { Condition } from '@lapse/kube/api/kinds/builtin';
import { defineCustomKind } from '@lapse/kube/api/kinds/customKind';
import type { KubeObject } from '@lapse/kube/api/object';
import { LIMITS_STATUS_SCHEMA, type LimitsStatus, MAX_DELETIONS } from './limits.ts';

export interface TargetReference {
  /** Absent or empty: the core group. */
  apiGroup?: string;
  /** Absent: the preferred version of the API server. */
  version?: string;
  /** Kind, plural or singular, in any case. */
  kind: string;
  /** Exactly one of `name` and `matchLabels`. */
  name?: string;
  matchLabels?: Record<string, string>;
}

export interface CleanerTarget {
  /** The name of the target in conditions. */
  name: string;
  reference: TargetReference;
  delete?: boolean;
  includeWhenEvaluating?: boolean;
}

export interface CleanerSpec {
  /** A Go duration. */
  ttl: string;
  retry?: { period?: string; monotonic?: boolean };
  helm?: { release: string; delete?: boolean };
  targets?: CleanerTarget[];
  conditions?: string[];
  serviceAccountName?: string;
  mode?: 'Enforce' | 'DryRun';
  limits?: { maxDeletions: number };
}

/** An object that is to be deleted. */
export interface RecordedTarget {
  group: string;
  version: string;
  resource: string;
  name: string;
  uid: string;
}

export interface RecordedStorage {
  driver: 'secret' | 'configmap';
  name: string;
  uid: string;
  revision: number;
}

export interface RecordedRelease {
  release: string;
  revision: number;
  storage: RecordedStorage[];
  /** The number of executed hooks, by event. */
  hooks?: { preDelete?: number; postDelete?: number; uid?: string; startedAt?: string };
}

/** A decision to delete. It is written before the first deletion and then always carried out completely. */
export interface DeletionRecord {
  generation: number;
  /** When the conditions were true. */
  evaluatedAt: string;
  /** Set before the first deletion. After it, all targets are deleted even if the spec changes. */
  startedAt?: string;
  serviceAccountName?: string;
  /** Username of the author on whose behalf the decision was made; unset without an author. */
  author?: string;
  targets: RecordedTarget[];
  helm?: RecordedRelease;
  /** HMAC of Lapse over the Cleaner's uid and all other fields. A record without it is discarded. */
  seal?: string;
}

export interface ConditionOutcome {
  index: number;
  outcome: 'true' | 'false' | 'error';
  message?: string;
}

export interface CleanerStatus {
  observedGeneration?: number;
  conditions?: Condition[];
  nextScheduledEvaluation?: string;
  /** `<name>.<plural>.<group>/<version>`, for display. */
  resolvedTargets?: string[];
  /** The number of targets; the list has at most 200. */
  resolvedTargetCount?: number;
  evaluations?: ConditionOutcome[];
  limits?: LimitsStatus;
  deletion?: DeletionRecord;
}

export interface Cleaner extends KubeObject {
  spec: CleanerSpec;
  status?: CleanerStatus;
}

export const Cleaner = defineKind<Cleaner>({
  group: 'cleaner.vtex.dev',
  version: 'v1alpha',
  kind: 'Cleaner',
  resource: 'cleaners',
  namespaced: true,
});

const string = (description: string, more: JsonObject = {}): JsonObject => ({
  type: 'string',
  description,
  ...more,
});
const boolean = (description: string): JsonObject => ({ type: 'boolean', description });
const integer = { type: 'integer', format: 'int64' };
const text = { type: 'string' };
const time = { type: 'string', format: 'date-time' };
const list = (items: JsonObject, maxItems: number, more: JsonObject = {}): JsonObject => ({
  type: 'array',
  maxItems,
  items,
  ...more,
});
const object = (properties: JsonObject, required: string[] = [], more: JsonObject = {}): JsonObject => ({
  type: 'object',
  properties,
  ...(required.length === 0 ? {} : { required }),
  ...more,
});

const reference = object(
  {
    apiGroup: string('Group of the kind; empty or absent for the core group.', { maxLength: 253 }),
    version: string('Version of the kind; the preferred one when absent.', { maxLength: 63 }),
    kind: string('The kind, in any case, or its plural or singular.', { minLength: 1, maxLength: 63 }),
    name: string('One object by name.', { maxLength: 253 }),
    matchLabels: {
      type: 'object',
      description: 'All objects with these labels. Exactly one of name and matchLabels.',
      maxProperties: 64,
      additionalProperties: { type: 'string', maxLength: 63 },
    },
  },
  ['kind'],
  { description: "An object, or objects, of the Cleaner's own namespace." },
);

const target = object(
  {
    name: string('The name by which conditions know it.', { minLength: 1, maxLength: 63 }),
    reference,
    delete: boolean('Delete it when all conditions are true. Default: false.'),
    includeWhenEvaluating: boolean('Show it to the conditions and watch it. Default: false.'),
  },
  ['name', 'reference'],
);

const spec = object(
  {
    ttl: string('Time after creation before anything is evaluated or deleted: a Go duration such as 360h.', {
      maxLength: 64,
    }),
    retry: object({
      period: string('How often conditions are evaluated, besides changes of targets. At least 1s.', {
        maxLength: 64,
      }),
      monotonic: boolean(
        'The author asserts that conditions stay true once they are: then Lapse computes the time at which they become true. It only affects when they are evaluated.',
      ),
    }),
    helm: object(
      {
        release: string('A Helm release of the same namespace.', { minLength: 1, maxLength: 53 }),
        delete: boolean('Uninstall it when all conditions are true. Default: false.'),
      },
      ['release'],
    ),
    targets: list(target, 64, { description: 'Objects that conditions read, objects to delete, or both.' }),
    conditions: list(string('CEL; `time` is the time of the evaluation.', { maxLength: 4096 }), 16, {
      description: 'All must be true. None: deletion at the end of the TTL.',
    }),
    serviceAccountName: string("Whose rights are used; an account of the Cleaner's own namespace.", {
      maxLength: 253,
    }),
    limits: object({ maxDeletions: MAX_DELETIONS }, ['maxDeletions'], {
      description: 'If more objects would be deleted, nothing is deleted until `lapse approve`.',
    }),
    mode: string('DryRun: report what would be deleted, delete nothing.', { enum: ['Enforce', 'DryRun'] }),
  },
  ['ttl'],
);

const recordedTarget = object({ group: text, version: text, resource: text, name: text, uid: text }, [
  'group',
  'version',
  'resource',
  'name',
  'uid',
]);

const recordedRelease = object(
  {
    release: text,
    revision: integer,
    storage: list(
      object(
        {
          driver: { type: 'string', enum: ['secret', 'configmap'] },
          name: text,
          uid: text,
          revision: integer,
        },
        ['driver', 'name', 'uid', 'revision'],
      ),
      1000,
    ),
    hooks: object({ preDelete: integer, postDelete: integer, uid: text, startedAt: time }),
  },
  ['release', 'revision', 'storage'],
);

const status = object({
  observedGeneration: integer,
  conditions: list(
    object(
      {
        type: text,
        status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
        reason: text,
        message: text,
        lastTransitionTime: time,
        observedGeneration: integer,
      },
      ['type', 'status'],
    ),
    8,
    { 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['type'] },
  ),
  nextScheduledEvaluation: {
    ...time,
    description: 'Time of the next evaluation, unless a target changes before.',
  },
  resolvedTargets: list(text, 200, { description: 'The objects that the targets refer to; the first 200.' }),
  resolvedTargetCount: integer,
  evaluations: list(
    object({ index: integer, outcome: { type: 'string', enum: ['true', 'false', 'error'] }, message: text }, [
      'index',
      'outcome',
    ]),
    16,
    { description: 'The result of each condition.' },
  ),
  limits: LIMITS_STATUS_SCHEMA,
  deletion: object(
    {
      generation: integer,
      evaluatedAt: time,
      startedAt: time,
      serviceAccountName: text,
      author: text,
      targets: list(recordedTarget, 1000),
      helm: recordedRelease,
      seal: string('Authenticates the record. One that Lapse did not write is discarded.'),
    },
    ['generation', 'evaluatedAt', 'targets'],
    { description: 'The decision to delete: exactly these objects, by uid, and nothing else.' },
  ),
});

const ready = (field: string) => `.status.conditions[?(@.type=="Ready")].${field}`;

export const CleanerDefinition = defineCustomKind({
  kind: Cleaner,
  description: 'Deletes targets, a Helm release and itself once its TTL is over and its conditions are true.',
  spec,
  status,
  shortNames: ['cln'],
  columns: [
    { name: 'TTL', type: 'string', jsonPath: '.spec.ttl' },
    { name: 'Ready', type: 'string', jsonPath: ready('status') },
    { name: 'Reason', type: 'string', jsonPath: ready('reason') },
    { name: 'Next', type: 'string', jsonPath: '.status.nextScheduledEvaluation' },
    { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
  ],
});
