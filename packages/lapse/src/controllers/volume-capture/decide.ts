// The decisions about the source of a snapshot, as pure functions: claim, volume, class. Each step receives the result of
// the previous one and returns the next object or the failure that ends the request.

import type { ObjectKey } from '@lapse/kube/api/kind';
import {
  type PersistentVolume,
  PersistentVolumeClaim,
  type StorageClass,
  type VolumeSnapshotClass,
} from '@lapse/kube/api/kinds/volumes';
import { checkDns1123Label, checkDns1123Subdomain } from '@lapse/kube/api/names';
import { ANNOTATION_SNAPSHOT_CLASS, Reason } from '#api/storage/conditions';
import type { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { type Failure, failure } from '#requests/refusal';
import { secretProblem } from './classSecret.ts';

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
  if (claim.metadata.deletionTimestamp !== undefined)
    return failure(Reason.InvalidSource, `PersistentVolumeClaim ${claimText(key)} is being deleted`);
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
  /** Filesystem or Block. */
  readonly mode: string;
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
  if (volume.metadata.deletionTimestamp !== undefined)
    return failure(Reason.InvalidSource, `PersistentVolume ${name} is being deleted`);
  const { driver = '', volumeHandle: handle = '' } = volume.spec?.csi ?? {};
  return driver === '' || handle === ''
    ? failure(Reason.InvalidSource, `PersistentVolume ${name} has no CSI volume handle`)
    : { driver, handle, mode: volume.spec?.volumeMode ?? 'Filesystem' };
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

/**
 * What a capture creates: the VolumeSnapshotContent itself, or a VolumeSnapshot, for which snapshot-controller creates
 * the content.
 */
export type SnapshotVia = 'VolumeSnapshotContent' | 'VolumeSnapshot';

export interface ClassContext {
  readonly name: string;
  readonly volume: CsiVolume;
  readonly via: SnapshotVia;
  readonly request: VolumeCaptureRequest;
}

/** The class, if it can take the snapshot that is asked for. */
export function computeClass(
  found: VolumeSnapshotClass | undefined,
  { name, volume, via, request }: ClassContext,
): VolumeSnapshotClass | Failure {
  const what = `VolumeSnapshotClass ${name}`;
  if (found === undefined) return failure(Reason.NotFound, `${what} does not exist`);
  if (!found.driver) return failure(Reason.InvalidSource, `${what} names no driver`);
  if (found.driver !== volume.driver)
    return failure(
      Reason.InvalidSource,
      `${what} is of driver ${found.driver}, the volume of driver ${volume.driver}`,
    );
  const problem =
    secretProblem(request, found) ?? (via === 'VolumeSnapshot' ? policyProblem(request, found) : undefined);
  return problem === undefined ? found : failure(Reason.InvalidSource, `${what} ${problem}`);
}

/** snapshot-controller takes the deletion policy from the class: it must be what the request asks for. */
function policyProblem(
  { spec }: VolumeCaptureRequest,
  { deletionPolicy }: VolumeSnapshotClass,
): string | undefined {
  const wanted = spec?.retain === true ? 'Retain' : 'Delete';
  if (deletionPolicy === wanted) return undefined;
  return `has the deletion policy ${deletionPolicy}, and with snapshot.via: VolumeSnapshot the class decides; name a class with the policy ${wanted}, or set spec.retain: ${wanted === 'Delete'}`;
}

export interface SnapshotSource {
  readonly volume: CsiVolume;
  readonly class: VolumeSnapshotClass;
}
