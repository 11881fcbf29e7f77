// The profile `clean`: which objects are kept, and which of their fields users wrote. Tables first, then two
// functions.

import type { JsonObject } from '@lapse/kube/api/json';
import { isObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';

const BACKUP = 'backup.deckhouse.io/';

/** Kinds that controllers derive from other objects, and storage kinds, which a manifest cannot restore. */
const LEFT_OUT = new Set([
  'Pod',
  'Event',
  'Endpoints',
  'EndpointSlice',
  'Lease',
  'Node',
  'ControllerRevision',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'StorageClass',
  'CSIDriver',
  'CSINode',
  'VolumeSnapshot',
  'VolumeSnapshotContent',
  'VolumeSnapshotClass',
  'VirtualDisk',
  'VirtualDiskSnapshot',
]);
const ARCHIVES = new Set(['yaml-config', 'archive-structure', 'snapshot-archive']);
const CLUSTER_CONFIG_MAPS = /^(backup-archiver-image|kube-root-ca\.crt|kube-root-ca\..*|istio-ca-root-cert)$/;

const SERVER_FIELDS = [
  'resourceVersion',
  'uid',
  'generation',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
  'finalizers',
  'ownerReferences',
] as const;

/** Fields of `spec` that the cluster assigns. */
const ASSIGNED: Readonly<Record<string, readonly string[]>> = {
  Service: [
    'clusterIP',
    'clusterIPs',
    'healthCheckNodePort',
    'sessionAffinityConfig',
    'internalTrafficPolicy',
  ],
};

export function isKept(object: KubeObject): boolean {
  const { kind, metadata } = object;
  const { labels = {}, name = '' } = metadata;
  if (LEFT_OUT.has(kind) || (metadata.ownerReferences ?? []).length > 0) return false;
  if (labels[`${BACKUP}exclude-from-backup`] === 'true' || labels['heritage'] === 'deckhouse') return false;
  if (kind === 'ConfigMap') return !ARCHIVES.has(labels['app'] ?? '') && !CLUSTER_CONFIG_MAPS.test(name);
  if (kind !== 'Secret') return true;
  const type = object['type'] ?? 'Opaque';
  return type === 'Opaque' || labels[`${BACKUP}include-secret`] === 'true';
}

export function cleanManifest(object: KubeObject): KubeObject {
  const { status, ...rest } = object;
  const { annotations = {}, labels = {} } = object.metadata;
  const says = (annotation: string) => annotations[`${BACKUP}${annotation}`] === 'true';
  const metadata = { ...object.metadata };
  for (const field of SERVER_FIELDS) delete metadata[field];
  const cleaned = {
    ...rest,
    metadata: {
      ...metadata,
      ...keep('annotations', annotations, (key) => key.startsWith(BACKUP)),
      ...keep(
        'labels',
        labels,
        (key) => key === 'app' || key.startsWith('app.kubernetes.io/') || key.startsWith(BACKUP),
      ),
    },
    ...(says('preserve-status') && status !== undefined ? { status } : {}),
  } as KubeObject;
  if (object.kind === 'Secret' && !says('include-secret-data')) {
    delete cleaned['data'];
    delete cleaned['stringData'];
  }
  return withoutAssigned(cleaned);
}

function keep(
  field: string,
  from: Readonly<Record<string, string>>,
  isWanted: (key: string) => boolean,
): JsonObject {
  return { [field]: Object.fromEntries(Object.entries(from).filter(([key]) => isWanted(key))) };
}

function withoutAssigned(object: KubeObject): KubeObject {
  const assigned = ASSIGNED[object.kind];
  const spec = object['spec'];
  if (assigned === undefined || !isObject(spec)) return object;
  return {
    ...object,
    spec: Object.fromEntries(Object.entries(spec).filter(([key]) => !assigned.includes(key))),
  };
}
