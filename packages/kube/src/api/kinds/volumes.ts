// PersistentVolume kinds and the kinds of the snapshot.storage.k8s.io group. Only the fields that Lapse uses are typed.
// Lapse only reads the snapshot kinds: their CRDs are installed with the snapshot controller.

import { defineKind } from '../kind.ts';
import type { KubeObject } from '../object.ts';

export interface PersistentVolumeClaim extends KubeObject {
  spec?: {
    volumeName?: string;
    storageClassName?: string;
    accessModes?: string[];
    volumeMode?: string;
    resources?: { requests?: Record<string, string> };
    dataSource?: { apiGroup?: string | null; kind: string; name: string };
    dataSourceRef?: { apiGroup?: string | null; kind: string; name: string; namespace?: string };
  };
  status?: { phase?: string; accessModes?: string[]; capacity?: Record<string, string> };
}
export const PersistentVolumeClaim = defineKind<PersistentVolumeClaim>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolumeClaim',
  resource: 'persistentvolumeclaims',
  namespaced: true,
});

export interface ObjectReference {
  apiVersion?: string;
  kind?: string;
  namespace?: string;
  name?: string;
  uid?: string;
  resourceVersion?: string;
}

export interface PersistentVolume extends KubeObject {
  spec?: {
    csi?: {
      driver: string;
      volumeHandle: string;
      fsType?: string;
      volumeAttributes?: Record<string, string>;
    };
    claimRef?: ObjectReference;
    persistentVolumeReclaimPolicy?: string;
    storageClassName?: string;
    accessModes?: string[];
    volumeMode?: string;
    capacity?: Record<string, string>;
  };
  status?: { phase?: string };
}
export const PersistentVolume = defineKind<PersistentVolume>({
  group: '',
  version: 'v1',
  kind: 'PersistentVolume',
  resource: 'persistentvolumes',
  namespaced: false,
});

export interface StorageClass extends KubeObject {
  provisioner?: string;
  reclaimPolicy?: string;
}
export const StorageClass = defineKind<StorageClass>({
  group: 'storage.k8s.io',
  version: 'v1',
  kind: 'StorageClass',
  resource: 'storageclasses',
  namespaced: false,
});

export interface VolumeSnapshotClass extends KubeObject {
  driver?: string;
  parameters?: Record<string, string>;
  deletionPolicy?: string;
}
export const VolumeSnapshotClass = defineKind<VolumeSnapshotClass>({
  group: 'snapshot.storage.k8s.io',
  version: 'v1',
  kind: 'VolumeSnapshotClass',
  resource: 'volumesnapshotclasses',
  namespaced: false,
});

export interface VolumeSnapshotContent extends KubeObject {
  spec?: {
    driver?: string;
    deletionPolicy?: string;
    volumeSnapshotClassName?: string;
    sourceVolumeMode?: string;
    source?: { volumeHandle?: string; snapshotHandle?: string };
    volumeSnapshotRef?: ObjectReference;
  };
  status?: {
    readyToUse?: boolean;
    snapshotHandle?: string;
    restoreSize?: number;
    /** Nanoseconds since the epoch. */
    creationTime?: number | bigint;
    error?: { message?: string; time?: string };
  };
}
export const VolumeSnapshotContent = defineKind<VolumeSnapshotContent>({
  group: 'snapshot.storage.k8s.io',
  version: 'v1',
  kind: 'VolumeSnapshotContent',
  resource: 'volumesnapshotcontents',
  namespaced: false,
});

export interface VolumeSnapshot extends KubeObject {
  spec?: {
    volumeSnapshotClassName?: string;
    source?: { persistentVolumeClaimName?: string; volumeSnapshotContentName?: string };
  };
  status?: {
    boundVolumeSnapshotContentName?: string;
    readyToUse?: boolean;
    creationTime?: string;
    restoreSize?: string;
    error?: { message?: string; time?: string };
  };
}
export const VolumeSnapshot = defineKind<VolumeSnapshot>({
  group: 'snapshot.storage.k8s.io',
  version: 'v1',
  kind: 'VolumeSnapshot',
  resource: 'volumesnapshots',
  namespaced: true,
});
