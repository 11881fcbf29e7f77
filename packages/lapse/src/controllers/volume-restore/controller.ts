// The declaration of volume-restore: requests, triggers and rights. With an external executor it may create keepers, but
// neither claims nor snapshots.

import { keyOf } from '@lapse/kube/api/kind';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import {
  type ControllerDefinition,
  defineController,
  type Right,
  type WatchDefinition,
} from '@lapse/runtime/definition';
import { KubeEvent } from '@lapse/runtime/events/build';
import { ObjectKeeper } from '#api/objectKeeper';
import { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import { requireAll } from '#requests/direct';
import { standbyHooks } from '#requests/ownDeletion';
import type { RestoreOptions } from './policy.ts';
import { reportIndexes, reportProjection } from './provisionerEvents.ts';
import { reconcileRestore } from './reconcile.ts';

const UID = 'uid';
const SOURCE = 'source';
const TARGET = 'target';

const sourceText = (kind: string, name: string): string => `${kind} ${name}`;

const contents: WatchDefinition<VolumeSnapshotContent> = {
  kind: VolumeSnapshotContent,
  optional: true,
  facts: ({ metadata, status }) => [metadata.deletionTimestamp, status?.readyToUse, status?.error],
  to: ({ kind, metadata }, cache) =>
    cache.byIndex(VolumeRestoreRequest, SOURCE, sourceText(kind, metadata.name!)).map(keyOf),
};

const claims = (namespace: string | undefined): WatchDefinition<PersistentVolumeClaim> => ({
  kind: PersistentVolumeClaim,
  optional: true,
  ...(namespace === undefined ? {} : { namespace }),
  facts: ({ metadata, spec, status }) => [
    metadata.uid,
    metadata.annotations,
    metadata.deletionTimestamp,
    spec?.dataSourceRef,
    spec?.volumeName,
    status?.phase,
  ],
  to: ({ metadata }, cache) =>
    cache.byIndex(VolumeRestoreRequest, TARGET, `${metadata.namespace}/${metadata.name}`).map(keyOf),
});

const reports = (namespace: string | undefined): WatchDefinition<KubeEvent> => ({
  kind: KubeEvent,
  optional: true,
  ...(namespace === undefined ? {} : { namespace }),
  fieldSelector: `type=Warning,regarding.kind=${VolumeRestoreRequest.kind}`,
  projection: reportProjection,
  indexes: reportIndexes,
  facts: ({ reason, regarding }) => [reason, regarding?.uid],
  to: ({ regarding }, cache) =>
    regarding?.uid ? cache.byIndex(VolumeRestoreRequest, UID, regarding.uid).map(keyOf) : [],
});

/** Only read. A change does not trigger a reconcile. */
const noKeys = (): [] => [];

const SNAPSHOTS = VolumeSnapshotContent.group;
const EXECUTOR_RIGHTS: readonly Right[] = [
  { group: SNAPSHOTS, resource: 'volumesnapshotcontents', verbs: ['create', 'patch', 'delete'] },
  { group: SNAPSHOTS, resource: 'volumesnapshots', verbs: ['get', 'create', 'patch', 'delete'] },
  { group: '', resource: 'persistentvolumeclaims', verbs: ['create', 'delete'] },
  // OwnerReferencesPermissionEnforcement requires delete where owner references change. No volume is deleted.
  { group: '', resource: 'persistentvolumes', verbs: ['patch', 'delete'] },
  { group: 'storage.k8s.io', resource: 'storageclasses', verbs: ['get'] },
  { group: KubeEvent.group, resource: KubeEvent.resource, verbs: ['list'] },
];

export function volumeRestoreController(options: RestoreOptions): ControllerDefinition<VolumeRestoreRequest> {
  const { rules, policy, direct, expirer, guard, random, namespace } = options;
  requireAll('volume-restore', { rules, policy, direct, expirer, guard, random });
  const { group } = rules.kind;
  return defineController<VolumeRestoreRequest>({
    name: 'volume-restore',
    for: VolumeRestoreRequest,
    ...(namespace === undefined ? {} : { namespace }),
    indexes: {
      [UID]: ({ metadata }) => [metadata.uid!],
      [SOURCE]: ({ spec }) => [sourceText(spec?.sourceRef?.kind ?? '', spec?.sourceRef?.name ?? '')],
      [TARGET]: ({ metadata, spec }) => [
        `${spec?.targetNamespace || metadata.namespace}/${spec?.targetPVCName ?? ''}`,
      ],
    },
    watches: [
      contents,
      claims(namespace),
      reports(namespace),
      { kind: PersistentVolume, optional: true, to: noKeys },
      { kind: ObjectKeeper, optional: true, to: noKeys },
    ] as WatchDefinition[],
    concurrency: 8,
    rights: [
      { group, resource: 'volumerestorerequests', verbs: ['get', 'patch'] },
      { group, resource: 'volumerestorerequests/status', verbs: ['patch'] },
      { group: ObjectKeeper.group, resource: ObjectKeeper.resource, verbs: ['get', 'create'] },
      { group: VolumeSnapshotContent.group, resource: VolumeSnapshotContent.resource, verbs: ['get'] },
      { group: '', resource: 'persistentvolumes', verbs: ['get'] },
      { group: '', resource: 'persistentvolumeclaims', verbs: ['get'] },
      ...(policy.executor === 'External' ? [] : EXECUTOR_RIGHTS),
      ...(rules.ttl.mode === 'annotation'
        ? [{ group, resource: 'volumerestorerequests', verbs: ['delete'] }]
        : []),
    ],
    ...standbyHooks(VolumeRestoreRequest, expirer),
    reconcile: (ctx) => reconcileRestore(ctx, options),
  });
}
