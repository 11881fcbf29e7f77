// Verifies a checkpoint. All chunks are checked, even after an invalid one, so that the report is complete.

import type { ChunkInfo, ManifestCheckpoint } from '#api/manifestCheckpoint';
import { chunkName } from './names.ts';
import { CheckpointError, type FetchChunk, listChunks, type ReadOptions, readChunk } from './read.ts';

export interface ChunkReport {
  readonly name: string;
  readonly index: number;
  readonly objects: number;
  /** Size of the gzip bytes. */
  readonly bytes: number;
  /** Unset if the chunk matches the checkpoint. */
  readonly problem?: string;
}

/** One report per listed chunk, and one for an unlisted chunk. Throws like listChunks. */
export async function* verifyCheckpoint(
  checkpoint: ManifestCheckpoint,
  fetch: FetchChunk,
  options: ReadOptions = {},
): AsyncGenerator<ChunkReport, void> {
  const name = checkpoint.metadata.name ?? '';
  const chunks = listChunks(checkpoint, options);
  for (const info of chunks) yield verifyChunk(name, info, fetch);
  // Lapse has no permission to list chunks, but the name after the last chunk is known.
  const next = chunkName(name, chunks.length);
  const isListed = chunks.some((chunk) => chunk.name === next);
  const extra = isListed ? undefined : await fetch(next);
  if (extra !== undefined)
    yield {
      name: next,
      index: chunks.length,
      objects: extra.spec?.objectsCount ?? 0,
      bytes: 0,
      problem: `chunk ${next} exists and is not in the list of checkpoint ${name}`,
    };
}

async function verifyChunk(checkpoint: string, info: ChunkInfo, fetch: FetchChunk): Promise<ChunkReport> {
  const { name, index, objectsCount: objects, sizeBytes: bytes } = info;
  const report = { name, index, objects, bytes };
  try {
    await readChunk(checkpoint, info, fetch);
    return report;
  } catch (error) {
    if (!(error instanceof CheckpointError)) throw error;
    return { ...report, problem: error.message };
  }
}
