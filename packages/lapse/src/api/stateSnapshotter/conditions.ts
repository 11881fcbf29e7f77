// Constants of manifest checkpoints: annotations, labels and a finalizer. Constants that all requests share are in
// ../storage/conditions.ts.

export const GROUP = 'state-snapshotter.deckhouse.io';
export const VERSION = 'v1alpha1';

/** On a request that has ended: its TTL. Informational. */
export const AnnotationKeyManifestTTL = `${GROUP}/ttl`;
/** On a checkpoint and its chunks: the id of the capture that wrote them. An attempt only continues its own capture. */
export const ANNOTATION_CAPTURE_ID = `${GROUP}/capture-id`;
/** On a captured Secret without its values: it must not be restored over a Secret with values. */
export const ANNOTATION_REDACTED = `${GROUP}/redacted`;
/** On a checkpoint: the namespace and name of its request. */
export const LABEL_SOURCE_NAMESPACE = `${GROUP}/source-namespace`;
export const LABEL_SOURCE_REQUEST = `${GROUP}/source-request`;

/** A running volume snapshot sets it on a claim. It is removed from the captured manifest. */
export const SNAPSHOT_FINALIZER = 'snapshot.storage.kubernetes.io/pvc-as-source-protection';
