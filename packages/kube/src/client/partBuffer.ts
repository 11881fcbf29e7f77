// Buffers the incomplete line or frame at the end of a stream.

const FIRST_CAPACITY = 4096;

/** The part exceeds the limit. */
export class PartTooLong extends Error {
  constructor(what: 'line' | 'frame', limit: number) {
    super(`a ${what} is longer than ${limit} bytes`);
    this.name = 'PartTooLong';
  }
}

/**
 * One growing buffer instead of a list of chunks: a server that sends single bytes must not cost an object for each.
 */
export class PartBuffer {
  readonly #what: 'line' | 'frame';
  readonly #limit: number;
  #held = Buffer.alloc(0);
  #length = 0;

  readonly #header: number;

  /** `limit`: maximum bytes of a part, without its header. */
  constructor(what: 'line' | 'frame', limit: number, header = 0) {
    this.#what = what;
    this.#limit = limit;
    this.#header = header;
  }

  get length(): number {
    return this.#length;
  }

  /** A view of the buffered bytes. */
  get bytes(): Buffer {
    return this.#held.subarray(0, this.#length);
  }

  /** Throws PartTooLong. `length` includes the header. */
  check(length: number): void {
    if (length > this.#limit + this.#header) throw new PartTooLong(this.#what, this.#limit);
  }

  add(piece: Buffer): void {
    const needed = this.#length + piece.length;
    this.check(needed);
    if (needed > this.#held.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#held.length, FIRST_CAPACITY));
      this.#held.copy(grown, 0, 0, this.#length);
      this.#held = grown;
    }
    piece.copy(this.#held, this.#length);
    this.#length = needed;
  }

  /** Returns the complete part and empties the buffer. */
  take(): Buffer {
    const { bytes } = this;
    this.#held = Buffer.alloc(0);
    this.#length = 0;
    return bytes;
  }
}

/** Splits chunks into parts. */
export interface Splitter {
  /** Yields the parts that `chunk` completes. They are views: use each one before requesting the next. */
  push(chunk: Uint8Array): Generator<Buffer>;
  /** Bytes after the last complete part. */
  readonly unfinished: number;
}
