// Restores: every step of the decision.

import { instant } from '@lapse/base/instant';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import { describe, expect, test } from 'vitest';
import type { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import {
  computeContentState,
  computeReported,
  computeSource,
  computeTarget,
  computeTargetState,
  computeVolumeState,
  isUnserved,
  type Report,
} from './decide.ts';

const request = (spec: VolumeRestoreRequest['spec'] = {}): VolumeRestoreRequest => ({
  apiVersion: 'storage.deckhouse.io/v1alpha1',
  kind: 'VolumeRestoreRequest',
  metadata: { name: 'r', namespace: 'ns', uid: 'u-1', creationTimestamp: '2026-03-01T10:00:00Z' },
  spec: { sourceRef: { kind: 'VolumeSnapshotContent', name: 's' }, targetPVCName: 't', ...spec },
});
const fails = (reason: string) => expect.objectContaining({ kind: 'failure', reason });

test.each([
  ['a snapshot', request(), { kind: 'VolumeSnapshotContent', name: 's' }],
  [
    'a volume',
    request({ sourceRef: { kind: 'PersistentVolume', name: 'v' } }),
    { kind: 'PersistentVolume', name: 'v' },
  ],
  ['something else', request({ sourceRef: { kind: 'Pod', name: 'v' } }), fails('InvalidSource')],
  ['nothing', { ...request(), spec: {} }, fails('InvalidSource')],
  ['no name', request({ sourceRef: { kind: 'PersistentVolume', name: '' } }), fails('InvalidReference')],
  ['a path', request({ sourceRef: { kind: 'PersistentVolume', name: 'a/b' } }), fails('InvalidReference')],
])('source: %s', (_name, object, expected) => {
  expect(computeSource(object)).toEqual(expected);
});

test.each([
  ['the namespace of the request', request(), false, { namespace: 'ns', name: 't' }],
  [
    'the namespace of the request, set explicitly',
    request({ targetNamespace: 'ns' }),
    false,
    { namespace: 'ns', name: 't' },
  ],
  ['another', request({ targetNamespace: 'x' }), false, fails('InvalidReference')],
  ['another, allowed', request({ targetNamespace: 'x' }), true, { namespace: 'x', name: 't' }],
  ['no name', request({ targetPVCName: '' }), true, fails('InvalidReference')],
  ['a path', request({ targetPVCName: '..' }), true, fails('InvalidReference')],
  ['an invalid name for a claim', request({ targetPVCName: 'UPPER' }), true, fails('InvalidReference')],
  ['a path as namespace', request({ targetNamespace: 'a/b' }), true, fails('InvalidReference')],
])('target: %s', (_name, object, allowed, expected) => {
  expect(computeTarget(object, allowed)).toEqual(expected);
});

test.each<[string, VolumeSnapshotContent['status'], unknown]>([
  ['ready', { readyToUse: true }, { kind: 'ready' }],
  ['ready after an error', { readyToUse: true, error: { message: 'x' } }, { kind: 'ready' }],
  ['not ready', { readyToUse: false }, { kind: 'waiting' }],
  ['without a status', undefined, { kind: 'waiting' }],
  ['failed', { error: { message: 'x' } }, fails('SourceFailed')],
])('a snapshot that is %s', (_name, status, expected) => {
  const content = {
    apiVersion: 'v',
    kind: 'VolumeSnapshotContent',
    metadata: { name: 's' },
    ...(status ? { status } : {}),
  };
  expect(computeContentState(content, 's')).toEqual(expected);
});

test('a terminating source is a failure', () => {
  const metadata = { name: 's', deletionTimestamp: '2026-03-01T10:00:00Z' };
  const status = { readyToUse: true };
  expect(computeContentState({ apiVersion: 'v', kind: 'k', metadata, status }, 's')).toEqual(
    fails('SourceFailed'),
  );
  expect(computeVolumeState({ apiVersion: 'v1', kind: 'k', metadata }, 's')).toEqual(fails('SourceFailed'));
});

test('a source that does not exist is a failure', () => {
  expect(computeContentState(undefined, 's')).toEqual(fails('NotFound'));
  expect(computeVolumeState(undefined, 'v')).toEqual(fails('NotFound'));
  expect(computeVolumeState({ metadata: {} } as PersistentVolume, 'v')).toEqual({ kind: 'ready' });
});

describe('the claim', () => {
  const BEFORE = '2026-03-01T09:59:59Z';
  const SAME = '2026-03-01T10:00:00Z';
  const AFTER = '2026-03-01T10:00:01Z';
  const claim = (
    creationTimestamp: string,
    phase: string,
    more: object = {},
    mark?: string,
  ): PersistentVolumeClaim => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: {
      name: 't',
      namespace: 'ns',
      creationTimestamp,
      ...(mark === undefined ? {} : { annotations: { 'storage.deckhouse.io/volume-restore-request': mark } }),
    },
    spec: { ...more },
    status: { phase },
  });
  const terminating = (object: PersistentVolumeClaim): PersistentVolumeClaim => ({
    ...object,
    metadata: { ...object.metadata, deletionTimestamp: AFTER },
  });
  const from = (kind: string, name: string) => ({
    dataSourceRef: { apiGroup: 'snapshot.storage.k8s.io', kind, name },
  });
  test.each<[string, PersistentVolumeClaim | undefined, unknown]>([
    ['does not exist', undefined, { kind: 'waiting' }],
    ['was created later, is bound, and is not marked', claim(AFTER, 'Bound'), fails('TargetConflict')],
    ['was created in the same second and is not marked', claim(SAME, 'Bound'), fails('TargetConflict')],
    [
      'was created in the same second, is not marked and not bound yet',
      claim(SAME, 'Pending'),
      { kind: 'waiting' },
    ],
    ['was created later, is not marked and not bound yet', claim(AFTER, 'Pending'), { kind: 'waiting' }],
    ['was created later and is marked', claim(AFTER, 'Bound', {}, 'u-1'), { kind: 'bound' }],
    [
      'was created later and names the source',
      claim(AFTER, 'Bound', from('VolumeSnapshotContent', 's')),
      { kind: 'bound' },
    ],
    [
      'has a volume named after the request',
      claim(AFTER, 'Bound', { volumeName: 'pvc-u-1' }),
      { kind: 'bound' },
    ],
    [
      'has a volume named after another request',
      claim(AFTER, 'Bound', { volumeName: 'pvc-u-11' }),
      fails('TargetConflict'),
    ],
    ['is marked and terminating', terminating(claim(AFTER, 'Bound', {}, 'u-1')), fails('RestoreFailed')],
    ['existed before the request', claim(BEFORE, 'Bound'), fails('TargetConflict')],
    ['existed before, unbound', claim(BEFORE, 'Pending'), fails('TargetConflict')],
    ['existed before and is marked', claim(BEFORE, 'Bound', {}, 'u-1'), { kind: 'bound' }],
    [
      'existed before and names the source',
      claim(BEFORE, 'Bound', from('VolumeSnapshotContent', 's')),
      { kind: 'bound' },
    ],
    [
      'existed before and names another source',
      claim(BEFORE, 'Bound', from('VolumeSnapshotContent', 'x')),
      fails('TargetConflict'),
    ],
    [
      'is marked for another request',
      claim(AFTER, 'Bound', from('VolumeSnapshotContent', 's'), 'u-2'),
      fails('TargetConflict'),
    ],
    ['is marked and not bound yet', claim(AFTER, 'Pending', {}, 'u-1'), { kind: 'waiting' }],
    ['is marked and lost its volume', claim(AFTER, 'Lost', {}, 'u-1'), fails('RestoreFailed')],
  ])('%s', (_name, object, expected) => {
    expect(computeTargetState(object, request())).toEqual(expected);
  });
});

describe('Events of provisioners', () => {
  const report = (more: Partial<Report> = {}): Report => ({
    type: 'Warning',
    reason: 'VRRInvalidSpec',
    note: 'no',
    regarding: { uid: 'u-1' },
    reportingController: 'p',
    ...more,
  });
  test.each<[string, Report, boolean]>([
    ['a refusal', report(), true],
    ['a failure', report({ reason: 'VRRRestoreFailed' }), true],
    [
      'in the older Event format',
      report({ reportingController: '', deprecatedSource: { component: 'p' } }),
      true,
    ],
    ['about another request', report({ regarding: { uid: 'u-2' } }), false],
    [
      'without a request in it',
      { type: 'Warning', reason: 'VRRInvalidSpec', reportingController: 'p' },
      false,
    ],
    ['from an unknown reporter', report({ reportingController: 'q' }), false],
    ['not a warning', report({ type: 'Normal' }), false],
    ['another reason', report({ reason: 'Provisioning' }), false],
  ])('%s', (_name, said, heard) => {
    expect(computeReported([said], request(), ['p'])).toEqual(heard ? fails('RestoreFailed') : undefined);
  });
});

test('a request without a provisioner is reported from the tenth minute on', () => {
  const start = Date.parse('2026-03-01T10:00:00Z');
  expect(isUnserved(request(), instant(start + 599_999))).toBe(false);
  expect(isUnserved(request(), instant(start + 600_000))).toBe(true);
});
