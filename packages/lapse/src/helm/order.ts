// The order in which the objects of a release are deleted. Like Helm, it depends only on the kind (a Knative Service
// counts as a core Service). One difference: kinds that Helm does not know are deleted before CustomResourceDefinitions
// and not last, so that Lapse deletes custom resources before their CRD removes them.

import type { ManifestObject } from './manifest.ts';

const BEFORE_UNKNOWN = [
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'APIService',
  'Ingress',
  'IngressClass',
  'Service',
  'CronJob',
  'Job',
  'StatefulSet',
  'HorizontalPodAutoscaler',
  'Deployment',
  'ReplicaSet',
  'ReplicationController',
  'Pod',
  'DaemonSet',
  'RoleBindingList',
  'RoleBinding',
  'RoleList',
  'Role',
  'ClusterRoleBindingList',
  'ClusterRoleBinding',
  'ClusterRoleList',
  'ClusterRole',
];
const AFTER_UNKNOWN = [
  'CustomResourceDefinition',
  'PersistentVolumeClaim',
  'PersistentVolume',
  'StorageClass',
  'ConfigMap',
  'SecretList',
  'Secret',
  'ServiceAccount',
  'PodDisruptionBudget',
  'PodSecurityPolicy',
  'LimitRange',
  'ResourceQuota',
  'NetworkPolicy',
  'Namespace',
  'PriorityClass',
];

const UNKNOWN = BEFORE_UNKNOWN.length;
const RANK: ReadonlyMap<string, number> = new Map([
  ...BEFORE_UNKNOWN.map((kind, i): [string, number] => [kind, i]),
  ...AFTER_UNKNOWN.map((kind, i): [string, number] => [kind, UNKNOWN + 1 + i]),
]);

const rankOf = (kind: string): number => RANK.get(kind) ?? UNKNOWN;

/** Sorts for deletion. Objects of one kind keep their order; unknown kinds are in alphabetical order. */
export function inUninstallOrder(objects: readonly ManifestObject[]): ManifestObject[] {
  return [...objects].sort((a, b) => {
    const ranks = rankOf(a.kind) - rankOf(b.kind);
    // Two different kinds with the same rank are both unknown.
    if (ranks !== 0 || a.kind === b.kind) return ranks;
    return a.kind < b.kind ? -1 : 1;
  });
}
