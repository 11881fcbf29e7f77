// Where chunks are stored.

import type { TrashChunk } from './chunk.ts';

/** What a store knows about a chunk without reading its data. */
export type ChunkInfo = Omit<TrashChunk, 'data'>;

export interface TrashStore {
  /** Stores the chunk. A chunk of this name that exists already is the same one. Throws if it is not stored. */
  put(chunk: TrashChunk): Promise<void>;
}

/** Reads the trash, for commands. */
export interface TrashReader {
  /** All chunks, oldest first. */
  chunks(): AsyncIterable<TrashChunk>;
}
