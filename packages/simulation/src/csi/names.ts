// Annotations and finalizers of the stock snapshot controller, CSI sidecars and volume controllers.

const SNAPSHOT = 'snapshot.storage.kubernetes.io';

export const SNAPSHOT_AS_SOURCE = `${SNAPSHOT}/volumesnapshot-as-source-protection`;
export const SNAPSHOT_BOUND = `${SNAPSHOT}/volumesnapshot-bound-protection`;
export const CLAIM_AS_SOURCE = `${SNAPSHOT}/pvc-as-source-protection`;
export const PROVISIONER_SOURCE = 'provisioner.storage.kubernetes.io/volumesnapshot-as-source-protection';
export const PROVISIONER_FINALIZER = 'external-provisioner.volume.kubernetes.io/finalizer';
export const STORAGE_PROVISIONER = 'volume.kubernetes.io/storage-provisioner';
export const STORAGE_PROVISIONER_BETA = 'volume.beta.kubernetes.io/storage-provisioner';
export const BIND_COMPLETED = 'pv.kubernetes.io/bind-completed';
export const BOUND_BY_CONTROLLER = 'pv.kubernetes.io/bound-by-controller';
export const PROVISIONED_BY = 'pv.kubernetes.io/provisioned-by';
