// Restores by Lapse itself: what is created, and everything that is refused before anything is created.

import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import type { OwnerReference } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import { computeExistingClaim } from './decide.ts';
import {
  computeSnapshotExecution,
  computeVolumeExecution,
  type RestorePlace,
  storageClassProblem,
} from './decideExecution.ts';

const request = (spec: VolumeRestoreRequest['spec'] = {}): VolumeRestoreRequest => ({
  apiVersion: 'storage.deckhouse.io/v1alpha1',
  kind: 'VolumeRestoreRequest',
  metadata: { name: 'r', namespace: 'ns', uid: 'u-1', creationTimestamp: '2026-03-01T10:00:00Z' },
  spec: { sourceRef: { kind: 'VolumeSnapshotContent', name: 's' }, targetPVCName: 't', ...spec },
});
const place = (spec: VolumeRestoreRequest['spec'] = {}, allowCrossNamespace = false): RestorePlace => ({
  request: request(spec),
  target: { namespace: 'ns', name: 't' },
  allowCrossNamespace,
});
const fails = (reason: string) => expect.objectContaining({ kind: 'failure', reason });
const KEEPER: OwnerReference = { apiVersion: 'k/v1', kind: 'ObjectKeeper', name: 'ret-pvc-u-1', uid: 'k-1' };

describe('a snapshot', () => {
  const source = (
    status: VolumeSnapshotContent['status'] = { snapshotHandle: 'h', restoreSize: 1024 },
    spec: VolumeSnapshotContent['spec'] = { sourceVolumeMode: 'Filesystem' },
  ): VolumeSnapshotContent => ({
    apiVersion: 'snapshot.storage.k8s.io/v1',
    kind: 'VolumeSnapshotContent',
    metadata: { name: 's' },
    spec: { driver: 'd', ...spec },
    status,
  });
  const created = (claim: object) => expect.objectContaining({ claim: expect.objectContaining(claim) });

  test('is restored with a static content, a VolumeSnapshot and a claim of its size', () => {
    const metadata = { name: 'restore-u-1', ownerReferences: [KEEPER] };
    expect(computeSnapshotExecution(place(), source(), 'ns', KEEPER)).toMatchObject({
      content: { metadata, spec: { deletionPolicy: 'Retain', driver: 'd', source: { snapshotHandle: 'h' } } },
      snapshot: {
        metadata: { ...metadata, namespace: 'ns' },
        spec: { source: { volumeSnapshotContentName: 'restore-u-1' } },
      },
      claim: {
        metadata: { name: 't', annotations: { 'storage.deckhouse.io/volume-restore-request': 'u-1' } },
        spec: {
          resources: { requests: { storage: '1024' } },
          dataSource: { kind: 'VolumeSnapshot', name: 'restore-u-1' },
        },
      },
    });
  });

  test.each<[string, RestorePlace, VolumeSnapshotContent, string | undefined, unknown]>([
    ['of another namespace is refused', place(), source(), 'x', fails('InvalidSource')],
    ['of an unknown namespace is refused', place(), source(), undefined, fails('InvalidSource')],
    ['of another namespace is restored if that is allowed', place({}, true), source(), 'x', created({})],
    ['without a handle is refused', place(), source({ restoreSize: 1 }), 'ns', fails('InvalidSource')],
    ['of unknown size is refused', place(), source({ snapshotHandle: 'h' }), 'ns', fails('InvalidSource')],
    [
      'of size zero is refused',
      place(),
      source({ snapshotHandle: 'h', restoreSize: 0 }),
      'ns',
      fails('InvalidSource'),
    ],
    [
      'in another volume mode is refused',
      place({ volumeMode: 'Block' }),
      source(),
      'ns',
      fails('InvalidSource'),
    ],
    ['in its own volume mode is restored', place({ volumeMode: 'Filesystem' }), source(), 'ns', created({})],
    [
      'whose volume mode is unknown is restored in any',
      place({ volumeMode: 'Block' }),
      source(undefined, {}),
      'ns',
      created({}),
    ],
  ])('%s', (_name, where, from, capturedIn, expected) => {
    expect(computeSnapshotExecution(where, from, capturedIn, KEEPER)).toEqual(expected);
  });
});

describe('the storage class of the claim', () => {
  const claim = (storageClassName?: string): PersistentVolumeClaim => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 't', namespace: 'ns' },
    spec: storageClassName === undefined ? {} : { storageClassName },
  });
  const of = (provisioner: string) => ({ metadata: { name: 'fast' }, provisioner }) as StorageClass;
  test.each<[string, PersistentVolumeClaim, StorageClass | undefined, unknown]>([
    ['is of the driver', claim('fast'), of('d'), undefined],
    [
      'is of an in-tree provisioner, which CSI migration serves',
      claim('fast'),
      of('kubernetes.io/aws-ebs'),
      undefined,
    ],
    ['is of another driver', claim('fast'), of('e'), fails('InvalidSource')],
    ['does not exist', claim('fast'), undefined, fails('NotFound')],
    ['is not set, and there is no default', claim(), undefined, fails('InvalidReference')],
  ])('%s', (_name, object, found, expected) => {
    expect(storageClassProblem(object, found, 'd')).toEqual(expected);
  });
});

describe('a detached volume', () => {
  const ref = { namespace: 'ns', name: 'data', uid: 'c-0' };
  const detach = {
    apiVersion: 'k/v1',
    kind: 'ObjectKeeper',
    name: 'ret-pv-u-0',
    uid: 'k-0',
    controller: true,
  };
  const volume = (spec: object = {}, phase = 'Released'): PersistentVolume => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v', ownerReferences: [detach] },
    spec: { capacity: { storage: '5Gi' }, claimRef: ref, ...spec },
    status: { phase },
  });
  test('loses the keeper of its detach and is reserved for the claim, in one patch', () => {
    expect(computeVolumeExecution(place(), volume())).toMatchObject({
      patch: {
        metadata: { ownerReferences: null, annotations: { 'storage.deckhouse.io/detached': null } },
        spec: { claimRef: { namespace: 'ns', name: 't', uid: null, resourceVersion: null } },
      },
      claim: { spec: { volumeName: 'v', storageClassName: '', resources: { requests: { storage: '5Gi' } } } },
    });
  });
  test('that is reserved for the claim is not patched again', () => {
    const reserved = volume({ claimRef: { namespace: 'ns', name: 't' } });
    expect(computeVolumeExecution(place(), reserved)).toMatchObject({ patch: undefined });
  });
  test.each<[string, RestorePlace, PersistentVolume]>([
    ['of another namespace', place(), volume({ claimRef: { ...ref, namespace: 'x' } })],
    ['of no claim', place(), volume({ claimRef: undefined }, 'Available')],
    ['that is bound', place({}, true), volume({}, 'Bound')],
  ])('%s is refused', (_name, where, object) => {
    expect(computeVolumeExecution(where, object)).toEqual(fails('InvalidSource'));
  });
});

describe('an existing claim of the target name', () => {
  const claim = (at: string, annotations: Record<string, string> = {}): PersistentVolumeClaim => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name: 't', namespace: 'ns', creationTimestamp: `2026-03-01T${at}Z`, annotations },
    status: { phase: 'Pending' },
  });
  const mark = 'storage.deckhouse.io/volume-restore-request';
  test.each([
    ['that this request created is used', claim('10:00:01', { [mark]: 'u-1' }), undefined],
    ['of another request is a conflict', claim('10:00:01', { [mark]: 'u-2' }), fails('TargetConflict')],
    ['that is older is a conflict', claim('09:00:00'), fails('TargetConflict')],
    ['that is newer and not bound is a conflict', claim('10:00:01'), fails('TargetConflict')],
  ])('%s', (_name, object, expected) => {
    expect(computeExistingClaim(object, request())).toEqual(expected);
  });
});
