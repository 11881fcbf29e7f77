// The response body of another server, which must not be compressed or changed.

export class Relayed implements AsyncIterable<Uint8Array> {
  readonly #source: AsyncIterable<Uint8Array>;

  constructor(source: AsyncIterable<Uint8Array>) {
    this.#source = source;
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return this.#source[Symbol.asyncIterator]();
  }
}
