// The decisions about capturing a volume as a snapshot, as pure functions. Each step receives the result of the
// previous one and returns the next object or the failure that ends the request.

import type { ObjectKey } from '@lapse/kube/api/kind';
import {
  type PersistentVolume,
  PersistentVolumeClaim,
  type StorageClass,
  type VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import { checkDns1123Label, checkDns1123Subdomain } from '@lapse/kube/api/names';
import { apiVersionOf, type OwnerReference } from '@lapse/kube/api/object';
import { ANNOTATION_CONTENT_NAME, ANNOTATION_SNAPSHOT_CLASS, Reason } from '#api/storage/conditions';
import type { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { controllerOf, describeController } from '#requests/keeper';
import { snapshotName } from '#requests/names';
import { type Failure, failure } from '#requests/refusal';

/** `ns/name`, for messages and indexes. */
export const claimText = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;

/**
 * Returns why a name is invalid, or undefined. An invalid name fails at once: waiting does not help, and no request
 * is sent.
 */
const nameProblem = (what: string, name: string): Failure | undefined => {
  const [why] = checkDns1123Subdomain(name);
  return why === undefined
    ? undefined
    : failure(Reason.InvalidReference, `${what} ${JSON.stringify(name)} cannot be a name: ${why}`);
};

/** The claim that the request refers to. */
export function computeClaimKey(request: VolumeCaptureRequest, allowElsewhere: boolean): ObjectKey | Failure {
  const own = request.metadata.namespace ?? '';
  const { kind, name = '', namespace: named } = request.spec?.persistentVolumeClaimRef ?? {};
  const namespace = named || own;
  if (kind && kind !== PersistentVolumeClaim.kind)
    return failure(
      Reason.InvalidReference,
      `spec.persistentVolumeClaimRef.kind ${kind} is not PersistentVolumeClaim`,
    );
  if (name === '') return failure(Reason.InvalidReference, 'spec.persistentVolumeClaimRef names no claim');
  if (namespace !== own && !allowElsewhere)
    return failure(
      Reason.InvalidReference,
      `the claim is in namespace ${namespace} and the request in ${own}: captures across namespaces are not allowed`,
    );
  if (checkDns1123Label(namespace).length > 0)
    return failure(
      Reason.InvalidReference,
      `spec.persistentVolumeClaimRef.namespace ${JSON.stringify(namespace)} cannot be a namespace`,
    );
  return nameProblem('spec.persistentVolumeClaimRef.name', name) ?? { namespace, name };
}

/** The name of the volume that the claim is bound to. The phase is not checked, because it lags behind. */
export function computeVolumeName(
  claim: PersistentVolumeClaim | undefined,
  key: ObjectKey,
): string | Failure {
  if (claim === undefined)
    return failure(Reason.NotFound, `PersistentVolumeClaim ${claimText(key)} does not exist`);
  const volume = claim.spec?.volumeName;
  return volume
    ? volume
    : failure(Reason.NotBound, `PersistentVolumeClaim ${claimText(key)} is not bound to a volume`);
}

/** Every user can write any volume name into a new claim, so the claimRef of the volume must match. */
export function isClaimedBy(volume: PersistentVolume, claim: PersistentVolumeClaim): boolean {
  const ref = volume.spec?.claimRef;
  if (ref === undefined) return true;
  const { namespace, name, uid } = claim.metadata;
  return ref.namespace === namespace && ref.name === name && (ref.uid === undefined || ref.uid === uid);
}

export interface CsiVolume {
  readonly driver: string;
  readonly handle: string;
}

/** Driver and handle of the volume in the storage system. */
export function computeCsiVolume(
  volume: PersistentVolume | undefined,
  claim: PersistentVolumeClaim,
): CsiVolume | Failure {
  const name = claim.spec?.volumeName;
  if (volume === undefined) return failure(Reason.NotFound, `PersistentVolume ${name} does not exist`);
  if (!isClaimedBy(volume, claim))
    return failure(Reason.NotBound, `PersistentVolume ${name} is bound to another claim`);
  const { driver = '', volumeHandle: handle = '' } = volume.spec?.csi ?? {};
  return driver === '' || handle === ''
    ? failure(Reason.InvalidSource, `PersistentVolume ${name} has no CSI volume handle`)
    : { driver, handle };
}

/** The snapshot class: from the request, or from the claim's storage class. */
export function computeClassName(
  request: VolumeCaptureRequest,
  claim: PersistentVolumeClaim,
  storageClass: StorageClass | undefined,
): string | Failure {
  const asked = request.spec?.volumeSnapshotClassName;
  if (asked) return nameProblem('spec.volumeSnapshotClassName', asked) ?? asked;
  const name = claim.spec?.storageClassName;
  if (!name)
    return failure(
      Reason.NotFound,
      'no VolumeSnapshotClass: the request names none, and the claim has no StorageClass',
    );
  if (storageClass === undefined) return failure(Reason.NotFound, `StorageClass ${name} does not exist`);
  const chosen = storageClass.metadata.annotations?.[ANNOTATION_SNAPSHOT_CLASS];
  if (!chosen)
    return failure(
      Reason.NotFound,
      `no VolumeSnapshotClass: the request names none, and StorageClass ${name} has no annotation ${ANNOTATION_SNAPSHOT_CLASS}`,
    );
  return nameProblem(`annotation ${ANNOTATION_SNAPSHOT_CLASS} of StorageClass ${name}:`, chosen) ?? chosen;
}

/** The class, if it can take snapshots of this volume. */
export function computeClass(
  found: VolumeSnapshotClass | undefined,
  name: string,
  volume: CsiVolume,
): VolumeSnapshotClass | Failure {
  if (found === undefined) return failure(Reason.NotFound, `VolumeSnapshotClass ${name} does not exist`);
  return found.driver === volume.driver
    ? found
    : failure(
        Reason.InvalidSource,
        `VolumeSnapshotClass ${name} is of driver ${found.driver}, the volume of driver ${volume.driver}`,
      );
}

/** The artifact. It refers to no VolumeSnapshot, and the keeper is its only owner. */
export function buildContent(
  request: VolumeCaptureRequest,
  owner: OwnerReference,
  volume: CsiVolume,
  snapshotClass: VolumeSnapshotClass,
): VolumeSnapshotContent {
  if (owner.uid === '') throw new Error('an owner without uid owns nothing');
  return {
    apiVersion: apiVersionOf(VolumeSnapshotContent),
    kind: VolumeSnapshotContent.kind,
    metadata: { name: snapshotName(request.metadata.uid!), ownerReferences: [owner] },
    spec: {
      driver: volume.driver,
      deletionPolicy: snapshotClass.deletionPolicy ?? 'Delete',
      volumeSnapshotClassName: snapshotClass.metadata.name!,
      source: { volumeHandle: volume.handle },
      volumeSnapshotRef: {},
    },
  };
}

/** Checks that an existing artifact of this name is controlled by the request's keeper. */
export function contentProblem(content: VolumeSnapshotContent, owner: OwnerReference): Failure | undefined {
  const found = controllerOf(content.metadata.ownerReferences);
  if (found?.uid === owner.uid && found.kind === owner.kind) return undefined;
  return failure(
    Reason.OwnershipConflict,
    `VolumeSnapshotContent ${content.metadata.name} exists and ${describeController(found)}`,
  );
}

export type Progress = { readonly kind: 'waiting' } | { readonly kind: 'ready' } | Failure;

/** The content whose creation the request has recorded. Its creation is never started again. */
export const recordedContent = (request: VolumeCaptureRequest): string | undefined =>
  request.metadata.annotations?.[ANNOTATION_CONTENT_NAME];

export const contentLost = (name: string): Failure =>
  failure(
    Reason.ArtifactLost,
    `VolumeSnapshotContent ${name} does not exist although its creation was started: it was deleted, or the controller stopped before it was created; create a new request to take a snapshot`,
  );

/** The state reported by the storage system. An error ends the request even if a snapshot is completed later. */
export function computeProgress(content: VolumeSnapshotContent, claim: string): Progress {
  const { readyToUse, error } = content.status ?? {};
  if (error?.message) {
    const when = error.time === undefined ? '' : ` at ${error.time}`;
    return failure(
      Reason.SnapshotCreationFailed,
      `VolumeSnapshotContent ${content.metadata.name} of claim ${claim} failed${when}: ${error.message}`,
    );
  }
  if (content.metadata.deletionTimestamp !== undefined)
    return failure(
      Reason.ArtifactLost,
      `VolumeSnapshotContent ${content.metadata.name} of claim ${claim} is being deleted; create a new request to take a snapshot`,
    );
  return readyToUse === true ? { kind: 'ready' } : { kind: 'waiting' };
}
