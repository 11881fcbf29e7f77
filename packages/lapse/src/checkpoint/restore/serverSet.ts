// What servers and controllers wrote into an object, and what therefore does not belong into a copy that is applied
// somewhere else: names of fields, annotations, labels and finalizers, as data.

/** Under `metadata`, of every kind. Owner references name uids that will not come back: kept, they would make the
 * garbage collector delete the object at once. */
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

/** Annotations that controllers or kubectl keep; a trailing `*` stands for anything. */
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

/** Labels of Jobs and of their templates that hold the uid or the name of the Job that was. */
export const JOB_LABELS: readonly string[] = [
  'controller-uid',
  'job-name',
  'batch.kubernetes.io/controller-uid',
  'batch.kubernetes.io/job-name',
];

/** Labels by which controllers know their Pods: a Pod that comes back alone must not be taken for one of theirs. */
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

/** A finalizer of the system's own is put there again by whoever needs it; a user's stays. */
export const isSystemFinalizer = (name: string): boolean =>
  DELETION_FINALIZERS.includes(name) || SYSTEM_DOMAIN.test(name);

export const isServerAnnotation = (name: string): boolean =>
  SERVER_ANNOTATIONS.some((known) =>
    known.endsWith('*') ? name.startsWith(known.slice(0, -1)) : name === known,
  );
