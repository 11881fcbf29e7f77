// What Lapse creates to restore a volume by itself, as pure functions. A content is restored through a static content, a
// VolumeSnapshot and a claim with that data source. A detached volume is reserved for the new claim.

import type { JsonObject } from '@lapse/kube/api/json';
import type { ObjectKey } from '@lapse/kube/api/kind';
import {
  type PersistentVolume,
  PersistentVolumeClaim,
  type StorageClass,
  VolumeSnapshot,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import { apiVersionOf, type OwnerReference } from '@lapse/kube/api/object';
import { ANNOTATION_DETACHED, ANNOTATION_RESTORE_REQUEST, Reason } from '#api/storage/conditions';
import type { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import { isDetachKeeper } from '#requests/names';
import { type Failure, failure } from '#requests/refusal';

export const helperName = ({ metadata }: VolumeRestoreRequest): string => `restore-${metadata.uid}`;

export interface RestorePlace {
  readonly request: VolumeRestoreRequest;
  readonly target: ObjectKey;
  readonly allowCrossNamespace: boolean;
  /** The keeper that owns the claim, if the claim is deleted with the request. */
  readonly claimOwner?: OwnerReference;
}

/** A source of another namespace has data that the author of the request may not read. `from` is undefined if its namespace is unknown. */
function namespaceProblem(
  { request, allowCrossNamespace }: RestorePlace,
  what: string,
  from: string | undefined,
): Failure | undefined {
  if (allowCrossNamespace || from === request.metadata.namespace) return undefined;
  const where = from === undefined ? 'an unknown namespace' : `namespace ${from}`;
  return failure(
    Reason.InvalidSource,
    `${what} is from ${where}, the request from ${request.metadata.namespace}: restores across namespaces are not allowed`,
  );
}

export interface SnapshotExecution {
  readonly content: VolumeSnapshotContent;
  readonly snapshot: VolumeSnapshot;
  readonly claim: PersistentVolumeClaim;
}

/** `capturedIn`: the namespace of the request that captured the source. */
export function computeSnapshotExecution(
  place: RestorePlace,
  source: VolumeSnapshotContent,
  capturedIn: string | undefined,
  owner: OwnerReference,
): SnapshotExecution | Failure {
  const what = `VolumeSnapshotContent ${source.metadata.name}`;
  const problem = namespaceProblem(place, what, capturedIn);
  if (problem !== undefined) return problem;
  const { snapshotHandle, restoreSize } = source.status ?? {};
  if (!snapshotHandle) return failure(Reason.InvalidSource, `${what} has no status.snapshotHandle`);
  if (!restoreSize)
    return failure(
      Reason.InvalidSource,
      `${what} has no status.restoreSize, so the size of the claim is unknown`,
    );
  const { request, target } = place;
  const mode = source.spec?.sourceVolumeMode;
  const asked = request.spec?.volumeMode;
  if (asked && mode && asked !== mode)
    return failure(
      Reason.InvalidSource,
      `spec.volumeMode is ${asked}, the volume mode of ${what} is ${mode}`,
    );
  const name = helperName(request);
  const metadata = { name, ownerReferences: [owner] };
  const apiVersion = apiVersionOf(VolumeSnapshotContent);
  return {
    content: {
      apiVersion,
      kind: VolumeSnapshotContent.kind,
      metadata,
      spec: {
        // The snapshot belongs to the source.
        deletionPolicy: 'Retain',
        driver: source.spec?.driver ?? '',
        source: { snapshotHandle },
        ...(mode === undefined ? {} : { sourceVolumeMode: mode }),
        volumeSnapshotRef: { apiVersion, kind: VolumeSnapshot.kind, namespace: target.namespace!, name },
      },
    },
    snapshot: {
      apiVersion,
      kind: VolumeSnapshot.kind,
      metadata: { ...metadata, namespace: target.namespace! },
      spec: { source: { volumeSnapshotContentName: name } },
    },
    claim: claimFor(place, {
      accessModes: request.spec?.accessModes ?? ['ReadWriteOnce'],
      resources: { requests: { storage: String(restoreSize) } },
      volumeMode: asked || mode || 'Filesystem',
      ...(request.spec?.storageClassName ? { storageClassName: request.spec.storageClassName } : {}),
      dataSource: { apiGroup: VolumeSnapshot.group, kind: VolumeSnapshot.kind, name },
    }),
  };
}

/** In-tree provisioners of StorageClasses that CSI migration serves with another driver. */
const IN_TREE = 'kubernetes.io/';

/** `claim`: as the API server would create it, with the default StorageClass. */
export function storageClassProblem(
  claim: PersistentVolumeClaim,
  found: StorageClass | undefined,
  driver: string,
): Failure | undefined {
  const name = claim.spec?.storageClassName;
  if (!name)
    return failure(
      Reason.InvalidReference,
      'spec.storageClassName is not set, and the cluster has no default StorageClass',
    );
  if (found === undefined) return failure(Reason.NotFound, `StorageClass ${name} does not exist`);
  const { provisioner = '' } = found;
  return provisioner === driver || provisioner.startsWith(IN_TREE)
    ? undefined
    : failure(
        Reason.InvalidSource,
        `StorageClass ${name} is of provisioner ${provisioner}, the snapshot of driver ${driver}`,
      );
}

const claimFor = (
  { request, target, claimOwner }: RestorePlace,
  spec: NonNullable<PersistentVolumeClaim['spec']>,
): PersistentVolumeClaim => ({
  apiVersion: 'v1',
  kind: PersistentVolumeClaim.kind,
  metadata: {
    name: target.name,
    namespace: target.namespace!,
    annotations: { [ANNOTATION_RESTORE_REQUEST]: request.metadata.uid! },
    ...(claimOwner === undefined ? {} : { ownerReferences: [claimOwner] }),
  },
  spec,
});

export interface VolumeExecution {
  /** Undefined: the volume is reserved for the claim already. */
  readonly patch: JsonObject | undefined;
  readonly claim: PersistentVolumeClaim;
}

/** One patch drops the keeper of the detach and reserves the volume for the claim. */
export function computeVolumeExecution(
  place: RestorePlace,
  volume: PersistentVolume,
): VolumeExecution | Failure {
  const { target } = place;
  const what = `PersistentVolume ${volume.metadata.name}`;
  const ref = volume.spec?.claimRef;
  const isReserved =
    ref?.namespace === target.namespace && ref?.name === target.name && ref?.uid === undefined;
  if (!isReserved) {
    const problem = namespaceProblem(place, what, ref?.namespace);
    if (problem !== undefined) return problem;
    if (volume.status?.phase === 'Bound')
      return failure(Reason.InvalidSource, `${what} is bound to claim ${ref?.namespace}/${ref?.name}`);
  }
  const { accessModes = ['ReadWriteOnce'], capacity, volumeMode, storageClassName } = volume.spec ?? {};
  const claim = claimFor(place, {
    accessModes,
    resources: { requests: { storage: capacity?.storage ?? '1' } },
    volumeMode: volumeMode ?? 'Filesystem',
    storageClassName: storageClassName ?? '',
    volumeName: volume.metadata.name!,
  });
  return { patch: isReserved ? undefined : reservation(volume, target), claim };
}

function reservation({ metadata }: PersistentVolume, target: ObjectKey): JsonObject {
  const owners = (metadata.ownerReferences ?? []).filter(({ name }) => !isDetachKeeper(name));
  return {
    metadata: {
      ownerReferences: owners.length === 0 ? null : (owners as unknown as JsonObject[]),
      annotations: { [ANNOTATION_DETACHED]: null },
    },
    spec: {
      claimRef: {
        apiVersion: 'v1',
        kind: PersistentVolumeClaim.kind,
        namespace: target.namespace!,
        name: target.name,
        uid: null,
        resourceVersion: null,
      },
    },
  };
}
