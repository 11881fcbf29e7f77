// Faults of the watches of the process under test. Watches can be broken in three ways, and their events can be held
// back, which makes the caches of the process stale.

import { TransportError } from '@lapse/kube/client/transport';

/**
 * - `end`: the server closes the connection, as on a restart
 * - `cut`: the connection breaks in the middle of an event
 * - `gone`: the server returns 410 because the version is compacted
 */
export type WatchBreak = 'end' | 'cut' | 'gone';

const HALF_A_LINE = Buffer.from('{"type":"MODIFIED","object":{"kind":"Co');
const GONE = Buffer.from(
  `${JSON.stringify({
    type: 'ERROR',
    object: {
      kind: 'Status',
      apiVersion: 'v1',
      metadata: {},
      status: 'Failure',
      message: 'too old resource version',
      reason: 'Expired',
      code: 410,
    },
  })}\n`,
);

export class Streams {
  readonly #open = new Set<Tap>();
  #held: PromiseWithResolvers<void> | undefined;
  /** Deliver every event twice. */
  twice = false;

  break(how: WatchBreak): void {
    for (const tap of [...this.#open]) tap.end(how);
  }
  hold(): void {
    this.#held ??= Promise.withResolvers<void>();
  }
  release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  /**
   * Returns the stream that the process receives. `source` is read immediately, even if the process does not read, so that
   * held events do not stay in the server. `hangUp` closes the connection to the server.
   */
  tap(source: AsyncIterable<Uint8Array>, hangUp: () => void): AsyncIterable<Uint8Array> {
    const tap = new Tap(source);
    this.#open.add(tap);
    return this.#deliver(tap, () => {
      this.#open.delete(tap);
      hangUp();
    });
  }

  async #released(): Promise<void> {
    while (this.#held !== undefined) await this.#held.promise;
  }

  async *#deliver(tap: Tap, over: () => void): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        await tap.available();
        await this.#released();
        const chunk = tap.take();
        if (chunk === undefined) break;
        yield chunk;
        if (this.twice) yield chunk;
      }
      yield* finalChunks(tap.ended ?? 'end');
    } finally {
      over();
    }
  }
}

/** Buffers the data that the server has sent and the process has not received. */
class Tap {
  #chunks: Uint8Array[] = [];
  #ended: WatchBreak | undefined;
  #wake: () => void = () => {};

  constructor(source: AsyncIterable<Uint8Array>) {
    void this.#read(source);
  }

  get ended(): WatchBreak | undefined {
    return this.#ended;
  }

  /** Ends the stream and drops the buffered data. */
  end(how: WatchBreak): void {
    if (this.#ended !== undefined) return;
    this.#ended = how;
    this.#chunks = [];
    this.#wake();
  }

  /** Resolves when data is available or the stream has ended. */
  async available(): Promise<void> {
    while (this.#chunks.length === 0 && this.#ended === undefined)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  take(): Uint8Array | undefined {
    return this.#chunks.shift();
  }

  async #read(source: AsyncIterable<Uint8Array>): Promise<void> {
    for await (const chunk of source) {
      if (this.#ended !== undefined) return;
      this.#chunks.push(chunk);
      this.#wake();
    }
    this.#ended ??= 'end';
    this.#wake();
  }
}

function* finalChunks(how: WatchBreak): Generator<Uint8Array> {
  if (how === 'gone') yield GONE;
  if (how !== 'cut') return;
  yield HALF_A_LINE;
  throw new TransportError('broken', 'the connection broke in the middle of an event', { sent: true });
}
