// Splits chunks into length-prefixed frames: four bytes of length, big-endian, then the frame. Chunks may be cut
// anywhere.

import { PartBuffer, type Splitter } from './partBuffer.ts';

const HEADER = 4;

export class FrameSplitter implements Splitter {
  /** Including the length prefix. */
  readonly #held: PartBuffer;

  /** `limit`: maximum bytes of a frame. */
  constructor(limit: number) {
    this.#held = new PartBuffer('frame', limit, HEADER);
  }

  get unfinished(): number {
    return this.#held.length;
  }

  /** Yields frames without their length prefix. */
  *push(chunk: Uint8Array): Generator<Buffer> {
    let rest = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    if (this.#held.length > 0) {
      rest = this.#fill(rest, HEADER);
      if (this.#held.length < HEADER) return;
      const length = this.#lengthOf(this.#held.bytes);
      rest = this.#fill(rest, length);
      if (this.#held.length < length) return;
      yield this.#held.take().subarray(HEADER);
    }
    while (rest.length >= HEADER) {
      const length = this.#lengthOf(rest);
      if (rest.length < length) break;
      yield rest.subarray(HEADER, length);
      rest = rest.subarray(length);
    }
    if (rest.length > 0) this.#held.add(rest);
  }

  /** Length of the frame including its prefix. */
  #lengthOf(header: Buffer): number {
    const length = HEADER + header.readUInt32BE(0);
    this.#held.check(length);
    return length;
  }

  /** Buffers bytes of `from` until there are `length`. Returns the remaining bytes. */
  #fill(from: Buffer, length: number): Buffer {
    const missing = Math.max(0, length - this.#held.length);
    if (missing > 0) this.#held.add(from.subarray(0, missing));
    return from.subarray(missing);
  }
}
