// Markers in the Go sources (`+default=…`, `+unionDiscriminator`) that are not in the tables. Used only in the
// OpenAPI documents.

import type { Json, JsonObject } from '@lapse/kube/api/json';

const CORE = 'io.k8s.api.core.v1.';

const OBJECT_NAME = { name: '' };
const RBD = { keyring: '/etc/ceph/keyring', pool: 'rbd', user: 'admin' };
const SCALE_IO = { fsType: 'xfs', storageMode: 'ThinProvisioned' };
const ISCSI = { iscsiInterface: 'default' };

/** By type and field. */
export const MARKED_DEFAULTS: Readonly<Record<string, Readonly<Record<string, Json>>>> = {
  'io.k8s.api.autoscaling.v1.ScaleSpec': { replicas: 0 },
  [`${CORE}AzureDiskVolumeSource`]: {
    cachingMode: 'ReadWrite',
    fsType: 'ext4',
    kind: 'Shared',
    readOnly: false,
  },
  [`${CORE}ConfigMapEnvSource`]: OBJECT_NAME,
  [`${CORE}ConfigMapKeySelector`]: OBJECT_NAME,
  [`${CORE}ConfigMapProjection`]: OBJECT_NAME,
  [`${CORE}ConfigMapVolumeSource`]: OBJECT_NAME,
  [`${CORE}ContainerPort`]: { protocol: 'TCP' },
  [`${CORE}FileKeySelector`]: { optional: false },
  [`${CORE}GRPCAction`]: { service: '' },
  [`${CORE}ISCSIPersistentVolumeSource`]: ISCSI,
  [`${CORE}ISCSIVolumeSource`]: ISCSI,
  [`${CORE}LocalObjectReference`]: OBJECT_NAME,
  [`${CORE}RBDPersistentVolumeSource`]: RBD,
  [`${CORE}RBDVolumeSource`]: RBD,
  [`${CORE}ScaleIOPersistentVolumeSource`]: SCALE_IO,
  [`${CORE}ScaleIOVolumeSource`]: SCALE_IO,
  [`${CORE}SecretEnvSource`]: OBJECT_NAME,
  [`${CORE}SecretKeySelector`]: OBJECT_NAME,
  [`${CORE}SecretProjection`]: OBJECT_NAME,
  [`${CORE}ServicePort`]: { protocol: 'TCP' },
};

const PROFILE = [
  { discriminator: 'type', 'fields-to-discriminateBy': { localhostProfile: 'LocalhostProfile' } },
];

/** By type. */
export const UNIONS: Readonly<Record<string, JsonObject[]>> = {
  [`${CORE}AppArmorProfile`]: PROFILE,
  [`${CORE}PodSchedulingGroup`]: [{ 'fields-to-discriminateBy': { podGroupName: 'PodGroupName' } }],
  [`${CORE}SeccompProfile`]: PROFILE,
};
