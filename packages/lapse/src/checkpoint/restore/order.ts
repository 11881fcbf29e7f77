// The order of a restore: first objects that others read or mount, then workloads, then custom resources (which may need
// any of those), and quotas last: a quota refuses all objects until its usage has been counted.

import type { KubeObject } from '@lapse/kube/api/object';
import { typeOf } from './strip.ts';

const FIRST: readonly string[] = [
  '/Namespace',
  '/ServiceAccount',
  'rbac.authorization.k8s.io/Role',
  'rbac.authorization.k8s.io/RoleBinding',
  'networking.k8s.io/NetworkPolicy',
  '/LimitRange',
  '/Secret',
  '/ConfigMap',
  '/PersistentVolumeClaim',
  '/Service',
  '/Endpoints',
  'discovery.k8s.io/EndpointSlice',
  'policy/PodDisruptionBudget',
  '/PodTemplate',
  '/Pod',
  '/ReplicationController',
  'apps/ReplicaSet',
  'apps/DaemonSet',
  'apps/Deployment',
  'apps/StatefulSet',
  'autoscaling/HorizontalPodAutoscaler',
  'batch/Job',
  'batch/CronJob',
  'networking.k8s.io/Ingress',
];
const LAST: readonly string[] = ['/ResourceQuota'];

function rankOf(object: KubeObject): number {
  const type = typeOf(object);
  const first = FIRST.indexOf(type);
  if (first >= 0) return first;
  return LAST.includes(type) ? FIRST.length + 1 : FIRST.length;
}

/** Objects with the same rank keep their order. */
export const orderForRestore = <T>(items: readonly T[], objectOf: (item: T) => KubeObject): T[] =>
  items
    .map((item) => ({ item, rank: rankOf(objectOf(item)) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
