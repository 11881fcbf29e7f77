// Every decision about capturing a volume as a snapshot. Pure: each step is handed what the one before it found, and
// answers with the next thing or with the failure that ends the request.

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
import { controllerOf } from '#requests/keeper';
import { snapshotName } from '#requests/names';
import { type Failure, failure } from '#requests/refusal';

/** `ns/name`, for messages and indexes. */
export const claimText = ({ namespace = '', name }: ObjectKey): string => `${namespace}/${name}`;

/** Why nothing can have this name, if so: no server would ever be asked for it, and no waiting makes it right. */
const nameProblem = (what: string, name: string): Failure | undefined => {
  const [why] = checkDns1123Subdomain(name);
  return why === undefined
    ? undefined
    : failure(Reason.InvalidReference, `${what} ${JSON.stringify(name)} cannot be a name: ${why}`);
};

/** Which claim the request is about. */
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

/** The name of the volume that the claim is bound to. The phase is not asked: it lags behind. */
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

/** Anybody may write any volume's name into a new claim: the volume must agree. */
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

/** What the storage system calls the volume. */
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

/** The snapshot class: of the request, or of the claim's storage class. */
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

/** Whether an artifact of our name is ours: its controller is the request's keeper. */
export function contentProblem(content: VolumeSnapshotContent, owner: OwnerReference): Failure | undefined {
  const found = controllerOf(content.metadata.ownerReferences);
  if (found?.uid === owner.uid && found.kind === owner.kind) return undefined;
  const is = found === undefined ? 'nobody' : `${found.kind} ${found.name} (${found.uid})`;
  return failure(
    Reason.OwnershipConflict,
    `VolumeSnapshotContent ${content.metadata.name} exists and is controlled by ${is}`,
  );
}

export type Progress = { readonly kind: 'waiting' } | { readonly kind: 'ready' } | Failure;

/** The content that the request has begun to create: it is never begun again. */
export const recordedContent = (request: VolumeCaptureRequest): string | undefined =>
  request.metadata.annotations?.[ANNOTATION_CONTENT_NAME];

export const contentLost = (name: string): Failure =>
  failure(
    Reason.ArtifactLost,
    `VolumeSnapshotContent ${name} does not exist although its creation was started: it was deleted, or the controller stopped before it was created; create a new request to take a snapshot`,
  );

/** What the storage system says. An error ends the request even when a snapshot came of it in the end. */
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
