// The source of a capture: every step of the decision, with boundary cases.

import type { PersistentVolumeClaim, StorageClass, VolumeSnapshotClass } from '@lapse/kube/api/kinds/volumes';
import { describe, expect, test } from 'vitest';
import type { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import {
  type ClassContext,
  computeClaimKey,
  computeClass,
  computeClassName,
  computeCsiVolume,
  computeVolumeName,
} from './decide.ts';
import { claim, fails, KEY, OWN, request, terminating, volume } from './objects.testkit.ts';

describe('the claim', () => {
  const ref = (persistentVolumeClaimRef: object) => request({ persistentVolumeClaimRef });
  test.each([
    ['the namespace of the request by default', ref({ name: 'data' }), false, KEY],
    ['the namespace of the request, set explicitly', ref({ name: 'data', namespace: 'ns' }), false, KEY],
    ['another namespace', ref({ name: 'data', namespace: 'other' }), false, fails('InvalidReference')],
    [
      'another namespace, allowed',
      ref({ name: 'data', namespace: 'other' }),
      true,
      { namespace: 'other', name: 'data' },
    ],
    [
      'the kind of a claim is allowed in the reference',
      ref({ kind: 'PersistentVolumeClaim', name: 'data' }),
      false,
      KEY,
    ],
    [
      'another kind is refused in the reference',
      ref({ kind: 'Secret', name: 'data' }),
      false,
      fails('InvalidReference'),
    ],
    ['no name', ref({}), true, fails('InvalidReference')],
    ['no reference', request(), true, fails('InvalidReference')],
    ['a path instead of a name', ref({ name: '../x' }), false, fails('InvalidReference')],
    ['an invalid name for a claim', ref({ name: 'Data' }), false, fails('InvalidReference')],
    ['a path instead of a namespace', ref({ name: 'x', namespace: '../x' }), true, fails('InvalidReference')],
  ])('%s', (_name, object, allowed, expected) => {
    expect(computeClaimKey(object, allowed)).toEqual(expected);
  });
  test.each([
    ['bound', claim(), 'v'],
    ['not bound', claim({}), fails('NotBound')],
    ['an empty volume name', claim({ volumeName: '' }), fails('NotBound')],
    ['missing', undefined, fails('NotFound')],
    ['being deleted', terminating(claim()), fails('InvalidSource')],
  ])('%s', (_name, object, expected) => {
    expect(computeVolumeName(object, KEY)).toEqual(expected);
  });
});

test.each([
  ['with a handle', volume(), { driver: 'd', handle: 'h', mode: 'Filesystem' }],
  [
    'without any claimRef in it',
    volume({ claimRef: undefined }),
    { driver: 'd', handle: 'h', mode: 'Filesystem' },
  ],
  [
    'of a claim without uid',
    volume({ claimRef: { namespace: 'ns', name: 'data' } }),
    { driver: 'd', handle: 'h', mode: 'Filesystem' },
  ],
  ['of an older claim of that name', volume({ claimRef: { ...OWN, uid: 'c-0' } }), fails('NotBound')],
  ['of another namespace', volume({ claimRef: { ...OWN, namespace: 'x' } }), fails('NotBound')],
  ['missing', undefined, fails('NotFound')],
  ['that is being deleted', terminating(volume()), fails('InvalidSource')],
  ['without CSI', volume({ csi: undefined }), fails('InvalidSource')],
  ['without a handle', volume({ csi: { driver: 'd', volumeHandle: '' } }), fails('InvalidSource')],
])('a volume %s', (_name, object, expected) => {
  expect(computeCsiVolume(object, claim())).toEqual(expected);
});

test.each<[string, VolumeCaptureRequest, PersistentVolumeClaim, StorageClass | undefined, unknown]>([
  ['of the request', request({ volumeSnapshotClassName: 's' }), claim(), undefined, 's'],
  [
    'of the request, a path',
    request({ volumeSnapshotClassName: '../s' }),
    claim(),
    undefined,
    fails('InvalidReference'),
  ],
  [
    'of the storage class, a path',
    request(),
    claim({ storageClassName: 'x' }),
    {
      apiVersion: 'storage.k8s.io/v1',
      kind: 'StorageClass',
      metadata: { name: 'x', annotations: { 'storage.deckhouse.io/volumesnapshotclass': 'a/b' } },
    },
    fails('InvalidReference'),
  ],
  ['none, without a storage class', request(), claim(), undefined, fails('NotFound')],
  [
    'none, with a storage class that is missing',
    request(),
    claim({ storageClassName: 'x' }),
    undefined,
    fails('NotFound'),
  ],
])('snapshot class %s', (_name, object, of, storageClass, expected) => {
  expect(computeClassName(object, of, storageClass)).toEqual(expected);
});

describe('the class', () => {
  const found = (more: object = {}) =>
    ({ metadata: { name: 's' }, driver: 'd', deletionPolicy: 'Delete', ...more }) as VolumeSnapshotClass;
  const secret = (name?: string, namespace?: string) =>
    found({
      parameters: {
        ...(name === undefined ? {} : { 'csi.storage.k8s.io/snapshotter-secret-name': name }),
        ...(namespace === undefined ? {} : { 'csi.storage.k8s.io/snapshotter-secret-namespace': namespace }),
      },
    });
  const context = (more: Partial<ClassContext> = {}): ClassContext => ({
    name: 's',
    volume: { driver: 'd', handle: 'h', mode: 'Filesystem' },
    via: 'VolumeSnapshotContent',
    request: request(),
    ...more,
  });
  const viaSnapshot = { via: 'VolumeSnapshot' as const };
  const retain = { request: request({ retain: true }) };
  const retained = found({ deletionPolicy: 'Retain' });
  test.each<[string, VolumeSnapshotClass | undefined, Partial<ClassContext>, unknown]>([
    ['of the driver of the volume is used', found(), {}, found()],
    ['that does not exist is an error', undefined, {}, fails('NotFound')],
    ['without a driver is an error', found({ driver: undefined }), {}, fails('InvalidSource')],
    ['of another driver is an error', found({ driver: 'e' }), {}, fails('InvalidSource')],
    ['with a secret is used', secret('a', 'b'), {}, secret('a', 'b')],
    [
      'with a secret of its own per snapshot is used',
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the class
      secret('${volumesnapshot.name}', 'b'),
      {},
      expect.anything(),
    ],
    ['with a secret without a namespace is an error', secret('a'), {}, fails('InvalidSource')],
    ['with the namespace of a secret only is an error', secret(undefined, 'b'), {}, fails('InvalidSource')],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a variable of the class
    ['with an unknown variable is an error', secret('${pvc.name}', 'b'), {}, fails('InvalidSource')],
    ['with the policy Retain is used for a content, whose policy is Delete', retained, {}, retained],
    [
      'with the policy Retain is an error for a VolumeSnapshot',
      retained,
      viaSnapshot,
      fails('InvalidSource'),
    ],
    [
      'with the policy Retain is used to retain a VolumeSnapshot',
      retained,
      { ...viaSnapshot, ...retain },
      retained,
    ],
    [
      'with the policy Delete is an error to retain a VolumeSnapshot',
      found(),
      { ...viaSnapshot, ...retain },
      fails('InvalidSource'),
    ],
  ])('%s', (_name, object, more, expected) => {
    expect(computeClass(object, context(more))).toEqual(expected);
  });
});
