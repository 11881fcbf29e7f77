// The decisions about one capture as pure functions: what to build, whether existing objects belong to it, and where
// an attempt continues.

import { sha256 } from '@lapse/base/codec';
import type { Instant } from '@lapse/base/instant';
import { findCondition, setCondition } from '@lapse/kube/api/conditions';
import type { JsonObject } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { apiVersionOf, type KubeObject, type OwnerReference } from '@lapse/kube/api/object';
import type { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import { type ChunkInfo, ManifestCheckpoint } from '#api/manifestCheckpoint';
import { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import {
  ANNOTATION_CAPTURE_ID,
  LABEL_SOURCE_NAMESPACE,
  LABEL_SOURCE_REQUEST,
} from '#api/stateSnapshotter/conditions';
import { READY, Reason } from '#api/storage/conditions';
import { unpackChunk } from '#checkpoint/decode';
import type { EncodedChunk } from '#checkpoint/encode';
import { compareIdentities, type Identity } from '#checkpoint/identity';
import { checkpointName, chunkName } from '#checkpoint/names';
import type { Ending } from '#requests/finish';
import { controllerOf, describeController } from '#requests/keeper';
import { type Failure, failure } from '#requests/refusal';
import type { ManifestPolicy } from './policy.ts';

/** Incremented when a new version of Lapse cannot continue existing chunks. */
const FORMAT = 1;
const ID_DIGITS = 16;

/**
 * Identifies a capture: this request, these objects, these settings. A checkpoint with another id is not continued.
 */
export function computeCaptureId(
  request: ManifestCaptureRequest,
  targets: readonly Identity[],
  { secrets, profile }: ManifestPolicy,
): string {
  const names = targets.map(({ apiVersion, kind, name }) => [apiVersion, kind, name]);
  return sha256(writeJson([FORMAT, request.metadata.uid!, secrets, profile, names])).slice(0, ID_DIGITS);
}

const MAX_LABEL = 63;

/** The artifact, without chunks. The keeper is its only owner. */
export function buildCheckpoint(
  request: ManifestCaptureRequest,
  owner: OwnerReference,
  captureId: string,
): ManifestCheckpoint {
  if (owner.uid === '') throw new Error('an owner without uid owns nothing');
  const { namespace = '', name = '', uid = '' } = request.metadata;
  return {
    apiVersion: apiVersionOf(ManifestCheckpoint),
    kind: ManifestCheckpoint.kind,
    metadata: {
      name: checkpointName(uid),
      labels: {
        [LABEL_SOURCE_NAMESPACE]: namespace,
        ...(name.length > MAX_LABEL ? {} : { [LABEL_SOURCE_REQUEST]: name }),
      },
      annotations: { [ANNOTATION_CAPTURE_ID]: captureId },
      ownerReferences: [owner],
    },
    spec: { sourceNamespace: namespace, manifestCaptureRequestRef: { name, namespace, uid } },
  };
}

/** Checks that an existing checkpoint of this name belongs to the request and its keeper. */
export function checkpointProblem(
  found: ManifestCheckpoint,
  request: ManifestCaptureRequest,
  owner: OwnerReference,
): Failure | undefined {
  const conflict = (what: string): Failure =>
    failure(Reason.OwnershipConflict, `ManifestCheckpoint ${found.metadata.name} exists and ${what}`);
  const ref = found.spec?.manifestCaptureRequestRef;
  if (ref?.uid !== request.metadata.uid) return conflict(`is of the request with uid ${ref?.uid}`);
  const controller = controllerOf(found.metadata.ownerReferences);
  if (controller?.uid !== owner.uid || controller.kind !== owner.kind)
    return conflict(describeController(controller));
  if (found.metadata.deletionTimestamp !== undefined) return conflict('is being deleted');
  return undefined;
}

/** The result of the capture, if the checkpoint's status has one. */
export function computeCheckpointEnd(
  found: ManifestCheckpoint,
): { readonly ready: boolean; readonly reason: Reason; readonly message: string } | undefined {
  const ready = findCondition(found.status?.conditions, READY);
  if (ready?.status !== 'True' && ready?.status !== 'False') return undefined;
  const known = Object.values(Reason).find((reason) => reason === ready.reason) ?? Reason.Failed;
  return { ready: ready.status === 'True', reason: known, message: ready.message ?? '' };
}

/** The final status of a checkpoint. Chunks are listed only if it is complete. */
export function buildCheckpointEnd(chunks: readonly ChunkInfo[], ending: Ending, now: Instant): JsonObject {
  const { ready, reason, message } = ending;
  const condition = { type: READY, status: ready ? 'True' : 'False', reason, message };
  const sum = (of: (chunk: ChunkInfo) => number) => chunks.reduce((total, chunk) => total + of(chunk), 0);
  return {
    ...(ready
      ? {
          chunks: chunks.map((chunk) => ({ ...chunk })),
          totalObjects: sum(({ objectsCount }) => objectsCount),
          totalSizeBytes: sum(({ sizeBytes }) => sizeBytes),
        }
      : {}),
    conditions: setCondition<JsonObject>([], condition, now),
  };
}

export function buildChunk(
  checkpoint: ManifestCheckpoint,
  index: number,
  encoded: EncodedChunk,
): ManifestCheckpointContentChunk {
  const { name = '', uid = '', annotations } = checkpoint.metadata;
  if (uid === '') throw new Error('a checkpoint without uid owns nothing');
  const { data, objectsCount, checksum } = encoded;
  return {
    apiVersion: apiVersionOf(ManifestCheckpointContentChunk),
    kind: ManifestCheckpointContentChunk.kind,
    metadata: {
      name: chunkName(name, index),
      annotations: { [ANNOTATION_CAPTURE_ID]: annotations?.[ANNOTATION_CAPTURE_ID] ?? '' },
      ownerReferences: [
        { apiVersion: checkpoint.apiVersion, kind: checkpoint.kind, name, uid, controller: true },
      ],
    },
    spec: { checkpointName: name, index, data, objectsCount, checksum },
  };
}

export const chunkInfo = (
  checkpoint: string,
  index: number,
  chunk: Omit<EncodedChunk, 'data' | 'payloadChecksum'>,
): ChunkInfo => ({
  name: chunkName(checkpoint, index),
  index,
  objectsCount: chunk.objectsCount,
  sizeBytes: chunk.sizeBytes,
  checksum: chunk.checksum,
});

/** Why a chunk does not belong to this checkpoint and capture, as a clause. */
export function strangerProblem(
  chunk: ManifestCheckpointContentChunk,
  { metadata }: ManifestCheckpoint,
): string | undefined {
  const owner = controllerOf(chunk.metadata.ownerReferences);
  if (owner?.uid !== metadata.uid) return `it ${describeController(owner)}`;
  const id = chunk.metadata.annotations?.[ANNOTATION_CAPTURE_ID];
  return id === metadata.annotations?.[ANNOTATION_CAPTURE_ID] ? undefined : `it is of capture ${id}`;
}

/** Checks that an existing chunk of this name has the objects that would be written, in any compression. */
export function chunkProblem(
  found: ManifestCheckpointContentChunk,
  checkpoint: ManifestCheckpoint,
  index: number,
  wanted: EncodedChunk,
): Failure | undefined {
  const conflict = (why: string): Failure =>
    failure(
      Reason.ChunkConflict,
      `ManifestCheckpointContentChunk ${found.metadata.name} exists and is not ours: ${why}`,
    );
  const stranger = strangerProblem(found, checkpoint);
  if (stranger !== undefined) return conflict(stranger);
  const payload = unpackChunk(found, { checkpointName: checkpoint.metadata.name!, index });
  if (payload.kind === 'damaged') return conflict(payload.why);
  return sha256(payload.json) === wanted.payloadChecksum ? undefined : conflict('it holds something else');
}

/**
 * How many targets the objects of a stored chunk cover, starting at `from`. Undefined if they are not the next
 * ones: the chunk is then not part of the same capture. Objects may be skipped, never added or exchanged.
 */
export function advance(
  targets: readonly Identity[],
  from: number,
  objects: readonly KubeObject[],
): number | undefined {
  let at = from;
  for (const object of objects) {
    const { namespace = '', name = '' } = object.metadata;
    const identity = { apiVersion: object.apiVersion, kind: object.kind, namespace, name };
    while (at < targets.length && compareIdentities(targets[at]!, identity) < 0) at++;
    if (at === targets.length || compareIdentities(targets[at]!, identity) !== 0) return undefined;
    at++;
  }
  return at;
}

export const interrupted = (why: string): Failure =>
  failure(Reason.Interrupted, `an earlier attempt was interrupted and cannot be continued: ${why}`);
