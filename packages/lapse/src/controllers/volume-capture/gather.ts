// Reads what a capture needs: the source and the content of a snapshot, or the state of a detach.

import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import {
  PersistentVolume,
  PersistentVolumeClaim,
  StorageClass,
  VolumeSnapshot,
  VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import { checkPathSegment } from '@lapse/kube/api/names';
import { cachedRead, liveRead, type Read } from '#requests/direct';
import { keeperName, snapshotName } from '#requests/names';
import { type Failure, failureOf, isFailure, snapshotFailureOf } from '#requests/refusal';
import type { Capture } from './capture.ts';
import {
  computeClass,
  computeClassName,
  computeCsiVolume,
  computeVolumeName,
  type SnapshotSource,
} from './decide.ts';
import { computeDetach, type DetachStep, rememberedVolume } from './decideDetach.ts';
import { type Artifact, artifactText, recordedArtifact } from './decideSnapshot.ts';
import { getUsers } from './pods.ts';

/** The kind of the artifact. */
export const artifactKind = ({ options }: Capture): Kind<Artifact> =>
  (options.policy.via === 'VolumeSnapshot' ? VolumeSnapshot : VolumeSnapshotContent) as Kind<Artifact>;

/** The name of the artifact. A VolumeSnapshot is in the namespace of the claim. */
export const artifactKey = ({ request, claim, options }: Capture): ObjectKey => ({
  name: snapshotName(request.metadata.uid!),
  ...(options.policy.via === 'VolumeSnapshot' ? { namespace: claim.namespace! } : {}),
});

/** The cache may be stale: an artifact whose creation was started is missing only if the API server says so. */
export async function findArtifact(capture: Capture): Promise<Artifact | Failure | undefined> {
  const { ctx, request, options } = capture;
  const kind = artifactKind(capture);
  const key = artifactKey(capture);
  const cached = ctx.cache.get(kind, key);
  if (cached !== undefined || recordedArtifact(request) === undefined) return cached;
  try {
    return await options.direct.get(ctx, kind, key);
  } catch (error) {
    return snapshotFailureOf(error, `reading ${artifactText(kind.kind, key)}`);
  }
}

/** What is captured and how. A cache may be stale, so no request fails because of cached state alone. */
export async function getSource(capture: Capture): Promise<SnapshotSource | Failure> {
  const { ctx, options } = capture;
  const found = await findSource(capture, cachedRead(ctx));
  return isFailure(found) ? findSource(capture, liveRead(ctx, options.direct)) : found;
}

async function findSource(capture: Capture, read: Read): Promise<SnapshotSource | Failure> {
  const { ctx, request, claim: key, options } = capture;
  const direct = liveRead(ctx, options.direct);
  try {
    const claim = await read(PersistentVolumeClaim, key);
    const volumeName = computeVolumeName(claim, key);
    if (isFailure(volumeName)) return volumeName;
    const volume = computeCsiVolume(await readVolume(read, volumeName), claim!);
    if (isFailure(volume)) return volume;
    const storageClass = await getStorageClass(capture, claim!);
    const className = computeClassName(request, claim!, storageClass);
    if (isFailure(className)) return className;
    const found = await direct(VolumeSnapshotClass, { name: className });
    const { via } = options.policy;
    const snapshotClass = computeClass(found, { name: className, volume, via, request });
    return isFailure(snapshotClass) ? snapshotClass : { volume, class: snapshotClass };
  } catch (error) {
    return snapshotFailureOf(error, 'looking for the source');
  }
}

/** Read only if the request sets no snapshot class. */
async function getStorageClass(
  { ctx, request, options }: Capture,
  claim: PersistentVolumeClaim,
): Promise<StorageClass | undefined> {
  const name = claim.spec?.storageClassName;
  if (request.spec?.volumeSnapshotClassName || !name) return undefined;
  return options.direct.get(ctx, StorageClass, { name });
}

export async function getDetachStep({ ctx, request, claim: key }: Capture, read: Read): Promise<DetachStep> {
  try {
    const claim = await read(PersistentVolumeClaim, key);
    const memory = rememberedVolume(request);
    const volumeName = memory ?? (claim?.spec?.volumeName || undefined);
    const volume = volumeName === undefined ? undefined : await readVolume(read, volumeName);
    const keeper = keeperName('pv', request.metadata.uid!);
    const users = await getUsers(ctx, key);
    return computeDetach({ key, claim, volumeName, volume, users, remembered: memory !== undefined, keeper });
  } catch (error) {
    return failureOf(error, 'looking for the volume');
  }
}

/** The volume name in a claim is not validated by the API server. An invalid name refers to no volume. */
const readVolume = async (read: Read, name: string): Promise<PersistentVolume | undefined> =>
  checkPathSegment(name).length > 0 ? undefined : read(PersistentVolume, { name });
