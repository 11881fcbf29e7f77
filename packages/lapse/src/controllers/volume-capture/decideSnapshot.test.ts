// The artifact of a capture: what is created, to whom it belongs, and its progress.

import { instant, millis, plus, seconds } from '@lapse/base/instant';
import type { VolumeSnapshotClass, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import { describe, expect, test } from 'vitest';
import {
  artifactProblem,
  buildContent,
  buildSnapshot,
  computeProgress,
  timeoutOf,
} from './decideSnapshot.ts';
import { fails, owner, request } from './objects.testkit.ts';

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
  test('is created by snapshot-controller for a VolumeSnapshot in the namespace of the claim', () => {
    expect(buildSnapshot(request(), owner, { namespace: 'elsewhere', name: 'data' }, source)).toEqual({
      apiVersion: 'snapshot.storage.k8s.io/v1',
      kind: 'VolumeSnapshot',
      metadata: { name: 'snapshot-u-1', namespace: 'elsewhere', ownerReferences: [owner] },
      spec: { volumeSnapshotClassName: 's', source: { persistentVolumeClaimName: 'data' } },
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
    expect(artifactProblem(built, owner)).toBeUndefined();
    expect(artifactProblem(built, { ...owner, uid: 'k-2' })).toEqual(fails('OwnershipConflict'));
    const loose = { ...built, metadata: { name: 'x', ownerReferences: [{ ...owner, controller: false }] } };
    expect(artifactProblem(loose, owner)).toEqual(fails('OwnershipConflict'));
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
