// Encodes objects into chunks. Objects are added one by one, in order; a chunk is returned as soon as it is full. Each
// chunk is an independent gzip of its own JSON array.
//
// Only compression shows how full a chunk is. Compressing after every object would cost n² work. Instead, the last
// measured compression ratio estimates when the chunk is nearly full, and only then is it compressed. The chunk
// boundaries depend only on the objects since the last boundary.

import { encodeBase64, gzip, sha256, utf8 } from '@lapse/base/codec';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import type { KubeObject } from '@lapse/kube/api/object';
import { isTooDeep } from './depth.ts';
import { describeIdentity } from './identity.ts';
import { MAX_CHUNK_BYTES, MAX_CHUNK_JSON, MAX_OBJECT_JSON } from './limits.ts';

export interface EncodedChunk {
  /** base64(gzip(JSON array)). */
  readonly data: string;
  readonly objectsCount: number;
  /** Size of the gzip bytes. */
  readonly sizeBytes: number;
  /** SHA-256 of the gzip bytes, in hexadecimal. */
  readonly checksum: string;
  /** SHA-256 of the JSON: independent of the compression. */
  readonly payloadChecksum: string;
}

/** An object that does not fit into a chunk. */
export interface TooLarge {
  readonly kind: 'tooLarge';
  /** `v1 ConfigMap shop/huge`. */
  readonly object: string;
  readonly why: string;
}

export type Encoded = { readonly kind: 'chunks'; readonly chunks: readonly EncodedChunk[] } | TooLarge;

interface PendingObject {
  readonly object: string;
  readonly text: string;
  readonly bytes: number;
}

interface Packed {
  readonly count: number;
  readonly json: Uint8Array;
  readonly gzip: Uint8Array;
}

// Compressing n bytes yields at most n * WORST + HEADER bytes. Below that, no measurement is needed.
const WORST = 1.001;
const HEADER = 64;
/** A chunk that is at least this full is closed. */
const FULL = 0.9;
const AIM = 0.95;
const BRACKETS = 2;

export class ChunkEncoder {
  /** Maximum number of gzip bytes in a chunk. */
  readonly #most: number;
  #pending: PendingObject[] = [];
  /** Size of the JSON array of the pending objects. */
  #json = BRACKETS;
  #measureAt: number;
  /** The longest prefix of the pending objects that is known to fit. */
  #fits: Packed | undefined;
  #emitted = 0;

  constructor(most: number = MAX_CHUNK_BYTES) {
    this.#most = most;
    this.#measureAt = this.#safe();
  }

  /** Adds the next object and returns the chunks that it completes. After `tooLarge` the encoder must not be used. */
  add(object: KubeObject): Encoded {
    const pending = serialize(object);
    if ('kind' in pending) return pending;
    const chunks: EncodedChunk[] = [];
    if (this.#pending.length > 0 && this.#json + pending.bytes + 1 > MAX_CHUNK_JSON) {
      const problem = this.#flush(chunks);
      if (problem !== undefined) return problem;
    }
    this.#pending.push(pending);
    this.#json += pending.bytes + 1;
    while (this.#json > this.#measureAt) {
      const problem = this.#measure(chunks);
      if (problem !== undefined) return problem;
    }
    return { kind: 'chunks', chunks };
  }

  /** Returns the remaining chunks. Without any object, one empty chunk. */
  end(): Encoded {
    const chunks: EncodedChunk[] = [];
    const problem = this.#flush(chunks);
    if (problem !== undefined) return problem;
    if (this.#emitted === 0) chunks.push(this.#emit(pack([])));
    return { kind: 'chunks', chunks };
  }

  #flush(chunks: EncodedChunk[]): TooLarge | undefined {
    while (this.#pending.length > 0) {
      const whole = pack(this.#pending);
      const problem = this.#isFitting(whole) ? void chunks.push(this.#emit(whole)) : this.#cut(whole, chunks);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** Compresses the pending objects. Closes a chunk, or sets the size at which to measure again. */
  #measure(chunks: EncodedChunk[]): TooLarge | undefined {
    const whole = pack(this.#pending);
    if (!this.#isFitting(whole)) return this.#cut(whole, chunks);
    if (whole.gzip.length >= FULL * this.#most) chunks.push(this.#emit(whole));
    else {
      this.#fits = whole;
      // The limit of uncompressed JSON is checked in `add`.
      this.#measureAt = Math.max(this.#json, Math.floor((this.#json * AIM * this.#most) / whole.gzip.length));
    }
    return undefined;
  }

  /** The pending objects do not fit: makes a chunk of a prefix. The first guess uses the ratio, then it halves. */
  #cut(whole: Packed, chunks: EncodedChunk[]): TooLarge | undefined {
    let best = this.#fits;
    let high = whole.count;
    let guess = this.#countWithin((this.#json * AIM * this.#most) / whole.gzip.length);
    for (let low = best?.count ?? 0; high - low > 1; guess = low + ((high - low) >> 1)) {
      const tried = pack(this.#pending.slice(0, Math.min(Math.max(guess, low + 1), high - 1)));
      if (this.#isFitting(tried)) {
        best = tried;
        break;
      }
      high = tried.count;
    }
    if (best === undefined) return this.#tooLarge(this.#pending[0]!);
    chunks.push(this.#emit(best));
    return undefined;
  }

  #isFitting({ gzip: { length } }: Packed): boolean {
    return length <= this.#most;
  }

  #tooLarge(pending: PendingObject): TooLarge {
    const { length } = pack([pending]).gzip;
    const why = `compressed it has ${length} bytes, a chunk holds ${this.#most}`;
    return { kind: 'tooLarge', object: pending.object, why };
  }

  /** The size of JSON that always fits, even if it does not compress. */
  #safe(): number {
    return Math.floor((this.#most - HEADER) / WORST);
  }

  /** The length of the longest prefix whose JSON has at most this size. */
  #countWithin(bytes: number): number {
    let sum = BRACKETS;
    const beyond = this.#pending.findIndex((pending) => {
      sum += pending.bytes + 1;
      return sum > bytes;
    });
    return beyond === -1 ? this.#pending.length : beyond;
  }

  #emit(packed: Packed): EncodedChunk {
    this.#pending = this.#pending.slice(packed.count);
    this.#json = this.#pending.reduce((sum, { bytes }) => sum + bytes + 1, BRACKETS);
    this.#measureAt = this.#safe();
    this.#fits = undefined;
    this.#emitted++;
    return {
      data: encodeBase64(packed.gzip),
      objectsCount: packed.count,
      sizeBytes: packed.gzip.length,
      checksum: sha256(packed.gzip),
      payloadChecksum: sha256(packed.json),
    };
  }
}

function serialize(object: KubeObject): PendingObject | TooLarge {
  const { apiVersion, kind, metadata } = object;
  const { namespace = '', name = '' } = metadata;
  const what = describeIdentity({ apiVersion, kind, namespace, name });
  if (isTooDeep(object)) return { kind: 'tooLarge', object: what, why: 'it is nested too deeply' };
  const text = writeJson(object);
  const bytes = Buffer.byteLength(text);
  if (bytes + BRACKETS <= MAX_OBJECT_JSON) return { object: what, text, bytes };
  const why = `its JSON has ${bytes} bytes, a chunk holds ${MAX_OBJECT_JSON - BRACKETS}`;
  return { kind: 'tooLarge', object: what, why };
}

function pack(objects: readonly PendingObject[]): Packed {
  const json = utf8(`[${objects.map(({ text }) => text).join(',')}]`);
  return { count: objects.length, json, gzip: gzip(json) };
}
