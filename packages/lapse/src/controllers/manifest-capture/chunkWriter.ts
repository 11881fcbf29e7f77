// Writes chunks to the cluster. The first few are held back: most captures fit into them, and one that fails at its
// last target has then written nothing. After that, keeper, checkpoint and chunks are written in this order, chunks
// one by one, so that a crash always leaves a valid beginning.

import { keyOf } from '@lapse/kube/api/kind';
import type { ChunkInfo } from '#api/manifestCheckpoint';
import { ManifestCheckpoint } from '#api/manifestCheckpoint';
import { ManifestCheckpointContentChunk } from '#api/manifestCheckpointContentChunk';
import { Reason } from '#api/storage/conditions';
import type { EncodedChunk } from '#checkpoint/encode';
import { type Failure, failure } from '#requests/refusal';
import { anchor, type Capture, refusal, type Stop } from './capture.ts';
import { buildCheckpoint, buildChunk, checkpointProblem, chunkInfo, chunkProblem } from './decide.ts';

/** Number of chunks, up to 1 MiB each. */
const HELD = 8;
/** The list of chunks must fit into the status of one object. */
const MOST_CHUNKS = 4096;

/** A checkpoint that is stored in part or completely. */
export interface Stored {
  readonly checkpoint: ManifestCheckpoint;
  readonly chunks: readonly ChunkInfo[];
}

export class ChunkWriter {
  readonly #capture: Capture;
  readonly #captureId: string;
  readonly #held: EncodedChunk[] = [];
  readonly #chunks: ChunkInfo[] = [];
  #checkpoint: ManifestCheckpoint | undefined;

  /** `before`: what an earlier attempt stored. */
  constructor(capture: Capture, captureId: string, before?: Stored) {
    this.#capture = capture;
    this.#captureId = captureId;
    this.#checkpoint = before?.checkpoint;
    this.#chunks.push(...(before?.chunks ?? []));
  }

  /** Undefined until the first write. */
  get checkpoint(): ManifestCheckpoint | undefined {
    return this.#checkpoint;
  }

  async take(chunks: readonly EncodedChunk[]): Promise<Failure | Stop | undefined> {
    this.#held.push(...chunks);
    return this.#held.length > HELD ? this.#write() : undefined;
  }

  /** Writes the remaining chunks. */
  async end(): Promise<Stored | Failure | Stop> {
    const problem = await this.#write();
    return problem ?? { checkpoint: this.#checkpoint!, chunks: this.#chunks };
  }

  async #write(): Promise<Failure | Stop | undefined> {
    const problem = await this.#ensureCheckpoint();
    if (problem !== undefined) return problem;
    for (let chunk = this.#held.shift(); chunk !== undefined; chunk = this.#held.shift()) {
      const index = this.#chunks.length;
      // A single empty chunk represents a checkpoint without objects. After other chunks it is not written.
      if (chunk.objectsCount === 0 && index > 0) continue;
      if (index === MOST_CHUNKS)
        return failure(Reason.Failed, `more than ${MOST_CHUNKS} chunks would be needed`);
      const refused = await this.#createChunk(index, chunk);
      if (refused !== undefined) return refused;
      this.#chunks.push(chunkInfo(this.#checkpoint!.metadata.name!, index, chunk));
    }
    return undefined;
  }

  async #ensureCheckpoint(): Promise<Failure | Stop | undefined> {
    if (this.#checkpoint !== undefined) return undefined;
    const { ctx, request, options } = this.#capture;
    const anchored = await anchor(this.#capture);
    if (anchored.kind !== 'anchored') return anchored;
    const wanted = buildCheckpoint(request, anchored.owner, this.#captureId);
    const name = wanted.metadata.name!;
    try {
      const answer = await ctx.client.create(ManifestCheckpoint, wanted);
      if (answer.kind === 'created') this.#checkpoint = answer.object;
      else if (answer.kind === 'invalid')
        return failure(Reason.Failed, `ManifestCheckpoint ${name} was refused: ${answer.error.message}`);
      else {
        const live = await options.direct.get(ctx, ManifestCheckpoint, keyOf(wanted));
        if (live === undefined) throw answer.error;
        const problem = checkpointProblem(live, request, anchored.owner);
        // The checkpoint belongs to this request and did not exist a moment ago: another process writes it. The next
        // reconcile continues from what is stored.
        if (problem === undefined) throw answer.error;
        return problem;
      }
      return undefined;
    } catch (error) {
      return refusal(error, `creating ManifestCheckpoint ${name}`);
    }
  }

  /** One create. The stored chunk is compared with what was sent. An existing identical chunk is a success. */
  async #createChunk(index: number, chunk: EncodedChunk): Promise<Failure | undefined> {
    const { ctx, options } = this.#capture;
    const checkpoint = this.#checkpoint!;
    const wanted = buildChunk(checkpoint, index, chunk);
    const name = wanted.metadata.name!;
    try {
      const answer = await ctx.client.create(ManifestCheckpointContentChunk, wanted);
      if (answer.kind === 'created') {
        const isSame =
          answer.object.spec?.data === chunk.data && answer.object.spec.checksum === chunk.checksum;
        return isSame ? undefined : failure(Reason.Failed, `chunk ${name} was changed while it was stored`);
      }
      if (answer.kind === 'invalid')
        return failure(Reason.Failed, `chunk ${name} was refused: ${answer.error.message}`);
      const live = await options.direct.get(ctx, ManifestCheckpointContentChunk, keyOf(wanted));
      if (live === undefined) throw answer.error;
      const problem = chunkProblem(live, checkpoint, index, chunk);
      if (problem !== undefined) options.metrics.conflicts.inc();
      return problem;
    } catch (error) {
      return refusal(error, `creating chunk ${name}`);
    }
  }
}
