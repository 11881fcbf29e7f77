// Annotations and finalizers of snapshot.storage.k8s.io that Lapse writes and the simulated controllers follow.

const GROUP = 'snapshot.storage.kubernetes.io';

/** On a content: csi-snapshotter is taking the snapshot. */
export const BEING_CREATED = `${GROUP}/volumesnapshot-being-created`;
/** On a content: without it, csi-snapshotter does not delete the snapshot of a terminating content. */
export const BEING_DELETED = `${GROUP}/volumesnapshot-being-deleted`;
export const DELETION_SECRET_NAME = `${GROUP}/deletion-secret-name`;
export const DELETION_SECRET_NAMESPACE = `${GROUP}/deletion-secret-namespace`;
/** Keeps a terminating content until csi-snapshotter has deleted its snapshot. */
export const CONTENT_PROTECTION = `${GROUP}/volumesnapshotcontent-bound-protection`;
