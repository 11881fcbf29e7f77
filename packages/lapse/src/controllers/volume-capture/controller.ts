// The declaration of volume-capture: requests, triggers and rights.

import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import { Pod } from '@lapse/kube/api/kinds/builtin';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import type { KubeObject } from '@lapse/kube/api/object';
import {
  type ControllerDefinition,
  defineController,
  type Right,
  type WatchDefinition,
} from '@lapse/runtime/definition';
import { ObjectKeeper } from '#api/objectKeeper';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { requireAll } from '#requests/direct';
import { uidOfSnapshot } from '#requests/names';
import { standbyHooks } from '#requests/ownDeletion';
import type { CaptureContext } from './capture.ts';
import { claimText } from './decide.ts';
import type { Artifact } from './decideSnapshot.ts';
import { TO_CHANGE_OWNERS } from './detachedVolume.ts';
import { claimingPods, podIndexes } from './pods.ts';
import type { CaptureOptions, CapturePolicy } from './policy.ts';
import { reconcileCapture } from './reconcile.ts';

const keysOf = (objects: readonly KubeObject[]): ObjectKey[] => objects.map(keyOf);

const UID = 'uid';
const CLAIM = 'claim';

/** The artifacts of captures. */
const artifacts = ({ via }: CapturePolicy, namespace: string | undefined): WatchDefinition<Artifact> => ({
  kind: (via === 'VolumeSnapshot' ? VolumeSnapshot : VolumeSnapshotContent) as Kind<Artifact>,
  optional: true,
  ...(via === 'VolumeSnapshot' && namespace !== undefined ? { namespace } : {}),
  facts: ({ metadata, status }) => [
    metadata.ownerReferences,
    metadata.creationTimestamp,
    metadata.deletionTimestamp,
    status?.readyToUse,
    status?.error,
  ],
  to({ metadata }, cache) {
    const uid = uidOfSnapshot(metadata.name ?? '');
    return uid === undefined ? [] : keysOf(cache.byIndex(VolumeCaptureRequest, UID, uid));
  },
});

const SNAPSHOTS = VolumeSnapshotContent.group;

/** With VolumeSnapshots, contents are only read. */
const artifactRights = ({ via }: CapturePolicy): readonly Right[] =>
  via === 'VolumeSnapshot'
    ? [
        { group: SNAPSHOTS, resource: VolumeSnapshot.resource, verbs: ['get', 'create', 'delete'] },
        { group: SNAPSHOTS, resource: VolumeSnapshotContent.resource, verbs: ['get'] },
      ]
    : [{ group: SNAPSHOTS, resource: VolumeSnapshotContent.resource, verbs: ['get', 'create', 'delete'] }];

/** A detach waits until its claim is deleted. */
const claims = (namespace: string | undefined): WatchDefinition<PersistentVolumeClaim> => ({
  kind: PersistentVolumeClaim,
  optional: true,
  ...(namespace === undefined ? {} : { namespace }),
  facts: ({ metadata, spec }) => [metadata.uid, metadata.deletionTimestamp, spec?.volumeName],
  to: ({ metadata }, cache) =>
    keysOf(
      cache.byIndex(
        VolumeCaptureRequest,
        CLAIM,
        claimText({ namespace: metadata.namespace ?? '', name: metadata.name! }),
      ),
    ),
});

/** Only read. A change does not trigger a reconcile. */
const noKeys = (): [] => [];

export function volumeCaptureController(options: CaptureOptions): ControllerDefinition<VolumeCaptureRequest> {
  const { rules, policy, direct, expirer, guard, random, namespace } = options;
  requireAll('volume-capture', { rules, policy, direct, expirer, guard, random });
  const within = namespace === undefined ? {} : { namespace };
  const hooks = standbyHooks(VolumeCaptureRequest, expirer);
  const context: CaptureContext = { ...options, unanswered: new Map(), contentForm: 'unbound' };
  return defineController<VolumeCaptureRequest>({
    name: 'volume-capture',
    for: VolumeCaptureRequest,
    ...within,
    indexes: {
      [UID]: ({ metadata }) => [metadata.uid!],
      [CLAIM]: ({ metadata, spec }) => {
        const { name, namespace: elsewhere } = spec?.persistentVolumeClaimRef ?? {};
        return name && spec?.mode === 'Detach'
          ? [claimText({ namespace: elsewhere || metadata.namespace!, name })]
          : [];
      },
    },
    watches: [
      artifacts(policy, namespace),
      claims(namespace),
      { kind: PersistentVolume, optional: true, to: noKeys },
      { kind: ObjectKeeper, optional: true, to: noKeys },
      {
        kind: Pod,
        optional: true,
        ...within,
        projection: claimingPods,
        indexes: podIndexes,
        to: noKeys,
      } as WatchDefinition<Pod>,
    ] as WatchDefinition[],
    concurrency: 8,
    ...hooks,
    onStandbyChange: (key, request) => {
      hooks.onStandbyChange(key, request);
      if (request === undefined) context.unanswered.delete(claimText(key));
    },
    // Another replica may have created the contents meanwhile.
    onStandby: () => context.unanswered.clear(),
    rights: [
      { group: rules.kind.group, resource: 'volumecapturerequests', verbs: ['get', 'patch'] },
      { group: rules.kind.group, resource: 'volumecapturerequests/status', verbs: ['patch'] },
      { group: ObjectKeeper.group, resource: ObjectKeeper.resource, verbs: ['get', 'create'] },
      // OwnerReferencesPermissionEnforcement requires it where blockOwnerDeletion is set.
      { group: ObjectKeeper.group, resource: `${ObjectKeeper.resource}/finalizers`, verbs: ['update'] },
      ...artifactRights(policy),
      { group: SNAPSHOTS, resource: 'volumesnapshotclasses', verbs: ['get'] },
      { group: 'storage.k8s.io', resource: 'storageclasses', verbs: ['get'] },
      { group: '', resource: 'persistentvolumes', verbs: ['get', 'patch', TO_CHANGE_OWNERS] },
      { group: '', resource: 'persistentvolumeclaims', verbs: ['get', 'delete'] },
      ...(options.authors === undefined
        ? []
        : [{ group: 'authorization.k8s.io', resource: 'subjectaccessreviews', verbs: ['create'] }]),
      ...(rules.ttl.mode === 'annotation'
        ? [{ group: rules.kind.group, resource: 'volumecapturerequests', verbs: ['delete'] }]
        : []),
    ],
    reconcile: (ctx) => reconcileCapture(ctx, context),
  });
}
