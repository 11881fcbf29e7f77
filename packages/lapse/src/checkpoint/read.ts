// A checkpoint → its objects, chunk by chunk in their order. One chunk is in memory at a time, and nothing of it is handed
// on before all of it has been checked against what the checkpoint says.

import { decodeBase64, encodeBase64 } from '@lapse/base/codec';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ChunkInfo, ManifestCheckpoint } from '#api/manifestCheckpoint';
import type { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import { decodeChunk } from './decode.ts';

/** More objects than this are refused unless told. */
export const MAX_OBJECTS = 10_000;

export interface ReadOptions {
  readonly maxObjects?: number;
}

/** A chunk by its name; undefined when there is none. */
export type FetchChunk = (name: string) => Promise<ManifestCheckpointContentChunk | undefined>;

export interface VerifiedChunk {
  readonly info: ChunkInfo;
  readonly objects: readonly KubeObject[];
  /** The JSON array as it was stored, byte for byte. */
  readonly json: Uint8Array;
}

export type CheckpointProblem =
  /** The capture has not ended, or has failed. */
  | 'notReady'
  | 'tooManyObjects'
  /** The list of chunks contradicts itself. */
  | 'badList'
  | 'missingChunk'
  | 'damagedChunk';

export class CheckpointError extends Error {
  readonly problem: CheckpointProblem;
  /** The chunk it is about. */
  readonly chunk?: string;
  constructor(problem: CheckpointProblem, message: string, chunk?: string) {
    super(message);
    this.name = 'CheckpointError';
    this.problem = problem;
    if (chunk !== undefined) this.chunk = chunk;
  }
}

/** What the Ready condition says. */
export function readinessOf({ status }: ManifestCheckpoint): {
  readonly ready: boolean;
  readonly reason: string;
  readonly message: string;
} {
  const ready = status?.conditions?.find(({ type }) => type === 'Ready');
  if (ready === undefined)
    return { ready: false, reason: 'Unknown', message: 'the capture has not ended yet' };
  const { reason = 'Unknown', message = '' } = ready;
  return { ready: ready.status === 'True', reason, message };
}

/** The chunks of a checkpoint that can be read, in order. Throws CheckpointError before anything is fetched. */
export function listChunks(checkpoint: ManifestCheckpoint, options: ReadOptions = {}): readonly ChunkInfo[] {
  const name = checkpoint.metadata.name ?? '';
  const { ready, reason, message } = readinessOf(checkpoint);
  if (!ready) {
    const why = message === '' ? '' : `: ${message}`;
    throw new CheckpointError('notReady', `checkpoint ${name} is not Ready (${reason})${why}`);
  }
  const { chunks = [], totalObjects, totalSizeBytes } = checkpoint.status ?? {};
  const sorted = [...chunks].sort((a, b) => a.index - b.index);
  const bad = (why: string) =>
    new CheckpointError('badList', `the list of chunks of checkpoint ${name} ${why}`);
  if (sorted.length === 0) throw bad('is empty');
  for (const [i, { index, name: chunk }] of sorted.entries())
    if (index !== i)
      throw bad(index < i ? `has index ${index} twice (${chunk})` : `has no chunk with index ${i}`);
  const names = new Set(sorted.map((chunk) => chunk.name));
  if (names.size !== sorted.length) throw bad('names one chunk twice');
  const objects = sum(sorted, ({ objectsCount }) => objectsCount);
  if (totalObjects !== undefined && totalObjects !== objects)
    throw bad(`counts ${objects} objects, the checkpoint ${totalObjects}`);
  const bytes = sum(sorted, ({ sizeBytes }) => sizeBytes);
  if (totalSizeBytes !== undefined && totalSizeBytes !== bytes)
    throw bad(`counts ${bytes} bytes, the checkpoint ${totalSizeBytes}`);
  const { maxObjects = MAX_OBJECTS } = options;
  if (objects > maxObjects)
    throw new CheckpointError(
      'tooManyObjects',
      `checkpoint ${name} has ${objects} objects, which is more than the limit of ${maxObjects}`,
    );
  return sorted;
}

const sum = (chunks: readonly ChunkInfo[], of: (chunk: ChunkInfo) => number): number =>
  chunks.reduce((total, chunk) => total + of(chunk), 0);

/** One chunk, checked. Throws CheckpointError that names it. */
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
  // A chunk that vouches for itself proves nothing.
  if (!checksum) throw damaged('the checkpoint does not say its checksum');
  const decoded = decodeChunk(chunk, { checkpointName: checkpoint, index, checksum, objectsCount });
  if (decoded.kind === 'damaged') throw damaged(decoded.why);
  const { objects, payload } = decoded;
  if (payload.sizeBytes !== info.sizeBytes)
    throw damaged(`it has ${payload.sizeBytes} bytes, its checkpoint says ${info.sizeBytes}`);
  if (!isCanonical(chunk.spec!.data)) throw damaged('its base64 is not as it was written');
  return { info, objects, json: payload.json };
}

/** Several texts decode to the same bytes; only one of them is what an encoder writes. */
function isCanonical(data: string): boolean {
  if (/[\r\n]/.test(data)) return false;
  const tail = data.slice(-4);
  return encodeBase64(decodeBase64(tail) ?? new Uint8Array()) === tail;
}

/** Chunk after chunk; ends with a CheckpointError at the first that cannot be trusted. */
export async function* readCheckpoint(
  checkpoint: ManifestCheckpoint,
  fetch: FetchChunk,
  options: ReadOptions = {},
): AsyncGenerator<VerifiedChunk, void> {
  const name = checkpoint.metadata.name ?? '';
  for (const info of listChunks(checkpoint, options)) yield readChunk(name, info, fetch);
}
