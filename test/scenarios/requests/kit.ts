// Objects of the scenarios about volume requests: one claim `data` bound to volume `pv-data` of driver `csi.example`,
// whose storage class leads to the snapshot class `snap`.

import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import { claimProtection } from '@lapse/simulation/controllers/volumeProtection/controllers';
import { STOCK_SNAPSHOT_KINDS } from '@lapse/simulation/csi/kinds';
import type { RequestObject } from 'lapse/api/storage/request';
import { VolumeCaptureRequest } from 'lapse/api/volumeCaptureRequest';
import { VolumeRestoreRequest } from 'lapse/api/volumeRestoreRequest';
import type { Given, Then } from '../scene.ts';
import { storageControllers } from './deckhouseProvisioner.ts';

export const DRIVER = 'csi.example';
export const GI = '1Gi';

export const snapshotClass = (name = 'snap', more: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotClass',
  metadata: { name, ...metadata },
  driver: DRIVER,
  deletionPolicy: 'Delete',
  ...more,
});

export const storageClass = (
  name = 'fast',
  annotations: Record<string, string> = { 'storage.deckhouse.io/volumesnapshotclass': 'snap' },
): KubeObject => ({
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name, annotations },
  provisioner: DRIVER,
});

export const claim = (
  name = 'data',
  spec: object = {},
  metadata: object = {},
  phase = 'Bound',
): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'default', ...metadata },
  spec: {
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: GI } },
    storageClassName: 'fast',
    volumeName: `pv-${name}`,
    ...spec,
  },
  status: { phase },
});

export const volume = (name = 'pv-data', spec: object = {}, metadata: object = {}): KubeObject => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name, ...metadata },
  spec: {
    accessModes: ['ReadWriteOnce'],
    capacity: { storage: GI },
    persistentVolumeReclaimPolicy: 'Retain',
    storageClassName: 'fast',
    csi: { driver: DRIVER, volumeHandle: `handle-of-${name}` },
    ...spec,
  },
  status: { phase: 'Bound' },
});

export const capture = (name = 'nightly', spec: object = {}, metadata: object = {}): RequestObject => ({
  apiVersion: apiVersionOf(VolumeCaptureRequest),
  kind: 'VolumeCaptureRequest',
  metadata: { name, namespace: 'default', ...metadata },
  spec: { mode: 'Snapshot', persistentVolumeClaimRef: { name: 'data' }, ...spec },
});

export const detach = (name = 'nightly', spec: object = {}, metadata: object = {}): RequestObject =>
  capture(name, { mode: 'Detach', ...spec }, metadata);

export const restore = (name = 'back', spec: object = {}, metadata: object = {}): RequestObject => ({
  apiVersion: apiVersionOf(VolumeRestoreRequest),
  kind: 'VolumeRestoreRequest',
  metadata: { name, namespace: 'default', ...metadata },
  spec: {
    sourceRef: { kind: 'VolumeSnapshotContent', name: 'kept' },
    targetPVCName: 'restored',
    storageClassName: 'fast',
    ...spec,
  },
});

const READY = { readyToUse: true, snapshotHandle: 'handle-of-kept', restoreSize: 1024 ** 3 };

export const content = (name = 'kept', status: object | undefined = READY): KubeObject => ({
  apiVersion: 'snapshot.storage.k8s.io/v1',
  kind: 'VolumeSnapshotContent',
  metadata: { name },
  spec: {
    driver: DRIVER,
    deletionPolicy: 'Delete',
    volumeSnapshotClassName: 'snap',
    source: { volumeHandle: 'handle-of-pv-data' },
    volumeSnapshotRef: { namespace: 'default', name },
  },
  ...(status === undefined ? {} : { status }),
});

export interface WorldOptions {
  readonly configuration?: Parameters<Given['configuration']>[0];
  readonly families?: readonly string[];
  readonly simulatedControllers?: readonly string[];
  /** Replaces the default source. */
  readonly objects?: readonly KubeObject[];
}

export const FAMILIES = ['volume-capture', 'object-keeper', 'request-ttl'] as const;

/** A cluster with the snapshot controllers and one bound claim. */
export async function volumeWorld(given: Given, options: WorldOptions = {}): Promise<void> {
  const {
    configuration = {},
    families = FAMILIES,
    simulatedControllers = ['owner-gc', 'csi-snapshotter'],
  } = options;
  given.controllers(...families);
  const restore = { executor: 'External', ...(configuration['restore'] as object | undefined) };
  const external = families.includes('volume-restore') ? { restore } : {};
  given.configuration({ actAs: 'controller', ...configuration, ...external });
  given.kinds(...STOCK_SNAPSHOT_KINDS);
  given.simulatedControllers(...storageControllers(simulatedControllers), claimProtection());
  await given.object(options.objects ?? usualObjects());
}

export const usualObjects = (): KubeObject[] => [snapshotClass(), storageClass(), volume(), claim()];

/** The Ready condition as `True Completed`; undefined while it is pending. */
export async function readyOf(then: Then, ref: string): Promise<string | undefined> {
  const request = await then.object<RequestObject>(ref);
  const ready = request.status?.conditions?.find(({ type }) => type === 'Ready');
  return ready === undefined ? undefined : `${ready.status} ${ready.reason}`;
}
