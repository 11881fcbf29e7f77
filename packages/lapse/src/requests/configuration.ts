// The configuration that all request controllers share, and its parsing. An invalid value stops the start with an error
// that names the setting.

import { requireDuration } from '@lapse/base/duration';
import { readGoDuration } from '@lapse/base/goDuration';
import { type Millis, millis } from '@lapse/base/instant';
import type { JsonObject } from '@lapse/kube/api/json';
import { DefaultRequestTTLStr, RequestTTLEnvName } from '#api/storage/conditions';
import type { Account } from '#authors/accessReview';
import { authorKeySecretSchema } from '#authors/authorConfiguration';
import type { Retention } from './keeper.ts';
import type { RequestTtl, TtlMode } from './rules.ts';

export const REQUEST_TTL_SECTION: JsonObject = {
  type: 'object',
  description: 'When requests that have ended are deleted.',
  default: {},
  properties: {
    mode: {
      type: 'string',
      enum: ['scanner', 'annotation'],
      default: 'scanner',
      description: "scanner: this TTL decides. annotation: the object's own annotation does.",
    },
    ttl: {
      type: 'string',
      default: DefaultRequestTTLStr,
      description: 'From the completion of a request to its deletion; a Go duration.',
    },
  },
};

const retention = (mode: string, description: string): JsonObject => ({
  type: 'object',
  description,
  default: {},
  properties: {
    mode: { type: 'string', enum: ['FollowObject', 'FollowObjectWithTTL'], default: mode },
    ttl: {
      type: 'string',
      default: '24h',
      description: 'For FollowObjectWithTTL: how long artifacts outlive their request; a Go duration.',
    },
  },
});

export const RETENTION_SECTION: JsonObject = retention(
  'FollowObject',
  'When snapshots and checkpoints end: with their request, or some time after it.',
);
export const DETACH_RETENTION_SECTION: JsonObject = retention(
  'FollowObjectWithTTL',
  'When the record of a detached volume ends.',
);

/** For volumes and manifests: one section for all captures. */
export const CAPTURE_SECTION: JsonObject = {
  type: 'object',
  description: 'Captures of volumes and of manifests.',
  default: {},
  properties: {
    allowCrossNamespace: {
      type: 'boolean',
      default: false,
      description:
        'Volumes: a request may name a claim of another namespace. A user who may create requests can then capture it.',
    },
    timeout: {
      type: 'string',
      default: '5m',
      description:
        'Volumes: how long errors of the storage system are retried, from the creation of the VolumeSnapshotContent; a Go duration. 0s: the first error ends the request.',
    },
    secrets: {
      type: 'string',
      enum: ['include', 'redact', 'refuse'],
      default: 'include',
      description:
        'Manifests: Secrets are captured as they are, without their values, or not at all (a request that names one fails).',
    },
    profile: {
      type: 'string',
      enum: ['verbatim', 'clean'],
      default: 'verbatim',
      description:
        'Manifests: objects as they are, or without what the cluster made of them, and without objects that controllers made.',
    },
    authorization: {
      type: 'string',
      enum: ['Webhook', 'AllowList', 'Controller'],
      description:
        "Manifests: what the request's author may read, the kinds of allowedKinds, or whatever Lapse may read. Unset: Webhook, with --act-as=controller Controller.",
    },
    allowedKinds: {
      type: 'array',
      default: [],
      items: { type: 'string', minLength: 1 },
      description: 'Manifests, with AllowList: kinds that may be captured, as ConfigMap or Deployment.apps.',
    },
    authorKeySecret: authorKeySecretSchema(
      'The Secret with the key that signs who made a request (captures of manifests, Detach); created when it does not exist.',
    ),
  },
};

/** The Secret of `capture.authorKeySecret`. */
export function authorKeySecret(capture: JsonObject | undefined): Account {
  const secret = capture?.authorKeySecret as Partial<Account> | undefined;
  return { namespace: secret?.namespace ?? 'lapse-system', name: secret?.name ?? 'lapse-author-key' };
}

/** Environment variables and the configuration field that each of them sets. */
export const REQUEST_ENVIRONMENT = { [RequestTTLEnvName]: 'requestTTL.ttl' } as const;

const textOf = (section: JsonObject | undefined, field: string, fallback: string): string => {
  const value = section?.[field];
  return typeof value === 'string' ? value : fallback;
};

/** How long errors of the storage system are retried; default: 5m. Zero: the first error ends the request. */
export function parseTimeout(name: string, value: unknown): Millis {
  const text = typeof value === 'string' ? value : '5m';
  const nanos = readGoDuration(text);
  if (nanos === undefined || nanos < 0n)
    throw new Error(`${name}: ${JSON.stringify(text)} is not a duration of 0s or more`);
  return millis(Number(nanos / 1_000_000n));
}

/** Throws if the TTL is not a positive duration: a request must neither be kept forever nor be deleted at once. */
export function parseRequestTtl(section: JsonObject | undefined): RequestTtl {
  const text = textOf(section, 'ttl', DefaultRequestTTLStr);
  const mode = textOf(section, 'mode', 'scanner') as TtlMode;
  return { mode, text, length: requireDuration(`requestTTL.ttl (${RequestTTLEnvName})`, text) };
}

export function parseRetention(
  name: string,
  section: JsonObject | undefined,
  mode: Retention['mode'],
): Retention {
  const chosen = textOf(section, 'mode', mode);
  if (chosen === 'FollowObject') return { mode: chosen };
  const ttl = textOf(section, 'ttl', '24h');
  requireDuration(`${name}.ttl`, ttl);
  return { mode: 'FollowObjectWithTTL', ttl };
}
