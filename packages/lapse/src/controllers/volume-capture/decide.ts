// The decisions about capturing a volume as a snapshot, as pure functions. Each step receives the result of the
// previous one and returns the next object or the failure that ends the request.

import { readGoDuration } from '@lapse/base/goDuration';
import { formatTime, type Instant, isDue, type Millis, millis, parseTime, plus } from '@lapse/base/instant';
import type { ObjectKey } from '@lapse/kube/api/kind';
import {
  BEING_DELETED,
  CONTENT_PROTECTION,
  DELETION_SECRET_NAME,
  DELETION_SECRET_NAMESPACE,
} from '@lapse/kube/api/kinds/snapshotNames';
import {
  type PersistentVolume,
  PersistentVolumeClaim,
  type StorageClass,
  VolumeSnapshot,
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

/**
 * `bound`: with a reference to a VolumeSnapshot of the request's name and uid, which does not exist. The stock CRD and
 * csi-snapshotter require it. `unbound`: without one, as the patched snapshot stack of Deckhouse expects.
 */
export type ContentForm = 'bound' | 'unbound';

export interface SnapshotSource {
  readonly volume: CsiVolume;
  readonly class: VolumeSnapshotClass;
}

/** The artifact. The keeper is its only owner. */
export function buildContent(
  request: VolumeCaptureRequest,
  owner: OwnerReference,
  { volume, class: snapshotClass }: SnapshotSource,
  form: ContentForm,
): VolumeSnapshotContent {
  if (owner.uid === '') throw new Error('an owner without uid owns nothing');
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

const SECRET_NAME = 'csi.storage.k8s.io/snapshotter-secret-name';
const SECRET_NAMESPACE = 'csi.storage.k8s.io/snapshotter-secret-namespace';

/** The annotations by which csi-snapshotter finds the secret of the class when it deletes the snapshot. */
function deletionSecret(
  { metadata }: VolumeCaptureRequest,
  { parameters = {} }: VolumeSnapshotClass,
): Record<string, string> {
  const { [SECRET_NAME]: name, [SECRET_NAMESPACE]: namespace } = parameters;
  if (!name || !namespace) return {};
  const values: Record<string, string> = {
    '${volumesnapshotcontent.name}': snapshotName(metadata.uid!),
    '${volumesnapshot.namespace}': metadata.namespace!,
    '${volumesnapshot.name}': metadata.name!,
  };
  const resolved = (template: string) =>
    Object.entries(values).reduce((text, [variable, value]) => text.replaceAll(variable, value), template);
  return { [DELETION_SECRET_NAME]: resolved(name), [DELETION_SECRET_NAMESPACE]: resolved(namespace) };
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

export type Progress =
  | { readonly kind: 'waiting' }
  /** The storage system reported an error. Its controllers retry; an error that lasts ends the request. */
  | { readonly kind: 'retrying'; readonly until: Instant; readonly error: string }
  | { readonly kind: 'ready' }
  | Failure;

/** The content whose creation the request has recorded. Its creation is never started again. */
export const recordedContent = (request: VolumeCaptureRequest): string | undefined =>
  request.metadata.annotations?.[ANNOTATION_CONTENT_NAME];

export const contentLost = (name: string): Failure =>
  failure(
    Reason.ArtifactLost,
    `VolumeSnapshotContent ${name} does not exist although its creation was started: it was deleted, or the controller stopped before it was created; create a new request to take a snapshot`,
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
  { metadata, status = {} }: VolumeSnapshotContent,
  { claim, timeout, now }: ProgressContext,
): Progress {
  const { readyToUse, error } = status;
  const what = `VolumeSnapshotContent ${metadata.name} of claim ${claim}`;
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
