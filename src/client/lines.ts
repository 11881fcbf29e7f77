// Chunks → lines. Chunk borders fall anywhere, also inside a character, so bytes are cut first and decoded after.

const NEWLINE = 10;
const FIRST_CAPACITY = 4096;

/** The unfinished line grew beyond the limit. */
export class LineTooLong extends Error {
  constructor(limit: number) {
    super(`a line is longer than ${limit} bytes`);
    this.name = 'LineTooLong';
  }
}

export class LineSplitter {
  readonly #limit: number;
  // One growing buffer rather than a list of parts: a server that sends single bytes must not cost an object for each.
  #held = Buffer.alloc(0);
  #heldBytes = 0;

  /** `limit`: the most bytes a line may have. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** The lines that `chunk` completes, without their newlines. They are views: use each before asking for the next. */
  *push(chunk: Uint8Array): Generator<Buffer> {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let from = 0;
    for (let at = buffer.indexOf(NEWLINE); at !== -1; at = buffer.indexOf(NEWLINE, from)) {
      yield this.#complete(buffer.subarray(from, at));
      from = at + 1;
    }
    if (from < buffer.length) this.#hold(buffer.subarray(from));
  }

  /** Bytes after the last newline. */
  get unfinished(): number {
    return this.#heldBytes;
  }

  #complete(end: Buffer): Buffer {
    if (this.#heldBytes === 0) {
      if (end.length > this.#limit) throw new LineTooLong(this.#limit);
      return end;
    }
    this.#hold(end);
    const line = this.#held.subarray(0, this.#heldBytes);
    this.#held = Buffer.alloc(0);
    this.#heldBytes = 0;
    return line;
  }

  #hold(part: Buffer): void {
    const needed = this.#heldBytes + part.length;
    if (needed > this.#limit) throw new LineTooLong(this.#limit);
    if (needed > this.#held.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, 2 * this.#held.length, FIRST_CAPACITY));
      this.#held.copy(grown, 0, 0, this.#heldBytes);
      this.#held = grown;
    }
    part.copy(this.#held, this.#heldBytes);
    this.#heldBytes = needed;
  }
}
