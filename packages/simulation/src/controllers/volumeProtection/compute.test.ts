import type { Pod } from '@lapse/kube/api/kinds/builtin';
import type { PersistentVolume, PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import { describe, expect, test } from 'vitest';
import { CLAIM_PROTECTION, claimsOf, isClaimUsed, isHeldBy, isVolumeUsed } from './compute.ts';

const claim = (name: string, more: object = {}): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: 'PersistentVolumeClaim',
  metadata: { name, namespace: 'n', uid: `uid-${name}`, ...more },
});
const pod = (spec: Pod['spec'], more: object = {}): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p', namespace: 'n', uid: 'uid-p', ...more },
  spec: { nodeName: 'node', ...spec },
});
const using = (claimName: string) => ({ volumes: [{ name: 'v', persistentVolumeClaim: { claimName } }] });
const scratch = { volumes: [{ name: 'v', ephemeral: {} }] };
const ofPod = {
  ownerReferences: [{ apiVersion: 'v1', kind: 'Pod', name: 'p', uid: 'uid-p', controller: true }],
};
const shutDown = { deletionTimestamp: 'x', deletionGracePeriodSeconds: 0 };

describe('whether a claim is used', () => {
  test.each<[string, PersistentVolumeClaim, Pod[], boolean]>([
    ['by nobody', claim('c'), [], false],
    ['by a pod on a node', claim('c'), [pod(using('c'))], true],
    ['a pod without a node uses nothing', claim('c'), [pod({ ...using('c'), nodeName: '' })], false],
    ['by another claim of the pod', claim('c'), [pod(using('d'))], false],
    ['by a pod elsewhere', claim('c'), [pod(using('c'), { namespace: 'm' })], false],
    ['by a pod that has ended but is there', claim('c'), [pod(using('c'), shutDown)], true],
    ['made for a pod', claim('p-v', ofPod), [pod(scratch)], true],
    ['only called so', claim('p-v'), [pod(scratch)], false],
    ['made for a pod that is shut down', claim('p-v', ofPod), [pod(scratch, shutDown)], false],
  ])('%s', (_, of, pods, is) => expect(isClaimUsed(of, pods)).toBe(is));

  test('claims of a pod, by name', () =>
    expect(claimsOf(pod({ volumes: [...using('c').volumes, ...scratch.volumes, { name: 'x' }] }))).toEqual([
      'c',
      'p-v',
    ]));
});

describe('whether a volume is used', () => {
  const volume = (phase: string, uid?: string): PersistentVolume => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name: 'v' },
    spec: { claimRef: { namespace: 'n', name: 'c', ...(uid === undefined ? {} : { uid }) } },
    status: { phase },
  });
  test.each<[string, PersistentVolume, PersistentVolumeClaim | undefined, boolean]>([
    ['bound to a claim', volume('Bound', 'uid-c'), claim('c'), true],
    ['bound by name', volume('Bound'), claim('c'), true],
    ['bound to a claim that is gone', volume('Bound', 'uid-c'), undefined, false],
    ['bound to one that was made again', volume('Bound', 'uid-old'), claim('c'), false],
    ['released', volume('Released', 'uid-c'), claim('c'), false],
  ])('%s', (_, of, bound, is) => expect(isVolumeUsed(of, bound)).toBe(is));
});

test.each<[object, boolean]>([
  [{ deletionTimestamp: 'x', finalizers: ['a', CLAIM_PROTECTION] }, true],
  [{ finalizers: [CLAIM_PROTECTION] }, false],
  [{ deletionTimestamp: 'x', finalizers: ['a'] }, false],
  [{ deletionTimestamp: 'x' }, false],
])('%j is held: %s', (metadata, is) => expect(isHeldBy(metadata, CLAIM_PROTECTION)).toBe(is));
