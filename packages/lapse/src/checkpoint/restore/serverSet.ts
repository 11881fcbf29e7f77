// Fields, annotations, labels and finalizers that API servers and controllers set. They are removed from an object before
// it is applied to a cluster.

/**
 * Fields under `metadata` of every kind. Owner references contain uids of the old objects: with them, the garbage
 * collector would delete the restored object at once.
 */
export const SERVER_METADATA = [
  'uid',
  'resourceVersion',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'selfLink',
  'managedFields',
  'ownerReferences',
] as const;

/** Annotations that controllers or kubectl set. A trailing `*` matches any suffix. */
export const SERVER_ANNOTATIONS: readonly string[] = [
  'kubectl.kubernetes.io/last-applied-configuration',
  'deployment.kubernetes.io/*',
  'deprecated.deployment.rollback.to',
  'deprecated.daemonset.template.generation',
  'control-plane.alpha.kubernetes.io/leader',
  'endpoints.kubernetes.io/last-change-trigger-time',
  'autoscaling.alpha.kubernetes.io/conditions',
  'autoscaling.alpha.kubernetes.io/current-metrics',
  'batch.kubernetes.io/job-tracking',
  'kubernetes.io/service-account.uid',
  'openshift.io/sa.scc.*',
  'pv.kubernetes.io/bind-completed',
  'pv.kubernetes.io/bound-by-controller',
  'pv.kubernetes.io/migrated-to',
  'pv.kubernetes.io/provisioned-by',
  'volume.kubernetes.io/selected-node',
  'volume.kubernetes.io/storage-provisioner',
  'volume.kubernetes.io/storage-resizer',
  'volume.beta.kubernetes.io/storage-provisioner',
  'cni.projectcalico.org/*',
  'k8s.ovn.org/*',
  'k8s.v1.cni.cncf.io/network-status',
  'k8s.v1.cni.cncf.io/networks-status',
];

/** Labels of Jobs and their Pod templates that contain the uid or name of the original Job. */
export const JOB_LABELS: readonly string[] = [
  'controller-uid',
  'job-name',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
];

/** Labels by which controllers select their Pods: a Pod that is restored alone must not be adopted. */
export const POD_LABELS: readonly string[] = [
  ...JOB_LABELS,
  'pod-template-hash',
  'pod-template-generation',
  'controller-revision-hash',
  'statefulset.kubernetes.io/pod-name',
  'apps.kubernetes.io/pod-index',
  'batch.kubernetes.io/job-completion-index',
  'topology.kubernetes.io/region',
  'topology.kubernetes.io/zone',
];

const DELETION_FINALIZERS: readonly string[] = ['foregroundDeletion', 'orphan', 'kubernetes'];
const SYSTEM_DOMAIN = /(^|\.)(kubernetes\.io|k8s\.io)\//;

/** System finalizers are removed, because their controllers add them again; finalizers of users are kept. */
export const isSystemFinalizer = (name: string): boolean =>
  DELETION_FINALIZERS.includes(name) || SYSTEM_DOMAIN.test(name);

export const isServerAnnotation = (name: string): boolean =>
  SERVER_ANNOTATIONS.some((known) =>
    known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : name === known,
  );
