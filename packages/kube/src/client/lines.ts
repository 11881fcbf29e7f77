// Splits chunks into lines. Chunks may be cut anywhere, even inside a character, so bytes are split before they are
// decoded.

import { PartBuffer, type Splitter } from './partBuffer.ts';

const NEWLINE = 10;

export class LineSplitter implements Splitter {
  readonly #held: PartBuffer;

  /** `limit`: maximum bytes of a line. */
  constructor(limit: number) {
    this.#held = new PartBuffer('line', limit);
  }

  get unfinished(): number {
    return this.#held.length;
  }

  /** Yields lines without their newlines. */
  *push(chunk: Uint8Array): Generator<Buffer> {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = buffer.indexOf(NEWLINE); at !== -1; at = buffer.indexOf(NEWLINE, from)) {
      yield this.#complete(buffer.subarray(from, at));
      from = at + 1;
    }
    if (from < buffer.length) this.#held.add(buffer.subarray(from));
  }

  #complete(end: Buffer): Buffer {
    if (this.#held.length === 0) {
      this.#held.check(end.length);
      return end;
    }
    this.#held.add(end);
    return this.#held.take();
  }
}
