// The decisions about the artifact of a capture, as pure functions: what is created, whether it belongs to the request, and
// how far the storage system is.

import { readGoDuration } from '@lapse/base/goDuration';
import { formatTime, type Instant, isDue, type Millis, millis, parseTime, plus } from '@lapse/base/instant';
import type { ObjectKey } from '@lapse/kube/api/kind';
import { BEING_DELETED, CONTENT_PROTECTION } from '@lapse/kube/api/kinds/snapshotNames';
import {
  VolumeSnapshot,
  type VolumeSnapshotClass,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import { apiVersionOf, type OwnerReference } from '@lapse/kube/api/object';
import { ANNOTATION_CONTENT_NAME, Reason } from '#api/storage/conditions';
import type { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { controllerOf, describeController } from '#requests/keeper';
import { snapshotName } from '#requests/names';
import { type Failure, failure } from '#requests/refusal';
import { deletionSecret } from './classSecret.ts';
import type { CsiVolume, SnapshotSource } from './decide.ts';

/**
 * `bound`: with a reference to a VolumeSnapshot of the request's name and uid, which does not exist. The stock CRD and
 * csi-snapshotter require it. `unbound`: without one, as the patched snapshot stack of Deckhouse expects.
 */
export type ContentForm = 'bound' | 'unbound';

/** The keeper is its only owner. */
export function buildContent(
  request: VolumeCaptureRequest,
  owner: OwnerReference,
  { volume, class: snapshotClass }: SnapshotSource,
  form: ContentForm,
): VolumeSnapshotContent {
  requireUid(owner);
  const name = snapshotName(request.metadata.uid!);
  const spec = {
    driver: volume.driver,
    // The class decides only for VolumeSnapshots: a retained snapshot would have no record.
    deletionPolicy: request.spec?.retain === true ? 'Retain' : 'Delete',
    volumeSnapshotClassName: snapshotClass.metadata.name!,
    source: { volumeHandle: volume.handle },
    volumeSnapshotRef: {},
  };
  const content: VolumeSnapshotContent = {
    apiVersion: apiVersionOf(VolumeSnapshotContent),
    kind: VolumeSnapshotContent.kind,
    metadata: { name, ownerReferences: [owner] },
    spec,
  };
  return form === 'unbound' ? content : bound(content, request, snapshotClass, volume);
}

function bound(
  { metadata, spec, ...content }: VolumeSnapshotContent,
  request: VolumeCaptureRequest,
  snapshotClass: VolumeSnapshotClass,
  volume: CsiVolume,
): VolumeSnapshotContent {
  const { namespace, name, uid } = request.metadata;
  const volumeSnapshotRef = {
    apiVersion: apiVersionOf(VolumeSnapshot),
    kind: VolumeSnapshot.kind,
    namespace: namespace!,
    name: name!,
    uid: uid!,
  };
  return {
    ...content,
    metadata: {
      ...metadata,
      annotations: { [BEING_DELETED]: 'yes', ...deletionSecret(request, snapshotClass) },
      finalizers: [CONTENT_PROTECTION],
    },
    spec: { ...spec, sourceVolumeMode: volume.mode, volumeSnapshotRef },
  };
}

/** snapshot-controller creates the content. The claim must be in the same namespace. */
export function buildSnapshot(
  request: VolumeCaptureRequest,
  owner: OwnerReference,
  claim: ObjectKey,
  { class: snapshotClass }: SnapshotSource,
): VolumeSnapshot {
  requireUid(owner);
  return {
    apiVersion: apiVersionOf(VolumeSnapshot),
    kind: VolumeSnapshot.kind,
    metadata: {
      name: snapshotName(request.metadata.uid!),
      namespace: claim.namespace!,
      ownerReferences: [owner],
    },
    spec: {
      volumeSnapshotClassName: snapshotClass.metadata.name!,
      source: { persistentVolumeClaimName: claim.name },
    },
  };
}

function requireUid({ uid }: OwnerReference): void {
  if (uid === '') throw new Error('an owner without uid owns nothing');
}

/** What a capture creates. */
export type Artifact = VolumeSnapshotContent | VolumeSnapshot;

/** `VolumeSnapshot ns/name`, for messages. */
export const artifactText = (kind: string, { namespace, name }: Partial<ObjectKey>): string =>
  `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`;

/** Checks that an existing artifact of this name is controlled by the request's keeper. */
export function artifactProblem({ kind, metadata }: Artifact, owner: OwnerReference): Failure | undefined {
  const found = controllerOf(metadata.ownerReferences);
  if (found?.uid === owner.uid && found.kind === owner.kind) return undefined;
  return failure(
    Reason.OwnershipConflict,
    `${artifactText(kind, metadata)} exists and ${describeController(found)}`,
  );
}

export type Progress =
  | { readonly kind: 'waiting' }
  /** The storage system reported an error. Its controllers retry; an error that lasts ends the request. */
  | { readonly kind: 'retrying'; readonly until: Instant; readonly error: string }
  | { readonly kind: 'ready' }
  | Failure;

/** The artifact whose creation the request has recorded. Its creation is never started again. */
export const recordedArtifact = (request: VolumeCaptureRequest): string | undefined =>
  request.metadata.annotations?.[ANNOTATION_CONTENT_NAME];

export const artifactLost = (text: string): Failure =>
  failure(
    Reason.ArtifactLost,
    `${text} does not exist although its creation was started: it was deleted, or the controller stopped before it was created; create a new request to take a snapshot`,
  );

/** How long errors are retried for this request. */
export function timeoutOf({ spec }: VolumeCaptureRequest, configured: Millis): Millis {
  const nanos = spec?.timeout === undefined ? undefined : readGoDuration(spec.timeout);
  return nanos === undefined || nanos < 0n ? configured : millis(Number(nanos / 1_000_000n));
}

export interface ProgressContext {
  /** `ns/name` of the claim. */
  readonly claim: string;
  readonly timeout: Millis;
  readonly now: Instant;
}

/** The state reported by the storage system. With a timeout of zero, the first error is final. */
export function computeProgress(
  { kind, metadata, status = {} }: Artifact,
  { claim, timeout, now }: ProgressContext,
): Progress {
  const { readyToUse, error } = status;
  const what = `${artifactText(kind, metadata)} of claim ${claim}`;
  const created = parseTime(metadata.creationTimestamp ?? '');
  const until = plus(Number.isFinite(created) ? created : now, timeout);
  const isTerminating = metadata.deletionTimestamp !== undefined;
  if (error?.message && (timeout === 0 || isDue(until, now)) && (timeout === 0 || readyToUse !== true)) {
    const when = error.time === undefined ? '' : ` at ${error.time}`;
    return failure(Reason.SnapshotCreationFailed, `${what} failed${when}: ${error.message}`);
  }
  if (isTerminating)
    return failure(Reason.ArtifactLost, `${what} is being deleted; create a new request to take a snapshot`);
  if (readyToUse === true) return { kind: 'ready' };
  if (!error?.message) return { kind: 'waiting' };
  const note = `${what}: the storage system retries until ${formatTime(until)}: ${error.message}`;
  return { kind: 'retrying', until, error: note };
}
