// Reads what a capture needs: the checkpoint and chunks of an earlier attempt, and the targets. Stored objects are not
// read again: a checkpoint has each object as it was at one time, not all of them at the same time.

import { type ChunkInfo, ManifestCheckpoint } from '#api/manifestCheckpoint';
import { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import { ANNOTATION_CAPTURE_ID } from '#api/stateSnapshotter/conditions';
import { Reason } from '#api/storage/conditions';
import { decodeChunk } from '#checkpoint/decode';
import { checkpointName, chunkName } from '#checkpoint/names';
import { noAuthor, requestAuthor } from '#requests/author';
import { type Failure, failure, isFailure } from '#requests/refusal';
import { type Capture, refusal } from './capture.ts';
import type { Stored } from './chunkWriter.ts';
import { advance, chunkInfo, interrupted, strangerProblem } from './decide.ts';
import { describeMissing, reviewTargets } from './rights.ts';
import { findTargets, type Target } from './targets.ts';

export async function getCheckpoint({
  ctx,
  request,
  options,
}: Capture): Promise<ManifestCheckpoint | Failure | undefined> {
  const name = checkpointName(request.metadata.uid!);
  try {
    return await options.direct.get(ctx, ManifestCheckpoint, { name });
  } catch (error) {
    return refusal(error, `reading ManifestCheckpoint ${name}`);
  }
}

/** The targets, if the requester may read them. */
export async function getTargets({ request, options }: Capture): Promise<readonly Target[] | Failure> {
  const { policy, targets: client, seal } = options;
  try {
    const targets = await findTargets(request, client.discovery, policy);
    if (isFailure(targets) || policy.authorization !== 'Webhook') return targets;
    const author = await requestAuthor(seal, request);
    if (author.kind !== 'author') return noAuthor(author, request);
    const { subject } = author;
    const missing = await reviewTargets(client, subject, targets);
    return missing.length === 0 ? targets : failure(Reason.RBACDenied, describeMissing(subject, missing));
  } catch (error) {
    return refusal(error, 'asking what may be captured');
  }
}

export interface Resumption extends Stored {
  /** The first target that is not stored. */
  readonly from: number;
}

/** Reads and verifies chunk by chunk until one does not exist. */
export async function getStored(
  capture: Capture,
  checkpoint: ManifestCheckpoint,
  targets: readonly Target[],
  captureId: string,
): Promise<Resumption | Failure> {
  const name = checkpoint.metadata.name!;
  const id = checkpoint.metadata.annotations?.[ANNOTATION_CAPTURE_ID];
  if (id !== captureId)
    return interrupted(`ManifestCheckpoint ${name} is of capture ${id}, this one is ${captureId}`);
  const chunks: ChunkInfo[] = [];
  let from = 0;
  for (;;) {
    const chunk = await getChunk(capture, chunkName(name, chunks.length));
    if (chunk === undefined) return { checkpoint, chunks, from };
    if (isFailure(chunk)) return chunk;
    const next = readStored(chunk, checkpoint, { index: chunks.length, targets, from });
    if (isFailure(next)) return next;
    chunks.push(next.info);
    from = next.from;
  }
}

interface Place {
  readonly index: number;
  readonly targets: readonly Target[];
  readonly from: number;
}

function readStored(
  chunk: ManifestCheckpointContentChunk,
  checkpoint: ManifestCheckpoint,
  { index, targets, from }: Place,
): { readonly info: ChunkInfo; readonly from: number } | Failure {
  const name = chunk.metadata.name;
  const stranger = strangerProblem(chunk, checkpoint);
  if (stranger !== undefined) return interrupted(`chunk ${name}: ${stranger}`);
  const decoded = decodeChunk(chunk, { checkpointName: checkpoint.metadata.name!, index });
  if (decoded.kind === 'damaged') return interrupted(`chunk ${name}: ${decoded.why}`);
  if (decoded.objects.length === 0 && index > 0) return interrupted(`chunk ${name} holds nothing`);
  const next = advance(targets, from, decoded.objects);
  if (next === undefined) return interrupted(`chunk ${name} does not hold the objects that come next`);
  const { sizeBytes, checksum } = decoded.payload;
  const info = chunkInfo(checkpoint.metadata.name!, index, {
    objectsCount: decoded.objects.length,
    sizeBytes,
    checksum,
  });
  return { info, from: next };
}

async function getChunk(
  { ctx, options }: Capture,
  name: string,
): Promise<ManifestCheckpointContentChunk | Failure | undefined> {
  try {
    return await options.direct.get(ctx, ManifestCheckpointContentChunk, { name });
  } catch (error) {
    return refusal(error, `reading chunk ${name}`);
  }
}
