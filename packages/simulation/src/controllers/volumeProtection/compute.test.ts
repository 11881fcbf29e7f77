import type { Pod } from '@lapse/kube/api/kinds/builtin';
import type { PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
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

describe('isClaimUsed', () => {
  test.each<[string, PersistentVolumeClaim, Pod[], boolean]>([
    ['is false without Pods', claim('c'), [], false],
    ['is true for a Pod on a Node', claim('c'), [pod(using('c'))], true],
    ['is false for a Pod without a Node', claim('c'), [pod({ ...using('c'), nodeName: '' })], false],
    ['is false for a Pod with another claim', claim('c'), [pod(using('d'))], false],
    ['is false for a Pod in another namespace', claim('c'), [pod(using('c'), { namespace: 'm' })], false],
    ['is true for a Pod that is shut down but still exists', claim('c'), [pod(using('c'), shutDown)], true],
    ['is true for the ephemeral claim of a Pod', claim('p-v', ofPod), [pod(scratch)], true],
    [
      'is false for a claim that only has the name of an ephemeral claim',
      claim('p-v'),
      [pod(scratch)],
      false,
    ],
    [
      'is false for the ephemeral claim of a Pod that is shut down',
      claim('p-v', ofPod),
      [pod(scratch, shutDown)],
      false,
    ],
  ])('%s', (_, of, pods, is) => expect(isClaimUsed(of, pods)).toBe(is));

  test('returns the claim names of a Pod', () =>
    expect(claimsOf(pod({ volumes: [...using('c').volumes, ...scratch.volumes, { name: 'x' }] }))).toEqual([
      'c',
      'p-v',
    ]));
});

test.each([
  ['Bound', true],
  ['Released', false],
  ['Available', false],
])('a volume in phase %s: used %s', (phase, used) =>
  expect(
    isVolumeUsed({
      apiVersion: 'v1',
      kind: 'PersistentVolume',
      metadata: { name: 'v' },
      status: { phase },
    }),
  ).toBe(used),
);

test.each<[object, boolean]>([
  [{ deletionTimestamp: 'x', finalizers: ['a', CLAIM_PROTECTION] }, true],
  [{ finalizers: [CLAIM_PROTECTION] }, false],
  [{ deletionTimestamp: 'x', finalizers: ['a'] }, false],
  [{ deletionTimestamp: 'x' }, false],
])('%j is held: %s', (metadata, is) => expect(isHeldBy(metadata, CLAIM_PROTECTION)).toBe(is));
