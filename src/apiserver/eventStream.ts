// The body of a watch: a bounded queue of encoded events between the store and one reader.

import type { WatchHub } from './watchHub.ts';

export interface StreamLimits {
  readonly events: number;
  readonly bytes: number;
}

export const STREAM_LIMITS: StreamLimits = { events: 20_000, bytes: 64 << 20 };

export class EventStream implements AsyncIterable<Uint8Array> {
  #queue: Uint8Array[] = [];
  #bytes = 0;
  #closed = false;
  #wake: (() => void) | undefined;
  readonly #hub: WatchHub;
  readonly #limits: StreamLimits;
  /** Called once, when the stream ends for any reason. */
  onClose: () => void = () => {};

  constructor(hub: WatchHub, limits: StreamLimits = STREAM_LIMITS) {
    this.#hub = hub;
    this.#limits = limits;
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** Adds one event. The reader that let too many pile up is cut off and will resume or list again. */
  push(event: Uint8Array): void {
    if (this.#closed) return;
    this.#queue.push(event);
    this.#bytes += event.length;
    this.#hub.undelivered++;
    if (this.#queue.length > this.#limits.events || this.#bytes > this.#limits.bytes) this.abort();
    else this.#wake?.();
  }

  /** No more events; what is queued is still delivered. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wake?.();
    this.onClose();
  }

  /** Ends at once; what is queued is dropped. */
  abort(): void {
    this.#hub.undelivered -= this.#queue.length;
    this.#queue = [];
    this.#bytes = 0;
    this.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        while (this.#queue.length > 0) yield this.#take();
        if (this.#closed) return;
        const { promise, resolve } = Promise.withResolvers<void>();
        this.#wake = resolve;
        await promise;
        this.#wake = undefined;
      }
    } finally {
      this.abort();
    }
  }

  /** Everything queued, as one chunk: one write to the socket however many events came in a turn. */
  #take(): Uint8Array {
    const taken = this.#queue;
    this.#queue = [];
    this.#bytes = 0;
    this.#hub.undelivered -= taken.length;
    return taken.length === 1 ? taken[0]! : Buffer.concat(taken);
  }
}
