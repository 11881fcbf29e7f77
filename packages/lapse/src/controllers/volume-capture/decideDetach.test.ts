// Detaching a volume: when it is allowed, the mark, and volumes that are bound again.

import type { PersistentVolume, PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import { describe, expect, test } from 'vitest';
import {
  computeDetach,
  computeMark,
  computeRebound,
  type DetachView,
  rememberedVolume,
} from './decideDetach.ts';
import { claim, fails, KEY, OWN, owner, request, volume } from './objects.testkit.ts';

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
    expect(computeMark(volume(), owner, true)).toMatchObject({
      spec: { claimRef: { uid: null, resourceVersion: null } },
    });
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
