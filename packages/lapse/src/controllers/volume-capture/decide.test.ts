// Captures: every step of the decision, with boundary cases.

import { instant, millis, plus, seconds } from '@lapse/base/instant';
import type {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import type { OwnerReference } from '@lapse/kube/api/object';
import { describe, expect, test } from 'vitest';
import type { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import {
  buildContent,
  computeClaimKey,
  computeClass,
  computeClassName,
  computeCsiVolume,
  computeProgress,
  computeVolumeName,
  contentProblem,
  timeoutOf,
} from './decide.ts';
import {
  computeDetach,
  computeMark,
  computeRebound,
  type DetachView,
  rememberedVolume,
} from './decideDetach.ts';

const request = (spec: VolumeCaptureRequest['spec'] = {}): VolumeCaptureRequest => ({
  apiVersion: 'storage.deckhouse.io/v1alpha1',
  kind: 'VolumeCaptureRequest',
  metadata: { name: 'r', namespace: 'ns', uid: 'u-1' },
  spec,
});
const claim = (spec: object = { volumeName: 'v' }, uid = 'c-1'): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name: 'data', namespace: 'ns', uid },
  spec,
});
const OWN = { namespace: 'ns', name: 'data', uid: 'c-1' };
const volume = (spec: object = {}, metadata: object = {}): PersistentVolume => ({
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
const KEY = { namespace: 'ns', name: 'data' };
const owner: OwnerReference = {
  apiVersion: 'deckhouse.io/v1alpha1',
  kind: 'ObjectKeeper',
  name: 'ret-pv-u-1',
  uid: 'k-1',
  controller: true,
  blockOwnerDeletion: true,
};
const fails = (reason: string) => expect.objectContaining({ kind: 'failure', reason });

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

test('the class must be of the volume’s driver', () => {
  const found = { metadata: { name: 's' }, driver: 'd' } as VolumeSnapshotClass;
  const of = (driver: string) => ({ driver, handle: 'h', mode: 'Filesystem' });
  expect(computeClass(found, 's', of('d'))).toBe(found);
  expect(computeClass(found, 's', of('e'))).toEqual(fails('InvalidSource'));
  expect(computeClass(undefined, 's', of('d'))).toEqual(fails('NotFound'));
});

describe('the content', () => {
  const snapshotClass = {
    metadata: { name: 's' },
    driver: 'd',
    deletionPolicy: 'Retain',
  } as VolumeSnapshotClass;
  const source = { volume: { driver: 'd', handle: 'h', mode: 'Block' }, class: snapshotClass };
  const built = buildContent(request(), owner, source, 'unbound');
  test('has one owner, is deleted with its snapshot, and refers to no VolumeSnapshot', () => {
    expect(built).toEqual({
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshotContent',
      metadata: { name: 'snapshot-u-1', ownerReferences: [owner] },
      spec: {
        driver: 'd',
        deletionPolicy: 'Delete',
        volumeSnapshotClassName: 's',
        source: { volumeHandle: 'h' },
        volumeSnapshotRef: {},
      },
    });
  });
  test('refers to a VolumeSnapshot of the request on stock clusters', () => {
    const { metadata, spec } = buildContent(request(), owner, source, 'bound');
    expect(spec).toMatchObject({
      sourceVolumeMode: 'Block',
      volumeSnapshotRef: { kind: 'VolumeSnapshot', namespace: 'ns', name: 'r', uid: 'u-1' },
    });
    expect(metadata).toEqual({
      name: 'snapshot-u-1',
      ownerReferences: [owner],
      annotations: { 'snapshot.storage.kubernetes.io/volumesnapshot-being-deleted': 'yes' },
      finalizers: ['snapshot.storage.kubernetes.io/volumesnapshotcontent-bound-protection'],
    });
  });
  test.each<[string, Record<string, string>, Record<string, string>]>([
    ['without secret', {}, {}],
    ['with half a secret', { 'csi.storage.k8s.io/snapshotter-secret-name': 'a' }, {}],
    [
      'with a secret and variables',
      {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of the class
        'csi.storage.k8s.io/snapshotter-secret-name': 'of-${volumesnapshot.name}',
        // biome-ignore lint/suspicious/noTemplateCurlyInString: variables of the class
        'csi.storage.k8s.io/snapshotter-secret-namespace': '${volumesnapshot.namespace}',
      },
      {
        'snapshot.storage.kubernetes.io/deletion-secret-name': 'of-r',
        'snapshot.storage.kubernetes.io/deletion-secret-namespace': 'ns',
      },
    ],
  ])('names the secret of a class %s', (_, parameters, expected) => {
    const { metadata } = buildContent(
      request(),
      owner,
      { ...source, class: { ...snapshotClass, parameters } },
      'bound',
    );
    expect(metadata.annotations).toEqual({
      'snapshot.storage.kubernetes.io/volumesnapshot-being-deleted': 'yes',
      ...expected,
    });
  });
  test('is retained if the request asks for it', () =>
    expect(buildContent(request({ retain: true }), owner, source, 'bound').spec?.deletionPolicy).toBe(
      'Retain',
    ));
  test('is not built for an owner without uid', () => {
    const noKeys = { ...owner, uid: '' };
    expect(() => buildContent(request(), noKeys, source, 'bound')).toThrow('without uid');
  });
  test('belongs to the request only if its keeper controls it', () => {
    expect(contentProblem(built, owner)).toBeUndefined();
    expect(contentProblem(built, { ...owner, uid: 'k-2' })).toEqual(fails('OwnershipConflict'));
    const loose = { ...built, metadata: { name: 'x', ownerReferences: [{ ...owner, controller: false }] } };
    expect(contentProblem(loose, owner)).toEqual(fails('OwnershipConflict'));
  });
  const error = { message: 'x', time: '2026-03-01T10:00:00Z' };
  const created = instant(Date.parse('2026-03-01T10:00:00Z'));
  const progressAt = (after: number, timeout: number, status: VolumeSnapshotContent['status']) =>
    computeProgress(
      {
        ...built,
        metadata: { ...built.metadata, creationTimestamp: '2026-03-01T10:00:00Z' },
        ...(status === undefined ? {} : { status }),
      },
      { claim: 'ns/data', timeout: seconds(timeout), now: plus(created, millis(after)) },
    );
  const retrying = expect.objectContaining({ kind: 'retrying', until: plus(created, seconds(300)) });
  const failed = fails('SnapshotCreationFailed');
  test.each<[string, number, number, VolumeSnapshotContent['status'], unknown]>([
    ['nothing', 0, 300, undefined, { kind: 'waiting' }],
    ['not ready, for a day', 86_400_000, 300, { readyToUse: false }, { kind: 'waiting' }],
    ['an empty error', 400_000, 300, { error: {} }, { kind: 'waiting' }],
    ['ready', 0, 300, { readyToUse: true }, { kind: 'ready' }],
    ['an error, 1 ms before the deadline', 299_999, 300, { readyToUse: false, error }, retrying],
    ['an error at the deadline', 300_000, 300, { readyToUse: false, error }, failed],
    [
      'an error, although ready, after the deadline',
      400_000,
      300,
      { readyToUse: true, error },
      { kind: 'ready' },
    ],
    ['an error without a timeout', 0, 0, { readyToUse: false, error }, failed],
    ['an error without a timeout, although ready', 0, 0, { readyToUse: true, error }, failed],
    [
      'an error without a time, and the message has none',
      0,
      0,
      { error: { message: 'x' } },
      expect.objectContaining({ message: expect.stringMatching(/of claim ns\/data failed: x$/) }),
    ],
    [
      'an error with its time, and the message has it',
      0,
      0,
      { error },
      expect.objectContaining({ message: expect.stringMatching(/failed at 2026-03-01T10:00:00Z: x$/) }),
    ],
  ])('says %s', (_name, after, timeout, status, expected) =>
    expect(progressAt(after, timeout, status)).toEqual(expected),
  );
  test.each<[string, string | undefined, number]>([
    ['the configured one', undefined, 300_000],
    ['its own', '30s', 30_000],
    ['none', '0s', 0],
    ['the configured one instead of an invalid text', 'soon', 300_000],
    ['the configured one instead of a negative one', '-1s', 300_000],
  ])('a request has %s as its timeout', (_, timeout, expected) =>
    expect(timeoutOf(request(timeout === undefined ? {} : { timeout }), seconds(300))).toBe(expected),
  );
});

test('a terminating content is never a success', () => {
  const metadata = { name: 's', deletionTimestamp: '2026-03-01T10:00:00Z' };
  const content = { apiVersion: 'v', kind: 'VolumeSnapshotContent', metadata, status: { readyToUse: true } };
  const context = { claim: 'ns/data', timeout: seconds(300), now: instant(0) };
  expect(computeProgress(content, context)).toEqual(fails('ArtifactLost'));
});

describe('detaching', () => {
  const view = (more: Partial<DetachView> = {}): DetachView => ({
    key: KEY,
    claim: claim(),
    volumeName: 'v',
    volume: volume(),
    users: [],
    remembered: false,
    keeper: 'ret-pv-u-1',
    ...more,
  });
  const going = { ...claim(), metadata: { ...claim().metadata, deletionTimestamp: 'x' } };
  const marked = { annotations: { 'storage.deckhouse.io/detached': 'true' }, ownerReferences: [owner] };
  const step = (kind: string) => expect.objectContaining({ kind });
  test.each<[string, Partial<DetachView>, unknown]>([
    ['all preconditions are met', {}, step('release')],
    ['a Pod uses it', { users: ['p'] }, fails('InUse')],
    [
      'the volume is being deleted',
      { volume: volume({}, { deletionTimestamp: 'x' }) },
      fails('InvalidSource'),
    ],
    [
      'the volume has another controller',
      { volume: volume({}, { ownerReferences: [{ ...owner, name: 'x' }] }) },
      fails('OwnershipConflict'),
    ],
    [
      'the volume is being deleted, its claim is gone',
      { claim: undefined, remembered: true, volume: volume({}, { deletionTimestamp: 'x' }) },
      fails('ArtifactLost'),
    ],
    [
      'the volume has the reclaim policy Delete',
      { volume: volume({ persistentVolumeReclaimPolicy: 'Delete' }) },
      fails('InvalidReclaimPolicy'),
    ],
    [
      'the reclaim policy is unknown',
      { volume: volume({ persistentVolumeReclaimPolicy: undefined }) },
      fails('InvalidReclaimPolicy'),
    ],
    ['the volume has no claimRef', { volume: volume({ claimRef: undefined }) }, fails('NotBound')],
    [
      'the volume names an older claim',
      { volume: volume({ claimRef: { ...OWN, uid: 'c-0' } }) },
      fails('NotBound'),
    ],
    ['not bound', { claim: claim({}), volumeName: undefined, volume: undefined }, fails('NotBound')],
    ['no claim', { claim: undefined, volumeName: undefined, volume: undefined }, fails('NotFound')],
    ['no volume', { volume: undefined }, fails('NotFound')],
    ['another client has deleted the claim', { claim: going }, step('release')],
    ['the controller has deleted the claim', { claim: going, remembered: true }, step('waiting')],
    ['the claim does not exist any more', { claim: undefined, remembered: true }, step('released')],
    [
      'the claim is deleted, and a new one has its name',
      { claim: claim({ volumeName: 'w' }, 'c-2'), remembered: true },
      step('released'),
    ],
    [
      'a new claim with the same name and the same volume',
      { claim: claim({ volumeName: 'v' }, 'c-2'), remembered: true },
      step('released'),
    ],
    [
      'the recorded volume belongs to another claim',
      { claim: undefined, remembered: true, volume: volume({ claimRef: { ...OWN, name: 'x' } }) },
      fails('NotBound'),
    ],
    [
      'the volume is marked by this request, claimRef is cleared',
      { claim: undefined, remembered: true, volume: volume({ claimRef: undefined }, marked) },
      step('released'),
    ],
    [
      'the volume is marked by another request',
      {
        claim: undefined,
        remembered: true,
        volume: volume({ claimRef: undefined }, marked),
        keeper: 'ret-pv-u-2',
      },
      fails('NotBound'),
    ],
    [
      'a Pod uses the claim after the volume was recorded',
      { remembered: true, users: ['p'] },
      fails('InUse'),
    ],
  ])('%s', (_name, more, expected) => {
    expect(computeDetach(view(more))).toEqual(expected);
  });

  test.each([
    ['v-1', 'v-1'],
    ['../v', undefined],
    ['', undefined],
  ])('a recorded volume name %j is read as %j', (text, expected) => {
    const annotations = { 'storage.deckhouse.io/detach-pv-name': text };
    expect(rememberedVolume({ ...request(), metadata: { annotations } })).toBe(expected);
  });

  test('one patch sets mark and owner, keeps other owners, and is sent once', () => {
    const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'o-1' };
    const patch = computeMark(volume({}, { ownerReferences: [other] }), owner, false);
    expect(patch).toEqual({
      metadata: { annotations: { 'storage.deckhouse.io/detached': 'true' }, ownerReferences: [other, owner] },
    });
    expect(computeMark(volume({}, marked), owner, false)).toBeUndefined();
    expect(computeMark(volume(), owner, true)).toMatchObject({ spec: { claimRef: null } });
    const theirs = { ...other, controller: true };
    expect(computeMark(volume({}, { ownerReferences: [theirs] }), owner, false)).toEqual(
      fails('OwnershipConflict'),
    );
  });

  test.each([
    ['a volume that its keeper owns and that has no mark', { ownerReferences: [owner] }],
    ['a volume that has the mark and no owner', { annotations: marked.annotations }],
  ])('%s is patched with both', (_name, metadata) => {
    expect(computeMark(volume({}, metadata), owner, false)).toEqual({
      metadata: { ...marked, ownerReferences: [owner] },
    });
  });

  const other = { apiVersion: 'v1', kind: 'ConfigMap', name: 'o', uid: 'o-1' };
  const detached = (spec: object = {}, metadata: object = {}) =>
    volume(spec, { ...marked, ownerReferences: [owner, other], ...metadata });
  const given = {
    metadata: { annotations: { 'storage.deckhouse.io/detached': null }, ownerReferences: [other] },
  };
  test.each<[string, PersistentVolume, PersistentVolumeClaim | undefined, unknown]>([
    ['is given to the claim that it is bound to again, with its other owners', detached(), claim(), given],
    ['stays with its keeper without a claim', detached(), undefined, undefined],
    ['stays with its keeper while its claim is being deleted', detached(), going, undefined],
    [
      'stays with its keeper when it names an older claim',
      detached({ claimRef: { ...OWN, uid: 'c-0' } }),
      claim(),
      undefined,
    ],
    [
      'stays with its keeper while it names a claim without a uid',
      detached({ claimRef: KEY }),
      claim(),
      undefined,
    ],
    [
      'stays with its keeper when its claim names another volume',
      detached(),
      claim({ volumeName: 'w' }),
      undefined,
    ],
    ['is not changed without the mark', detached({}, { annotations: {} }), claim(), undefined],
    [
      'is not changed while it is being deleted',
      detached({}, { deletionTimestamp: 'x' }),
      claim(),
      undefined,
    ],
    ['is not changed without a keeper', detached({}, { ownerReferences: [other] }), claim(), undefined],
    [
      'is not changed when its controller is of another kind',
      detached({}, { ownerReferences: [{ ...owner, kind: 'ConfigMap' }] }),
      claim(),
      undefined,
    ],
    [
      'is not changed when its keeper does not keep detached volumes',
      detached({}, { ownerReferences: [{ ...owner, name: 'ret-mcr-u-1' }] }),
      claim(),
      undefined,
    ],
  ])('a detached volume %s', (_name, object, bound, expected) => {
    expect(computeRebound(object, bound)).toEqual(expected);
  });
});
