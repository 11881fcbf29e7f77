// The words of manifest checkpoints that are not those of all requests (../storage/conditions.ts): annotations, labels
// and the finalizer that a capture itself provokes.

export const GROUP = 'state-snapshotter.deckhouse.io';
export const VERSION = 'v1alpha1';

/** On a request that has ended: the TTL it lives under; informational. */
export const AnnotationKeyManifestTTL = `${GROUP}/ttl`;
/** On a checkpoint and each of its chunks: which capture wrote it. An attempt continues only what has its own. */
export const ANNOTATION_CAPTURE_ID = `${GROUP}/capture-id`;
/** On a captured Secret whose values were left out: not to be restored over one that has them. */
export const ANNOTATION_REDACTED = `${GROUP}/redacted`;
/** On a checkpoint: whose it is. */
export const LABEL_SOURCE_NAMESPACE = `${GROUP}/source-namespace`;
export const LABEL_SOURCE_REQUEST = `${GROUP}/source-request`;

/** A volume snapshot puts it on a claim for as long as it runs: it is no part of what the claim is. */
export const SNAPSHOT_FINALIZER = 'snapshot.storage.kubernetes.io/pvc-as-source-protection';
