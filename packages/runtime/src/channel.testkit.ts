// Test fixture: a response body that can be written while it is read.

export class Channel implements AsyncIterable<Uint8Array> {
  #chunks: Uint8Array[] = [];
  #wake: (() => void) | undefined;
  ended = false;
  onEnd: () => void = () => {};

  push(chunk: Uint8Array): void {
    if (this.ended) return;
    this.#chunks.push(chunk);
    this.#wake?.();
  }

  end(): void {
    if (this.ended) return;
    this.ended = true;
    this.#wake?.();
    this.onEnd();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        const chunks = this.#chunks;
        this.#chunks = [];
        for (const chunk of chunks) yield chunk;
        if (this.#chunks.length > 0) continue;
        if (this.ended) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.end();
    }
  }
}
