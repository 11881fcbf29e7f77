// Reads saved objects from a store, chunk by chunk.

import { decodeRecords } from './chunk.ts';
import type { TrashRecord } from './record.ts';
import type { ChunkInfo, TrashReader } from './store.ts';

export interface ChunkReport extends ChunkInfo {
  readonly records: readonly TrashRecord[];
  /** Why the chunk cannot be read, as a clause. */
  readonly problem?: string;
}

/** Oldest first. A damaged chunk is reported and has no records. */
export async function* readTrash(reader: TrashReader): AsyncGenerator<ChunkReport, void> {
  for await (const { data, ...info } of reader.chunks()) {
    const decoded = decodeRecords({ ...info, data });
    yield decoded.kind === 'records'
      ? { ...info, records: decoded.records }
      : { ...info, records: [], problem: decoded.why };
  }
}
