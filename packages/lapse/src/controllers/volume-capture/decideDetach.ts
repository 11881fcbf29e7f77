// The decisions about detaching a volume, as pure functions: when it is allowed, the current step, and the one patch
// that completes it.

import type { JsonObject } from '@lapse/kube/api/json';
import type { ObjectKey } from '@lapse/kube/api/kind';
import type { PersistentVolume, PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import { checkDns1123Subdomain } from '@lapse/kube/api/names';
import type { OwnerReference } from '@lapse/kube/api/object';
import { ObjectKeeper } from '#api/objectKeeper';
import { ANNOTATION_DETACH_PV_NAME, ANNOTATION_DETACHED, Reason } from '#api/storage/conditions';
import type { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { controllerOf } from '#requests/keeper';
import { isDetachKeeper } from '#requests/names';
import { type Failure, failure } from '#requests/refusal';
import { claimText, isClaimedBy } from './decide.ts';

/** The volume recorded before its claim was deleted. Invalid names are ignored: the controller did not write them. */
export const rememberedVolume = (request: VolumeCaptureRequest): string | undefined => {
  const name = request.metadata.annotations?.[ANNOTATION_DETACH_PV_NAME];
  return name && checkDns1123Subdomain(name).length === 0 ? name : undefined;
};

/** The current step of a detach. */
export type DetachStep =
  /** The claim exists and may be deleted. */
  | { readonly kind: 'release'; readonly claim: PersistentVolumeClaim; readonly volume: PersistentVolume }
  /** The claim is terminating. */
  | { readonly kind: 'waiting'; readonly volume: PersistentVolume }
  /** The claim is deleted. The volume can be marked. */
  | { readonly kind: 'released'; readonly volume: PersistentVolume }
  | Failure;

export interface DetachView {
  readonly key: ObjectKey;
  readonly claim: PersistentVolumeClaim | undefined;
  /** The recorded volume, or else the claim's. */
  readonly volumeName: string | undefined;
  readonly volume: PersistentVolume | undefined;
  /** Names of Pods that use the claim and have not finished. */
  readonly users: readonly string[];
  readonly remembered: boolean;
  /** Name of the request's keeper. */
  readonly keeper: string;
}

export function computeDetach(view: DetachView): DetachStep {
  const { key, claim, volume, volumeName, remembered, keeper } = view;
  if (claim === undefined && !remembered)
    return failure(Reason.NotFound, `PersistentVolumeClaim ${claimText(key)} does not exist`);
  if (volumeName === undefined)
    return failure(Reason.NotBound, `PersistentVolumeClaim ${claimText(key)} is not bound to a volume`);
  if (volume === undefined) return failure(Reason.NotFound, `PersistentVolume ${volumeName} does not exist`);
  // After the volume is recorded, a claim of that name with another uid is a new claim. It is never touched.
  const own = claim !== undefined && isOwnClaim(volume, claim) ? claim : undefined;
  if (own === undefined) return remembered ? computeReleased(volume, key, keeper) : notBound(volume, key);
  if (own.metadata.deletionTimestamp !== undefined && remembered) return { kind: 'waiting', volume };
  return premiseProblem(view, volume) ?? { kind: 'release', claim: own, volume };
}

/** Stricter than for a snapshot: the claim to be deleted must be the one in the volume's claimRef, by uid. */
const isOwnClaim = (volume: PersistentVolume, claim: PersistentVolumeClaim): boolean =>
  volume.spec?.claimRef !== undefined &&
  claim.spec?.volumeName === volume.metadata.name &&
  isClaimedBy(volume, claim);

const notBound = (volume: PersistentVolume, key: ObjectKey): Failure =>
  failure(
    Reason.NotBound,
    `PersistentVolume ${volume.metadata.name} is not bound to claim ${claimText(key)}`,
  );

function premiseProblem({ users, key, keeper }: DetachView, volume: PersistentVolume): Failure | undefined {
  if (volume.metadata.deletionTimestamp !== undefined)
    return failure(Reason.InvalidSource, `PersistentVolume ${volume.metadata.name} is being deleted`);
  const controller = controllerOf(volume.metadata.ownerReferences);
  if (controller !== undefined && controller.name !== keeper) return controlledBy(volume, controller);
  if (users.length > 0)
    return failure(
      Reason.InUse,
      `PersistentVolumeClaim ${claimText(key)} is used by Pod ${users.slice(0, 3).join(', ')}`,
    );
  const policy = volume.spec?.persistentVolumeReclaimPolicy;
  if (policy !== 'Retain')
    return failure(
      Reason.InvalidReclaimPolicy,
      `PersistentVolume ${volume.metadata.name} has reclaim policy ${policy}: without Retain the volume would be lost with its claim`,
    );
  return undefined;
}

const controlledBy = (volume: PersistentVolume, { kind, name }: OwnerReference): Failure =>
  failure(
    Reason.OwnershipConflict,
    `PersistentVolume ${volume.metadata.name} is controlled by ${kind} ${name}`,
  );

/** The author may have written the annotation, so the volume must have belonged to this claim. */
function computeReleased(volume: PersistentVolume, key: ObjectKey, keeper: string): DetachStep {
  if (volume.metadata.deletionTimestamp !== undefined)
    return failure(Reason.ArtifactLost, `PersistentVolume ${volume.metadata.name} is being deleted`);
  if (isMarked(volume) && controllerOf(volume.metadata.ownerReferences)?.name === keeper)
    return { kind: 'released', volume };
  const { namespace, name } = volume.spec?.claimRef ?? {};
  return namespace === key.namespace && name === key.name
    ? { kind: 'released', volume }
    : notBound(volume, key);
}

const isMarked = (volume: PersistentVolume): boolean =>
  volume.metadata.annotations?.[ANNOTATION_DETACHED] === 'true';

/**
 * The patch that marks a detached volume. Undefined if it is already applied. `clearClaimRef` removes only the uid of the
 * claim: the volume is available, and reserved for a claim of the same name. A reference to a namespace alone does not
 * exist, and without a reference every claim of the cluster could bind the volume.
 */
export function computeMark(
  volume: PersistentVolume,
  owner: OwnerReference,
  clearClaimRef: boolean,
): JsonObject | Failure | undefined {
  const owners = volume.metadata.ownerReferences ?? [];
  const controller = controllerOf(owners);
  if (controller !== undefined && controller.uid !== owner.uid) return controlledBy(volume, controller);
  if (controller !== undefined && isMarked(volume)) return undefined;
  const others = owners.filter(({ uid }) => uid !== owner.uid);
  return {
    metadata: {
      annotations: { [ANNOTATION_DETACHED]: 'true' },
      ownerReferences: [...others, owner].map((reference) => ({ ...reference })),
    },
    ...(clearClaimRef ? { spec: { claimRef: { uid: null, resourceVersion: null } } } : {}),
  };
}

/** The keeper that owns a detached volume. Undefined if the volume is not detached, or is terminating. */
export function detachKeeper({ metadata }: PersistentVolume): OwnerReference | undefined {
  if (metadata.annotations?.[ANNOTATION_DETACHED] !== 'true' || metadata.deletionTimestamp !== undefined)
    return undefined;
  const owner = controllerOf(metadata.ownerReferences);
  return owner?.kind === ObjectKeeper.kind && isDetachKeeper(owner.name) ? owner : undefined;
}

/**
 * The patch that gives a detached volume to the claim that it is bound to again. Undefined if it is not bound. The
 * claim of the detach was deleted before the volume was marked, so an existing claim with the uid of `claimRef` is
 * another one.
 */
export function computeRebound(
  volume: PersistentVolume,
  claim: PersistentVolumeClaim | undefined,
): JsonObject | undefined {
  const keeper = detachKeeper(volume);
  const isBound =
    claim !== undefined && volume.spec?.claimRef?.uid === claim.metadata.uid && isOwnClaim(volume, claim);
  if (keeper === undefined || !isBound || claim.metadata.deletionTimestamp !== undefined) return undefined;
  const others = (volume.metadata.ownerReferences ?? []).filter(({ uid }) => uid !== keeper.uid);
  return {
    metadata: {
      annotations: { [ANNOTATION_DETACHED]: null },
      ownerReferences: others.map((reference) => ({ ...reference })),
    },
  };
}
