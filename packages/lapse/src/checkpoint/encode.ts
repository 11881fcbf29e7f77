// Objects → chunks. Objects come one by one, in order; a chunk is handed out as soon as it is full. Each chunk is an
// independent gzip of its own JSON array.
//
// How full a chunk is can only be told by compressing it. Compressing after every object would cost n² work, so it is
// done where the estimate says that the chunk is nearly full: the ratio measured last time tells when to look again.
// Where the cuts are depends on nothing but the objects since the last cut.

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
  /** Of the gzip bytes. */
  readonly sizeBytes: number;
  /** SHA-256 of the gzip bytes, in hexadecimal. */
  readonly checksum: string;
  /** SHA-256 of the JSON: the same whatever compressed it. */
  readonly payloadChecksum: string;
}

/** An object that fits into no chunk. */
export interface TooLarge {
  readonly kind: 'tooLarge';
  /** `v1 ConfigMap shop/huge`. */
  readonly object: string;
  readonly why: string;
}

export type Encoded = { readonly kind: 'chunks'; readonly chunks: readonly EncodedChunk[] } | TooLarge;

interface Held {
  readonly object: string;
  readonly text: string;
  readonly bytes: number;
}

interface Packed {
  readonly count: number;
  readonly json: Uint8Array;
  readonly gzip: Uint8Array;
}

// Compressing n bytes yields at most n plus this share plus a header: below, no look is needed.
const WORST = 1.001;
const HEADER = 64;
/** A chunk this full is closed: the rest is not worth another look. */
const FULL = 0.9;
const AIM = 0.95;
const BRACKETS = 2;

export class ChunkEncoder {
  /** Of gzip bytes in a chunk. */
  readonly #most: number;
  #held: Held[] = [];
  /** Bytes of the JSON array of what is held. */
  #json = BRACKETS;
  #lookAt: number;
  /** The longest beginning of what is held that is known to fit. */
  #fits: Packed | undefined;
  #emitted = 0;

  constructor(most: number = MAX_CHUNK_BYTES) {
    this.#most = most;
    this.#lookAt = this.#safe();
  }

  /** Takes the next object; answers with the chunks that became full by it. After `tooLarge` there is no going on. */
  add(object: KubeObject): Encoded {
    const held = hold(object);
    if ('kind' in held) return held;
    const chunks: EncodedChunk[] = [];
    if (this.#held.length > 0 && this.#json + held.bytes + 1 > MAX_CHUNK_JSON) {
      const problem = this.#flush(chunks);
      if (problem !== undefined) return problem;
    }
    this.#held.push(held);
    this.#json += held.bytes + 1;
    while (this.#json > this.#lookAt) {
      const problem = this.#look(chunks);
      if (problem !== undefined) return problem;
    }
    return { kind: 'chunks', chunks };
  }

  /** The rest. Of no objects at all, one chunk that holds none. */
  end(): Encoded {
    const chunks: EncodedChunk[] = [];
    const problem = this.#flush(chunks);
    if (problem !== undefined) return problem;
    if (this.#emitted === 0) chunks.push(this.#emit(pack([])));
    return { kind: 'chunks', chunks };
  }

  #flush(chunks: EncodedChunk[]): TooLarge | undefined {
    while (this.#held.length > 0) {
      const whole = pack(this.#held);
      const problem = this.#isFitting(whole) ? void chunks.push(this.#emit(whole)) : this.#cut(whole, chunks);
      if (problem !== undefined) return problem;
    }
    return undefined;
  }

  /** Compresses what is held: closes a chunk, or says when to look again. */
  #look(chunks: EncodedChunk[]): TooLarge | undefined {
    const whole = pack(this.#held);
    if (!this.#isFitting(whole)) return this.#cut(whole, chunks);
    if (whole.gzip.length >= FULL * this.#most) chunks.push(this.#emit(whole));
    else {
      this.#fits = whole;
      // Beyond what a chunk may hold uncompressed, `add` closes it.
      this.#lookAt = Math.max(this.#json, Math.floor((this.#json * AIM * this.#most) / whole.gzip.length));
    }
    return undefined;
  }

  /** Too much is held: a beginning of it becomes a chunk. Guesses by the ratio first, then halves. */
  #cut(whole: Packed, chunks: EncodedChunk[]): TooLarge | undefined {
    let best = this.#fits;
    let high = whole.count;
    let guess = this.#countWithin((this.#json * AIM * this.#most) / whole.gzip.length);
    for (let low = best?.count ?? 0; high - low > 1; guess = low + ((high - low) >> 1)) {
      const tried = pack(this.#held.slice(0, Math.min(Math.max(guess, low + 1), high - 1)));
      if (this.#isFitting(tried)) {
        best = tried;
        break;
      }
      high = tried.count;
    }
    if (best === undefined) return this.#tooLarge(this.#held[0]!);
    chunks.push(this.#emit(best));
    return undefined;
  }

  #isFitting({ gzip: { length } }: Packed): boolean {
    return length <= this.#most;
  }

  #tooLarge(held: Held): TooLarge {
    const { length } = pack([held]).gzip;
    const why = `compressed it has ${length} bytes, a chunk holds ${this.#most}`;
    return { kind: 'tooLarge', object: held.object, why };
  }

  /** JSON that fits however badly it compresses. */
  #safe(): number {
    return Math.floor((this.#most - HEADER) / WORST);
  }

  /** How many objects from the beginning have no more JSON than this. */
  #countWithin(bytes: number): number {
    let sum = BRACKETS;
    const beyond = this.#held.findIndex((held) => {
      sum += held.bytes + 1;
      return sum > bytes;
    });
    return beyond === -1 ? this.#held.length : beyond;
  }

  #emit(packed: Packed): EncodedChunk {
    this.#held = this.#held.slice(packed.count);
    this.#json = this.#held.reduce((sum, { bytes }) => sum + bytes + 1, BRACKETS);
    this.#lookAt = this.#safe();
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

function hold(object: KubeObject): Held | TooLarge {
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

function pack(held: readonly Held[]): Packed {
  const json = utf8(`[${held.map(({ text }) => text).join(',')}]`);
  return { count: held.length, json, gzip: gzip(json) };
}
