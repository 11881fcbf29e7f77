// The settings of the process itself: one table for the configuration file, the flags and the environment. Families
// add their own sections, flags and variables (controllers/family.ts).

import type { JsonObject } from '@lapse/kube/api/json';

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

const setting = (field: string, flagName: string, description: string): Setting => ({
  field,
  flag: flagName,
  variable: `LAPSE_${flagName.replaceAll('-', '_').toUpperCase()}`,
  description,
});

export const GENERAL_SETTINGS: readonly Setting[] = [
  setting(
    'controllers',
    'controllers',
    'which to run: "*" all that are on by default, "x" this one, "-x" not',
  ),
  setting('featureGates', 'feature-gates', 'Name=true|false,…; AllAlpha and AllBeta stand for many'),
  setting('namespace', 'namespace', 'watch and touch nothing outside this namespace'),
  setting('dryRun', 'dry-run', 'change nothing: every write is a dry run, Events say what would be done'),
  setting(
    'actAs',
    'act-as',
    'whose rights count for Cleaners and policies: author, controller, or impersonate-author (deletes are sent as the author)',
  ),
  setting('maxClockSkew', 'max-clock-skew', 'delete nothing while the API server’s clock is further away'),
  setting('deletions.perSecond', 'max-deletions-per-second', 'most deletions per second and controller'),
  setting('deletions.perMinute', 'max-deletions-per-minute', 'most deletions per minute and controller'),
  setting('deletions.paranoidReread', 'paranoid-reread', 'read every object again before its deletion'),
  setting('leaderElection.enabled', 'leader-elect', 'act only while holding the lease'),
  setting('leaderElection.namespace', 'leader-elect-resource-namespace', 'namespace of the lease'),
  setting('leaderElection.name', 'leader-elect-resource-name', 'name of the lease (default: lapse)'),
  setting('leaderElection.leaseDuration', 'leader-elect-lease-duration', 'how long others wait for a leader'),
  setting('leaderElection.renewDeadline', 'leader-elect-renew-deadline', 'how long a leader acts unrenewed'),
  setting('leaderElection.retryPeriod', 'leader-elect-retry-period', 'pause between two attempts'),
  setting('clientConnection.qps', 'kube-api-qps', 'most requests per second (default: as the server bears)'),
  setting(
    'clientConnection.burst',
    'kube-api-burst',
    'how many requests may come at once under --kube-api-qps',
  ),
  setting('clientConnection.maxInFlight', 'kube-api-max-in-flight', 'most requests without an answer'),
  setting(
    'metrics.bindAddress',
    'metrics-bind-address',
    'where /healthz, /readyz and /metrics are served: host:port, or 0 for nowhere (default: :8080 in a Pod)',
  ),
  setting('webhook.bindAddress', 'webhook-port', 'where admission reviews are served: [host:]port'),
  setting('webhook.certFile', 'webhook-cert-file', 'its certificate (PEM), read again when it changes'),
  setting('webhook.keyFile', 'webhook-key-file', 'its private key (PEM)'),
  setting(
    'webhook.secret',
    'webhook-secret',
    'Secret of the review path and, without files, of a self-managed certificate: [namespace/]name',
  ),
  setting(
    'webhook.hosts',
    'webhook-hosts',
    'for which names that certificate is: the Service’s, name.namespace.svc',
  ),
  setting(
    'webhook.configurations',
    'webhook-configurations',
    'webhook configurations whose path and caBundle it sets',
  ),
  setting(
    'webhook.clientCAFile',
    'webhook-client-ca-file',
    'API servers must show a client certificate of these authorities (PEM)',
  ),
  setting(
    'webhook.clientNames',
    'webhook-client-names',
    'common names of those certificates (default: all that the authorities signed)',
  ),
  setting(
    'api.bindAddress',
    'api-port',
    'where checkpoints are read through the API server: [host:]port; with the certificate of the webhook',
  ),
  setting('api.maxObjects', 'api-max-objects', 'a checkpoint with more objects is not read there'),
  setting('log.format', 'log-format', 'json, text, or auto: text on a terminal'),
  setting('log.level', 'verbosity', 'the least important lines to show: debug, info, warn, error'),
];
