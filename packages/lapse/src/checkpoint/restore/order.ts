// In which order objects come back: what others read or mount first, then what runs, then what people defined themselves
// (it may need any of those), and quotas last: until its usage has been counted, a quota refuses everything.

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

/** Objects of equal rank stay in the order they have. */
export const orderForRestore = <T>(items: readonly T[], objectOf: (item: T) => KubeObject): T[] =>
  items
    .map((item) => ({ item, rank: rankOf(objectOf(item)) }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
