// The decisions about a restore, as pure functions: the source, the target, and the state of the claim that the
// provisioner creates.

import { type Instant, isDue, minutes, parseTime, plus } from '@lapse/base/instant';
import type { ObjectKey } from '@lapse/kube/api/kind';
import {
  PersistentVolume,
  type PersistentVolumeClaim,
  VolumeSnapshotContent,
} from '@lapse/kube/api/kinds/volumes';
import { checkDns1123Label, checkDns1123Subdomain } from '@lapse/kube/api/names';
import { ANNOTATION_RESTORE_REQUEST, PROVISIONER_REFUSALS, Reason } from '#api/storage/conditions';
import type { VolumeRestoreRequest } from '#api/volumeRestoreRequest';
import { type Failure, failure } from '#requests/refusal';

export interface SourceRef {
  readonly kind: 'VolumeSnapshotContent' | 'PersistentVolume';
  readonly name: string;
}

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

export function computeSource({ spec }: VolumeRestoreRequest): SourceRef | Failure {
  const { kind = '', name = '' } = spec?.sourceRef ?? {};
  if (kind !== VolumeSnapshotContent.kind && kind !== PersistentVolume.kind)
    return failure(
      Reason.InvalidSource,
      `spec.sourceRef.kind ${kind} is neither VolumeSnapshotContent nor PersistentVolume`,
    );
  if (name === '') return failure(Reason.InvalidReference, 'spec.sourceRef names nothing');
  return nameProblem('spec.sourceRef.name', name) ?? { kind: kind as SourceRef['kind'], name };
}

export function computeTarget(request: VolumeRestoreRequest, allowElsewhere: boolean): ObjectKey | Failure {
  const own = request.metadata.namespace ?? '';
  const { targetNamespace, targetPVCName: name = '' } = request.spec ?? {};
  const namespace = targetNamespace || own;
  if (name === '') return failure(Reason.InvalidReference, 'spec.targetPVCName names no claim');
  if (namespace !== own && !allowElsewhere)
    return failure(
      Reason.InvalidReference,
      `the target is in namespace ${namespace} and the request in ${own}: restores across namespaces are not allowed`,
    );
  if (checkDns1123Label(namespace).length > 0)
    return failure(
      Reason.InvalidReference,
      `spec.targetNamespace ${JSON.stringify(namespace)} cannot be a namespace`,
    );
  return nameProblem('spec.targetPVCName', name) ?? { namespace, name };
}

/** Fields of older manifests that have no effect. The final status lists them. */
export function ignoredFields({ spec }: VolumeRestoreRequest): string[] {
  const fields = {
    'spec.serviceNamespace': spec?.serviceNamespace,
    'spec.sourceRef.namespace': spec?.sourceRef?.namespace,
  };
  return Object.entries(fields).flatMap(([field, value]) => (value ? [field] : []));
}

export type SourceState = { readonly kind: 'ready' } | { readonly kind: 'waiting' } | Failure;

export function computeContentState(content: VolumeSnapshotContent | undefined, name: string): SourceState {
  if (content === undefined) return failure(Reason.NotFound, `VolumeSnapshotContent ${name} does not exist`);
  if (content.metadata.deletionTimestamp !== undefined) return terminating(`VolumeSnapshotContent ${name}`);
  if (content.status?.readyToUse === true) return { kind: 'ready' };
  const message = content.status?.error?.message;
  return message
    ? failure(Reason.SourceFailed, `VolumeSnapshotContent ${name} failed: ${message}`)
    : { kind: 'waiting' };
}

export function computeVolumeState(volume: PersistentVolume | undefined, name: string): SourceState {
  if (volume === undefined) return failure(Reason.NotFound, `PersistentVolume ${name} does not exist`);
  return volume.metadata.deletionTimestamp === undefined
    ? { kind: 'ready' }
    : terminating(`PersistentVolume ${name}`);
}

const terminating = (what: string): Failure => failure(Reason.SourceFailed, `${what} is being deleted`);

/** Whether the claim has the annotation of this request. Lapse deletes no other claim. */
export const carriesMark = (claim: PersistentVolumeClaim, request: VolumeRestoreRequest): boolean =>
  claim.metadata.annotations?.[ANNOTATION_RESTORE_REQUEST] === request.metadata.uid;

/** For executor Lapse: an existing claim of the target's name must have been created for this request. */
export function computeExistingClaim(
  claim: PersistentVolumeClaim,
  request: VolumeRestoreRequest,
): Failure | undefined {
  const state = computeTargetState(claim, request);
  if (state.kind === 'failure') return state;
  return isMarked(claim, request) ? undefined : notMadeFor(claim);
}

/**
 * Whether the claim was created for this request: it has the annotation, names the same source, or has the volume
 * that the provisioner of storage-foundation names after the request.
 */
function isMarked(claim: PersistentVolumeClaim, request: VolumeRestoreRequest): boolean {
  const mark = claim.metadata.annotations?.[ANNOTATION_RESTORE_REQUEST];
  if (mark !== undefined) return carriesMark(claim, request);
  const from = claim.spec?.dataSourceRef;
  const source = request.spec?.sourceRef;
  if (from !== undefined && from.kind === source?.kind && from.name === source.name) return true;
  return claim.spec?.volumeName?.endsWith(`-${request.metadata.uid}`) === true;
}

const notMadeFor = ({ metadata }: PersistentVolumeClaim): Failure =>
  failure(
    Reason.TargetConflict,
    `PersistentVolumeClaim ${metadata.namespace}/${metadata.name} was not made for this request: it has neither the annotation ${ANNOTATION_RESTORE_REQUEST} nor spec.sourceRef as its data source`,
  );

const isOlder = (claim: PersistentVolumeClaim, request: VolumeRestoreRequest): boolean =>
  parseTime(claim.metadata.creationTimestamp ?? '') < parseTime(request.metadata.creationTimestamp ?? '');

export type TargetState = { readonly kind: 'bound' } | { readonly kind: 'waiting' } | Failure;

export function computeTargetState(
  claim: PersistentVolumeClaim | undefined,
  request: VolumeRestoreRequest,
): TargetState {
  if (claim === undefined) return { kind: 'waiting' };
  const name = `${claim.metadata.namespace}/${claim.metadata.name}`;
  const mark = claim.metadata.annotations?.[ANNOTATION_RESTORE_REQUEST];
  if (mark !== undefined && mark !== request.metadata.uid)
    return failure(
      Reason.TargetConflict,
      `PersistentVolumeClaim ${name} was made for another request (${mark})`,
    );
  const { phase } = claim.status ?? {};
  if (!isMarked(claim, request)) {
    if (isOlder(claim, request))
      return failure(Reason.TargetConflict, `PersistentVolumeClaim ${name} existed before this request`);
    return phase === 'Bound' ? notMadeFor(claim) : { kind: 'waiting' };
  }
  if (claim.metadata.deletionTimestamp !== undefined)
    return failure(Reason.RestoreFailed, `PersistentVolumeClaim ${name} is being deleted`);
  if (phase === 'Lost') return failure(Reason.RestoreFailed, `PersistentVolumeClaim ${name} lost its volume`);
  return phase === 'Bound' ? { kind: 'bound' } : { kind: 'waiting' };
}

/** The fields of an Event that are read. */
export interface Report {
  readonly type?: string;
  readonly reason?: string;
  readonly note?: string;
  readonly regarding?: { readonly uid?: string };
  readonly reportingController?: string;
  readonly deprecatedSource?: { readonly component?: string };
}

/** A failure reported by a provisioner in the operator's list. Every user may write Events, so others are ignored. */
export function computeReported(
  reports: readonly Report[],
  request: VolumeRestoreRequest,
  reporters: readonly string[],
): Failure | undefined {
  for (const report of reports) {
    const { type, reason = '', note = '', regarding } = report;
    const by = report.reportingController || report.deprecatedSource?.component || '';
    const heard = regarding?.uid === request.metadata.uid && reporters.includes(by);
    if (type === 'Warning' && heard && PROVISIONER_REFUSALS.includes(reason))
      return failure(Reason.RestoreFailed, `${by} refused (${reason}): ${note}`);
  }
  return undefined;
}

const UNSERVED = minutes(10);

/** From when a request is reported as not served by any provisioner. */
export const computeUnservedAt = ({ metadata }: VolumeRestoreRequest): Instant =>
  plus(parseTime(metadata.creationTimestamp ?? ''), UNSERVED);

export const isUnserved = (request: VolumeRestoreRequest, now: Instant): boolean =>
  isDue(computeUnservedAt(request), now);
