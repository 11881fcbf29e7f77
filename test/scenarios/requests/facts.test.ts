// The request controllers are triggered by exactly the fields that they decide by.

import { instant, minutes } from '@lapse/base/instant';
import { VIRTUAL_START } from '@lapse/base/virtualClock';
import type { PersistentVolumeClaim, VolumeSnapshotContent } from '@lapse/kube/api/kinds/volumes';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Facts } from '@lapse/runtime/facts';
import type { ObjectKeeper } from 'lapse/api/objectKeeper';
import type { RequestObject } from 'lapse/api/storage/request';
import type { VolumeRestoreRequest } from 'lapse/api/volumeRestoreRequest';
import { computePlan, computeRule } from 'lapse/controllers/object-keeper/decide';
import { artifactProblem, computeProgress } from 'lapse/controllers/volume-capture/decideSnapshot';
import { computeContentState, computeTargetState } from 'lapse/controllers/volume-restore/decide';
import { computeScannedExpiry } from 'lapse/requests/ttl';
import { test } from 'vitest';
import { expectFactsCover, expectFactsDecide } from '../facts.ts';
import { captureOptions, servicesForRights } from './built.ts';
import { capture, claim, content, restore } from './kit.ts';

const controllers = servicesForRights().flatMap((family) => family.controllers);
const definition = (name: string) => controllers.find((controller) => controller.name === name)!;
const watched = <T extends KubeObject>(name: string, kind: string): Facts<T> =>
  definition(name).watches!.find((watch) => watch.kind.kind === kind)!.facts as Facts<T>;
const now = instant(VIRTUAL_START + 3_600_000);

const ready = (status: string, completed = '2026-01-01T00:10:00Z') => ({
  completionTimestamp: completed,
  conditions: [{ type: 'Ready', status, reason: 'Completed', message: 'x' }],
});

test('request-ttl', () => {
  const given = {
    facts: definition('request-ttl-volumecapturerequests').facts as Facts<RequestObject>,
    compute: (request: RequestObject) => computeScannedExpiry(request, captureOptions().rules as never, now),
    objects: [
      capture(),
      { ...capture(), status: ready('True') },
      { ...capture(), status: ready('False') },
      { ...capture(), status: ready('True', '2026-01-01T00:58:00Z') },
      { ...capture('x', {}, { deletionTimestamp: '2026-01-01T00:00:00Z' }), status: ready('True') },
    ],
  };
  expectFactsCover(given);
  expectFactsDecide(given);
});

test('object-keeper', () => {
  const ref = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'n', name: 'x', uid: 'u' };
  const keeper = (spec: object): ObjectKeeper => ({
    apiVersion: 'deckhouse.io/v1alpha1',
    kind: 'ObjectKeeper',
    metadata: { name: 'k', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec,
  });
  expectFactsCover({
    facts: definition('object-keeper').facts as Facts<ObjectKeeper>,
    compute: (object: ObjectKeeper) =>
      computePlan(
        computeRule(object),
        { kind: 'lost', why: 'x' },
        { keeper: object, now, blind: false, stamp: now },
      ),
    objects: [
      keeper({ mode: 'FollowObject', followObjectRef: ref }),
      keeper({ mode: 'FollowObjectWithTTL', ttl: '1h', followObjectRef: ref }),
      keeper({ mode: 'TTL', ttl: '2h' }),
      keeper({ mode: 'TTL', ttl: 'x' }),
    ],
    except: {
      'metadata.creationTimestamp': 'never changes',
      'status.lostAt': 'only this controller writes it',
      'status.phase': 'only this controller writes it',
      'status.conditions': 'only this controller writes it',
      status: 'only this controller writes it',
    },
  });
});

test('contents, for captures', () => {
  const owner = {
    apiVersion: 'deckhouse.io/v1alpha1',
    kind: 'ObjectKeeper',
    name: 'k',
    uid: 'u',
    controller: true,
  };
  const owned = (status: object | undefined): VolumeSnapshotContent => {
    const made = content('snapshot-u', status) as VolumeSnapshotContent;
    return { ...made, metadata: { ...made.metadata, ownerReferences: [owner] } };
  };
  const given = {
    facts: watched<VolumeSnapshotContent>('volume-capture', 'VolumeSnapshotContent'),
    compute: (object: VolumeSnapshotContent) => [
      artifactProblem(object, owner),
      computeProgress(object, { claim: 'c', timeout: minutes(5), now: instant(0) }),
    ],
    objects: [
      owned(undefined),
      owned({ readyToUse: true }),
      owned({ readyToUse: false, error: { message: 'x', time: '2026-01-01T00:00:00Z' } }),
      content() as VolumeSnapshotContent,
    ],
  };
  expectFactsCover(given);
  expectFactsDecide(given);
});

test('contents and claims, for restores', () => {
  expectFactsCover({
    facts: watched<VolumeSnapshotContent>('volume-restore', 'VolumeSnapshotContent'),
    compute: (object: VolumeSnapshotContent) => computeContentState(object, 'x'),
    objects: [
      content(),
      content('x', { readyToUse: false, error: { message: 'x' } }),
    ] as VolumeSnapshotContent[],
  });
  const request = restore(
    'r',
    {},
    { uid: 'u', creationTimestamp: '2026-01-01T00:05:00Z' },
  ) as VolumeRestoreRequest;
  const at = (creationTimestamp: string, annotations = {}, spec = {}) =>
    claim('restored', spec, { creationTimestamp, annotations }) as PersistentVolumeClaim;
  expectFactsCover({
    facts: watched<PersistentVolumeClaim>('volume-restore', 'PersistentVolumeClaim'),
    compute: (object: PersistentVolumeClaim) => computeTargetState(object, request),
    objects: [
      at('2026-01-01T00:00:00Z'),
      at('2026-01-01T00:06:00Z', { 'storage.deckhouse.io/volume-restore-request': 'u' }),
      at('2026-01-01T00:00:00Z', {}, { dataSourceRef: { kind: 'VolumeSnapshotContent', name: 'kept' } }),
      { ...at('2026-01-01T00:06:00Z'), status: { phase: 'Lost' } },
    ],
    except: { 'metadata.creationTimestamp': 'never changes' },
  });
});
