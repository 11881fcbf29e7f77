// The body of one watch: the initial events, which may be many and are encoded as they are read, then a bounded queue
// of encoded events.

import type { WatchHub } from './watchHub.ts';

export interface StreamLimits {
  readonly events: number;
  readonly bytes: number;
}

export const STREAM_LIMITS: StreamLimits = { events: 20_000, bytes: 64 << 20 };

// Bytes of initial events that are encoded at a time.
const CHUNK = 1 << 17;

export class EventStream implements AsyncIterable<Uint8Array> {
  #beginning: Iterator<Uint8Array> | undefined;
  /** The next initial event, encoded and not read yet; undefined after the last one. */
  #next: Uint8Array | undefined;
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

  /**
   * Sets the events that precede all pushed ones. The limits of the queue do not apply to them. The first one is
   * encoded at once, the others when the reader reaches them.
   */
  begin(events: Iterable<Uint8Array>): void {
    this.#beginning = events[Symbol.iterator]();
    // The initial events count as one.
    this.#hub.undelivered++;
    this.#advance();
  }

  #advance(): void {
    const { value, done } = this.#beginning!.next();
    this.#next = done === true ? undefined : value;
    if (done === true) this.#hub.undelivered--;
  }

  /** Adds one event. Closes the stream of a slow reader at the limits; its client resumes the watch or lists again. */
  push(event: Uint8Array): void {
    if (this.#closed) return;
    this.#queue.push(event);
    this.#bytes += event.length;
    this.#hub.undelivered++;
    if (this.#queue.length > this.#limits.events || this.#bytes > this.#limits.bytes) this.abort();
    else this.#wake?.();
  }

  /** Accepts no more events; queued ones are still delivered. */
  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#wake?.();
    this.onClose();
  }

  /** Ends at once and drops queued events. */
  abort(): void {
    this.#hub.undelivered -= this.#queue.length + (this.#next === undefined ? 0 : 1);
    this.#next = undefined;
    this.#queue = [];
    this.#bytes = 0;
    this.close();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Uint8Array> {
    try {
      for (;;) {
        while (this.#next !== undefined) yield this.#takeBeginning();
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

  #takeBeginning(): Uint8Array {
    const taken: Uint8Array[] = [];
    for (let size = 0; this.#next !== undefined && size < CHUNK; this.#advance()) {
      taken.push(this.#next);
      size += this.#next.length;
    }
    return Buffer.concat(taken);
  }

  /** All queued events as one chunk: one write to the socket for all events of one turn of the event loop. */
  #take(): Uint8Array {
    const taken = this.#queue;
    this.#queue = [];
    this.#bytes = 0;
    this.#hub.undelivered -= taken.length;
    return taken.length === 1 ? taken[0]! : Buffer.concat(taken);
  }
}
