// Requests for the random clusters of plans: captures and restores of volumes, captures of manifests, some of which
// cannot succeed, and their sources. None of them has completed. Their deletion time is known only after completion, as
// is that of the keepers and artifacts they create.

import { formatTime, type Instant } from '@lapse/base/instant';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Change } from '@lapse/simulation/history';
import { type Dice, NAMESPACES } from './planWorld.ts';
import { capture, claim, content, restore, snapshotClass, storageClass, volume } from './requests/kit.ts';

export function drawRequests(dice: Dice, now: Instant): KubeObject[] {
  const stack = [snapshotClass(), storageClass(), content()];
  const claims = NAMESPACES.flatMap((namespace) => [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'captured', namespace } },
    volume(`pv-${namespace}`),
    claim('data', { volumeName: `pv-${namespace}` }, { namespace }),
  ]);
  const requests = Array.from({ length: dice.below(6) }, (_, i) => drawRequest(dice, `request-${i}`));
  const creationTimestamp = formatTime(now);
  return [...stack, ...claims, ...requests].map((object) => ({
    ...object,
    metadata: { uid: dice.uid(), creationTimestamp, ...object.metadata },
  }));
}

/** As a user would write it. */
export function drawRequest(dice: Dice, name: string): KubeObject {
  const namespace = dice.pick(NAMESPACES);
  switch (dice.pick(['capture', 'restore', 'manifests'])) {
    case 'capture':
      return capture(
        name,
        { persistentVolumeClaimRef: { name: dice.pick(['data', 'data', 'typo']) } },
        { namespace },
      );
    case 'restore': {
      const sourceRef = { kind: 'VolumeSnapshotContent', name: dice.pick(['kept', 'kept', 'typo']) };
      return restore(name, { sourceRef, targetPVCName: `of-${name}` }, { namespace });
    }
    default:
      return {
        apiVersion: 'state-snapshotter.deckhouse.io/v1alpha1',
        kind: 'ManifestCaptureRequest',
        metadata: { name, namespace },
        spec: {
          targets: [
            { apiVersion: 'v1', kind: 'ServiceAccount', name: dice.pick(['captured', 'captured', 'typo']) },
          ],
        },
      } as KubeObject;
  }
}

const REQUESTS: ReadonlySet<string> = new Set([
  'VolumeCaptureRequest',
  'VolumeRestoreRequest',
  'ManifestCaptureRequest',
]);

interface Known extends KubeObject {
  readonly spec?: { readonly followObjectRef?: { readonly uid: string } };
  readonly status?: { readonly conditions?: readonly { readonly type: string }[] };
}

/**
 * Uids of objects whose deletion an earlier plan could not know: objects created since, requests completed since, and
 * objects that follow or belong to one of those.
 */
export function newsIn(changes: readonly Change[]): ReadonlySet<string> {
  const news = new Set<string>();
  const all = new Map<string, Known>();
  for (const { kind, before, after } of changes) {
    const object = (after ?? before) as Known;
    const uid = object.metadata.uid ?? '';
    all.set(uid, object);
    const hasEndedNow = REQUESTS.has(kind) && !hasEnded(before as Known) && hasEnded(after as Known);
    if (before === undefined || hasEndedNow) news.add(uid);
  }
  for (let size = -1; size !== news.size; ) {
    size = news.size;
    for (const [uid, object] of all) if (leaders(object).some((one) => news.has(one))) news.add(uid);
  }
  return news;
}

const hasEnded = (request: Known | undefined): boolean =>
  request?.status?.conditions?.some(({ type }) => type === 'Ready') === true;

/** Uids of the owners and of the followed object, whose deletion entails its own. */
const leaders = ({ metadata, spec }: Known): string[] => [
  ...(metadata.ownerReferences ?? []).map(({ uid }) => uid),
  ...(spec?.followObjectRef === undefined ? [] : [spec.followObjectRef.uid]),
];
