// Reads the objects of a checkpoint, chunk by chunk, in order. One chunk is in memory at a time. A chunk is returned only
// after it was completely validated against the checkpoint.

import { decodeBase64, encodeBase64 } from '@lapse/base/codec';
import { findCondition } from '@lapse/kube/api/conditions';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ChunkInfo, ManifestCheckpoint } from '#api/manifestCheckpoint';
import type { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import { decodeChunk } from './decode.ts';

/** The default limit of objects. */
export const MAX_OBJECTS = 10_000;

export interface ReadOptions {
  readonly maxObjects?: number;
}

/** Fetches a chunk by name; undefined if it does not exist. */
export type FetchChunk = (name: string) => Promise<ManifestCheckpointContentChunk | undefined>;

export interface VerifiedChunk {
  readonly info: ChunkInfo;
  readonly objects: readonly KubeObject[];
  /** The stored JSON array, byte for byte. */
  readonly json: Uint8Array;
}

export type CheckpointProblem =
  /** The capture has not ended or has failed. */
  | 'notReady'
  | 'tooManyObjects'
  /** The list of chunks is inconsistent. */
  | 'badList'
  | 'missingChunk'
  | 'damagedChunk';

export class CheckpointError extends Error {
  readonly problem: CheckpointProblem;
  /** The affected chunk. */
  readonly chunk?: string;
  constructor(problem: CheckpointProblem, message: string, chunk?: string) {
    super(message);
    this.name = 'CheckpointError';
    this.problem = problem;
    if (chunk !== undefined) this.chunk = chunk;
  }
}

/** The state of the Ready condition. */
export function readinessOf({ status }: ManifestCheckpoint): {
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
} {
  const ready = findCondition(status?.conditions, 'Ready');
  if (ready === undefined)
    return { ready: false, reason: 'Unknown', message: 'the capture has not ended yet' };
  const { reason = 'Unknown', message = '' } = ready;
  return { ready: ready.status === 'True', reason, message };
}

/** The chunks of a readable checkpoint, in order. Throws CheckpointError before any chunk is fetched. */
export function listChunks(checkpoint: ManifestCheckpoint, options: ReadOptions = {}): readonly ChunkInfo[] {
  const name = checkpoint.metadata.name ?? '';
  const { ready, reason, message } = readinessOf(checkpoint);
  if (!ready) {
    const why = message === '' ? '' : `: ${message}`;
    throw new CheckpointError('notReady', `checkpoint ${name} is not Ready (${reason})${why}`);
  }
  const { status = {} } = checkpoint;
  const sorted = (status.chunks ?? []).toSorted((a, b) => a.index - b.index);
  const problem = orderProblem(sorted) ?? totalsProblem(sorted, status);
  if (problem !== undefined)
    throw new CheckpointError('badList', `the list of chunks of checkpoint ${name} ${problem}`);
  const objects = sum(sorted, ({ objectsCount }) => objectsCount);
  const { maxObjects = MAX_OBJECTS } = options;
  if (objects > maxObjects)
    throw new CheckpointError(
      'tooManyObjects',
      `checkpoint ${name} has ${objects} objects, which is more than the limit of ${maxObjects}`,
    );
  return sorted;
}

/** Each index from 0 on once, each chunk once. */
function orderProblem(sorted: readonly ChunkInfo[]): string | undefined {
  if (sorted.length === 0) return 'is empty';
  const wrong = sorted.findIndex(({ index }, i) => index !== i);
  if (wrong !== -1) {
    const { index, name } = sorted[wrong]!;
    return index < wrong ? `has index ${index} twice (${name})` : `has no chunk with index ${wrong}`;
  }
  const names = new Set(sorted.map(({ name }) => name));
  return names.size === sorted.length ? undefined : 'names one chunk twice';
}

function totalsProblem(
  chunks: readonly ChunkInfo[],
  { totalObjects, totalSizeBytes }: NonNullable<ManifestCheckpoint['status']>,
): string | undefined {
  const objects = sum(chunks, ({ objectsCount }) => objectsCount);
  if (totalObjects !== undefined && totalObjects !== objects)
    return `counts ${objects} objects, the checkpoint ${totalObjects}`;
  const bytes = sum(chunks, ({ sizeBytes }) => sizeBytes);
  if (totalSizeBytes !== undefined && totalSizeBytes !== bytes)
    return `counts ${bytes} bytes, the checkpoint ${totalSizeBytes}`;
  return undefined;
}

const sum = (chunks: readonly ChunkInfo[], of: (chunk: ChunkInfo) => number): number =>
  chunks.reduce((total, chunk) => total + of(chunk), 0);

/** Reads and validates one chunk. Throws a CheckpointError that names it. */
export async function readChunk(
  checkpoint: string,
  info: ChunkInfo,
  fetch: FetchChunk,
): Promise<VerifiedChunk> {
  const { name, index, checksum, objectsCount } = info;
  const chunk = await fetch(name);
  if (chunk === undefined)
    throw new CheckpointError('missingChunk', `chunk ${name} of checkpoint ${checkpoint} is missing`, name);
  const damaged = (why: string) =>
    new CheckpointError('damagedChunk', `chunk ${name} of checkpoint ${checkpoint} is damaged: ${why}`, name);
  // A checksum in the chunk itself proves nothing.
  if (!checksum) throw damaged('the checkpoint does not say its checksum');
  const decoded = decodeChunk(chunk, { checkpointName: checkpoint, index, checksum, objectsCount });
  if (decoded.kind === 'damaged') throw damaged(decoded.why);
  const { objects, payload } = decoded;
  if (payload.sizeBytes !== info.sizeBytes)
    throw damaged(`it has ${payload.sizeBytes} bytes, its checkpoint says ${info.sizeBytes}`);
  if (!isCanonical(chunk.spec!.data)) throw damaged('its base64 is not as it was written');
  return { info, objects, json: payload.json };
}

/** Several base64 texts decode to the same bytes; only the one that an encoder writes is accepted. */
function isCanonical(data: string): boolean {
  if (/[\r\n]/.test(data)) return false;
  const tail = data.slice(-4);
  return encodeBase64(decodeBase64(tail) ?? new Uint8Array()) === tail;
}

/** Yields the chunks in order. Throws a CheckpointError at the first invalid chunk. */
export async function* readCheckpoint(
  checkpoint: ManifestCheckpoint,
  fetch: FetchChunk,
  options: ReadOptions = {},
): AsyncGenerator<VerifiedChunk, void> {
  const name = checkpoint.metadata.name ?? '';
  for (const info of listChunks(checkpoint, options)) yield readChunk(name, info, fetch);
}
