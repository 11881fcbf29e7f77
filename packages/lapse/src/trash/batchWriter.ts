// Writes records in batches. Records that arrive while a chunk is being stored are stored together afterwards, so the
// size of a batch follows the load, and a single deletion does not wait.

import type { Instant } from '@lapse/base/instant';
import { encodeRecords, type TrashChunk } from './chunk.ts';
import type { TrashRecord } from './record.ts';
import type { TrashStore } from './store.ts';

export type Written =
  | { readonly kind: 'stored' }
  /** This record does not fit into a chunk. */
  | { readonly kind: 'tooLarge'; readonly why: string };

interface Waiting {
  readonly record: TrashRecord;
  readonly resolve: (written: Written) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatchWriterOptions {
  readonly store: TrashStore;
  readonly now: () => Instant;
  readonly onStored?: (chunk: TrashChunk) => void;
}

export class BatchWriter {
  readonly #options: BatchWriterOptions;
  #waiting: Waiting[] = [];
  #isWriting = false;

  constructor(options: BatchWriterOptions) {
    this.#options = options;
  }

  /** Resolves after the record is stored. Rejects with the error of the store. */
  write(record: TrashRecord): Promise<Written> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ record, resolve, reject });
      if (!this.#isWriting) void this.#writeAll();
    });
  }

  async #writeAll(): Promise<void> {
    this.#isWriting = true;
    // Records of the same turn share a chunk.
    await undefined;
    while (this.#waiting.length > 0) {
      const batch = this.#waiting;
      this.#waiting = [];
      await this.#writeBatch(batch);
    }
    this.#isWriting = false;
  }

  /** The chunks of one batch are stored one after the other. Never throws. */
  async #writeBatch(batch: readonly Waiting[]): Promise<void> {
    const { store, now, onStored } = this.#options;
    let waiting: readonly Waiting[] = batch;
    try {
      const { chunks, tooLarge } = encodeRecords(
        batch.map(({ record }) => record),
        now(),
      );
      for (const { record, resolve } of batch) {
        const why = tooLarge.get(record.metadata.name);
        if (why !== undefined) resolve({ kind: 'tooLarge', why });
      }
      waiting = batch.filter(({ record }) => !tooLarge.has(record.metadata.name));
      for (const chunk of chunks) {
        await store.put(chunk);
        onStored?.(chunk);
        // Chunks contain the records in their order.
        for (const { resolve } of waiting.slice(0, chunk.objects)) resolve({ kind: 'stored' });
        waiting = waiting.slice(chunk.objects);
      }
    } catch (error) {
      for (const { reject } of waiting) reject(error);
    }
  }
}
