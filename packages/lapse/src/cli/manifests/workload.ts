// The workload: configuration, Deployment, PodDisruptionBudget, and NetworkPolicy. The Pod satisfies the `restricted`
// Pod Security Standard.

import { createHash } from 'node:crypto';
import type { JsonObject } from '@lapse/kube/api/json';
import type { KubeObject, ObjectMeta } from '@lapse/kube/api/object';
import { CONFIGURATION_LABEL } from '#manager/configuration/installation';
import { yamlText } from '../yaml.ts';
import {
  configurationOf,
  hooksOf,
  type Installation,
  labelsOf,
  METRICS_PORT,
  metadataOf,
  WEBHOOK_PORT,
} from './installation.ts';

export const RESOURCES = {
  limits: { memory: '512Mi' },
  requests: { cpu: '50m', memory: '128Mi' },
};

export function buildWorkload(installation: Installation): KubeObject[] {
  return [
    configMap(installation),
    deployment(installation),
    ...(installation.replicas > 1 ? [disruptionBudget(installation)] : []),
    networkPolicy(installation),
  ];
}

const configurationText = (installation: Installation): string => yamlText(configurationOf(installation));

/**
 * The configuration is read once at startup. A change must replace the Pods, so its checksum is part of the
 * template.
 */
const checksum = (installation: Installation): string =>
  createHash('sha256').update(configurationText(installation).trimEnd()).digest('hex');

/** Read-only commands find the configuration of this installation by this label. */
const withLabel = (metadata: ObjectMeta): ObjectMeta => ({
  ...metadata,
  labels: { ...metadata.labels, [CONFIGURATION_LABEL]: 'true' },
});

const configMap = (installation: Installation): KubeObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: withLabel(metadataOf(installation)),
  data: { 'lapse.yaml': configurationText(installation) },
});

const deployment = (installation: Installation): KubeObject => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: metadataOf(installation),
  spec: {
    replicas: installation.replicas,
    selector: { matchLabels: labelsOf(installation) },
    template: {
      metadata: {
        labels: labelsOf(installation),
        annotations: { 'checksum/config': checksum(installation) },
      },
      spec: podSpec(installation),
    },
  },
});

const podSpec = (installation: Installation): JsonObject => ({
  serviceAccountName: installation.name,
  // A running reconcile has ten seconds to finish.
  terminationGracePeriodSeconds: 15,
  securityContext: {
    runAsNonRoot: true,
    runAsUser: 65532,
    runAsGroup: 65532,
    seccompProfile: { type: 'RuntimeDefault' },
  },
  topologySpreadConstraints: [
    {
      maxSkew: 1,
      topologyKey: 'kubernetes.io/hostname',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: { matchLabels: labelsOf(installation) },
    },
  ],
  containers: [containerOf(installation)],
  volumes: [{ name: 'config', configMap: { name: installation.name } }],
});

const probe = (path: string, more: JsonObject): JsonObject => ({
  httpGet: { path, port: 'metrics' },
  ...more,
});

const containerOf = (installation: Installation): JsonObject => ({
  name: 'lapse',
  image: installation.image,
  args: ['run', '--config=/etc/lapse/lapse.yaml'],
  env: [{ name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } }],
  ports: [
    { name: 'metrics', containerPort: METRICS_PORT },
    ...(hooksOf(installation).length > 0 ? [{ name: 'webhook', containerPort: WEBHOOK_PORT }] : []),
  ],
  startupProbe: probe('/healthz', { failureThreshold: 30, periodSeconds: 1 }),
  livenessProbe: probe('/healthz', { periodSeconds: 10, timeoutSeconds: 5 }),
  readinessProbe: probe('/readyz', { periodSeconds: 5, timeoutSeconds: 5 }),
  resources: RESOURCES,
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ['ALL'] },
    readOnlyRootFilesystem: true,
  },
  volumeMounts: [{ name: 'config', mountPath: '/etc/lapse', readOnly: true }],
});

const disruptionBudget = (installation: Installation): KubeObject => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: metadataOf(installation),
  spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(installation) } },
});

/**
 * Allows only probes, scrapes and reviews as ingress. Egress is not restricted, because the address of the API
 * server is unknown.
 */
const networkPolicy = (installation: Installation): KubeObject => ({
  apiVersion: 'networking.k8s.io/v1',
  kind: 'NetworkPolicy',
  metadata: metadataOf(installation),
  spec: {
    podSelector: { matchLabels: labelsOf(installation) },
    policyTypes: ['Ingress'],
    ingress: [
      {
        ports: [
          { port: METRICS_PORT, protocol: 'TCP' },
          ...(hooksOf(installation).length > 0 ? [{ port: WEBHOOK_PORT, protocol: 'TCP' }] : []),
        ],
      },
    ],
  },
});
