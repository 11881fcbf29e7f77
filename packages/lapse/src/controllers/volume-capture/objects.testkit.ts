// Objects of the tests beside: a request `r`, a claim `data` bound to volume `v`, and a keeper.

import type { PersistentVolume, PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import type { OwnerReference } from '@lapse/kube/api/object';
import { expect } from 'vitest';
import type { VolumeCaptureRequest } from '#api/volumeCaptureRequest';

export const request = (spec: VolumeCaptureRequest['spec'] = {}): VolumeCaptureRequest => ({
  apiVersion: 'storage.deckhouse.io/v1alpha1',
  kind: 'VolumeCaptureRequest',
  metadata: { name: 'r', namespace: 'ns', uid: 'u-1' },
  spec,
});
export const claim = (spec: object = { volumeName: 'v' }, uid = 'c-1'): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'ns', uid },
  spec,
});
export const OWN = { namespace: 'ns', name: 'data', uid: 'c-1' };
export const volume = (spec: object = {}, metadata: object = {}): PersistentVolume => ({
  apiVersion: 'v1',
  kind: 'PersistentVolume',
  metadata: { name: 'v', ...metadata },
  spec: {
    csi: { driver: 'd', volumeHandle: 'h' },
    claimRef: OWN,
    persistentVolumeReclaimPolicy: 'Retain',
    ...spec,
  },
});
export const KEY = { namespace: 'ns', name: 'data' };
export const owner: OwnerReference = {
  apiVersion: 'deckhouse.io/v1alpha1',
  kind: 'ObjectKeeper',
  name: 'ret-pv-u-1',
  uid: 'k-1',
  controller: true,
  blockOwnerDeletion: true,
};
export const fails = (reason: string) => expect.objectContaining({ kind: 'failure', reason });
/** The object, while it is being deleted. */
export const terminating = <T extends { metadata: object }>(object: T): T => ({
  ...object,
  metadata: { ...object.metadata, deletionTimestamp: '2026-03-01T10:00:00Z' },
});
