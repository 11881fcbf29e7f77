// The settings of the process itself: one table for the configuration file, the flags and the environment. Families
// add their own sections, flags and variables (controllers/family.ts).

import type { JsonObject } from '@lapse/kube/api/json';
import { TRASH_SCHEMA } from '#trash/settings';

/** A field of the configuration that a flag and an environment variable can also set. */
export interface Setting {
  /** A path such as `leaderElection.enabled`. */
  readonly field: string;
  /** Without the dashes. */
  readonly flag?: string;
  readonly variable?: string;
  readonly description: string;
}

const GO_DURATION = '^([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+$';
const duration = (text: string): JsonObject => ({ type: 'string', pattern: GO_DURATION, default: text });
const object = (properties: JsonObject): JsonObject => ({ type: 'object', default: {}, properties });
const text: JsonObject = { type: 'string' };
const flag = (value: boolean): JsonObject => ({ type: 'boolean', default: value });
const positive: JsonObject = { type: 'integer', minimum: 1, maximum: 1_000_000 };

/** Schemas of the top-level fields, except apiVersion and kind. */
export const GENERAL: Readonly<Record<string, JsonObject>> = {
  controllers: { type: 'array', items: { type: 'string', minLength: 1 } },
  featureGates: { type: 'object', default: {}, additionalProperties: { type: 'boolean' } },
  namespace: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]*[a-z0-9])?$', maxLength: 63 },
  dryRun: flag(false),
  actAs: { type: 'string', enum: ['author', 'controller', 'impersonate-author'], default: 'author' },
  maxClockSkew: duration('30s'),
  trash: TRASH_SCHEMA,
  deletions: object({ perSecond: positive, perMinute: positive, paranoidReread: flag(false) }),
  leaderElection: object({
    enabled: flag(true),
    namespace: text,
    name: text,
    leaseDuration: duration('15s'),
    renewDeadline: duration('10s'),
    retryPeriod: duration('2s'),
  }),
  clientConnection: object({
    qps: { type: 'number', minimum: 0, maximum: 1_000_000 },
    burst: positive,
    maxInFlight: { type: 'integer', minimum: 1, maximum: 1000, default: 32 },
  }),
  metrics: object({ bindAddress: text }),
  webhook: object({
    bindAddress: text,
    certFile: text,
    keyFile: text,
    secret: { type: 'string', pattern: '^([a-z0-9.-]+/)?[a-z0-9.-]+$' },
    hosts: { type: 'array', items: { type: 'string', minLength: 1 } },
    configurations: { type: 'array', default: ['lapse'], items: { type: 'string', minLength: 1 } },
    clientCAFile: text,
    clientNames: { type: 'array', items: { type: 'string', minLength: 1 } },
  }),
  api: object({
    bindAddress: text,
    maxObjects: { type: 'integer', minimum: 1, maximum: 1_000_000, default: 10_000 },
  }),
  log: object({
    format: { type: 'string', enum: ['auto', 'json', 'text'], default: 'auto' },
    level: { type: 'string', enum: ['debug', 'info', 'warn', 'error'], default: 'info' },
  }),
};

const SETTINGS: readonly (readonly [field: string, flag: string, description: string])[] = [
  [
    'controllers',
    'controllers',
    'controllers to run: "*" all that are on by default, "x" also this one, "-x" not this one',
  ],
  ['featureGates', 'feature-gates', 'Name=true|false,…; AllAlpha and AllBeta set all gates of a stage'],
  ['namespace', 'namespace', 'watch and change only objects in this namespace'],
  ['dryRun', 'dry-run', 'every write is a dry run; Events report what would be done'],
  [
    'actAs',
    'act-as',
    'whose permissions apply to Cleaners and policies: author, controller, or impersonate-author (DELETEs are sent as the author)',
  ],
  [
    'maxClockSkew',
    'max-clock-skew',
    'delete nothing if the clock differs from that of the API server by more than this',
  ],
  ['deletions.perSecond', 'max-deletions-per-second', 'maximum deletions per second and controller'],
  ['deletions.perMinute', 'max-deletions-per-minute', 'maximum deletions per minute and controller'],
  ['deletions.paranoidReread', 'paranoid-reread', 'read every object again before its deletion'],
  ['leaderElection.enabled', 'leader-elect', 'act only while holding the lease'],
  ['leaderElection.namespace', 'leader-elect-resource-namespace', 'namespace of the lease'],
  ['leaderElection.name', 'leader-elect-resource-name', 'name of the lease (default: lapse)'],
  ['leaderElection.leaseDuration', 'leader-elect-lease-duration', 'how long standbys wait for the leader'],
  [
    'leaderElection.renewDeadline',
    'leader-elect-renew-deadline',
    'how long the leader acts without a renewal',
  ],
  [
    'leaderElection.retryPeriod',
    'leader-elect-retry-period',
    'interval between attempts to acquire or renew the lease',
  ],
  ['clientConnection.qps', 'kube-api-qps', 'maximum requests per second (default: no fixed limit)'],
  ['clientConnection.burst', 'kube-api-burst', 'maximum requests at once under --kube-api-qps'],
  ['clientConnection.maxInFlight', 'kube-api-max-in-flight', 'maximum requests in flight'],
  [
    'metrics.bindAddress',
    'metrics-bind-address',
    'address of /healthz, /readyz and /metrics: host:port, or 0 to disable (default: :8080 in a Pod)',
  ],
  ['webhook.bindAddress', 'webhook-port', 'address of the admission webhook: [host:]port'],
  ['webhook.certFile', 'webhook-cert-file', 'certificate of the webhook (PEM), read again when it changes'],
  ['webhook.keyFile', 'webhook-key-file', 'private key of the webhook (PEM)'],
  [
    'webhook.secret',
    'webhook-secret',
    'Secret of the review path and, without files, of a self-managed certificate: [namespace/]name',
  ],
  [
    'webhook.hosts',
    'webhook-hosts',
    'host names in that certificate: those of the Service, name.namespace.svc',
  ],
  [
    'webhook.configurations',
    'webhook-configurations',
    'webhook configurations whose path and caBundle Lapse sets',
  ],
  [
    'webhook.clientCAFile',
    'webhook-client-ca-file',
    'certificate authorities (PEM) of the client certificates that API servers must present',
  ],
  ['webhook.clientNames', 'webhook-client-names', 'common names of these client certificates (default: all)'],
  [
    'api.bindAddress',
    'api-port',
    'address of the API for checkpoints: [host:]port; with the certificate of the webhook',
  ],
  ['api.maxObjects', 'api-max-objects', 'maximum objects of a checkpoint that this API serves'],
  ['log.format', 'log-format', 'json, text, or auto: text on a terminal'],
  ['log.level', 'verbosity', 'minimum level of log lines: debug, info, warn, error'],
];

export const GENERAL_SETTINGS: readonly Setting[] = SETTINGS.map(([field, name, description]) => ({
  field,
  flag: name,
  variable: `LAPSE_${name.replaceAll('-', '_').toUpperCase()}`,
  description,
}));
