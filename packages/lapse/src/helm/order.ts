// The order in which the objects of a release are removed: Helm's own, by kind alone (a Knative Service goes with the
// core ones), with one difference: kinds Helm does not know go before CustomResourceDefinitions rather than last, so
// that custom objects are removed by us and not swept away with their definition.

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

/** Sorted for removal; objects of one kind keep their order, unknown kinds are in alphabetical order. */
export function inUninstallOrder(objects: readonly ManifestObject[]): ManifestObject[] {
  return [...objects].sort((a, b) => {
    const ranks = rankOf(a.kind) - rankOf(b.kind);
    // Two different kinds of the same rank are both unknown.
    if (ranks !== 0 || a.kind === b.kind) return ranks;
    return a.kind < b.kind ? -1 : 1;
  });
}
