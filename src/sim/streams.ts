// The watches of the process under test, as far as faults go: they can be broken in three ways, and what is under way on
// them can be held back, which makes the caches of the process stale.

import { TransportError } from '#client/transport';

/**
 * - `end`: the connection is closed, as a server does that restarts
 * - `cut`: it breaks in the middle of an event
 * - `gone`: the server says that it has forgotten the version (410)
 */
export type WatchBreak = 'end' | 'cut' | 'gone';

type Read =
  | { readonly kind: 'chunk'; readonly chunk: Uint8Array }
  | { readonly kind: 'end' | 'cut' | 'gone' };

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

interface Stream {
  end(how: WatchBreak): void;
}

export class Streams {
  readonly #open = new Set<Stream>();
  #held: PromiseWithResolvers<void> | undefined;
  /** Every event arrives twice. */
  twice = false;

  get open(): number {
    return this.#open.size;
  }

  break(how: WatchBreak): void {
    for (const stream of [...this.#open]) stream.end(how);
  }
  hold(): void {
    this.#held ??= Promise.withResolvers<void>();
  }
  release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  /** `source` as the process gets it. `hangUp` tells the server that nobody reads any more. */
  async *tap(source: AsyncIterable<Uint8Array>, hangUp: () => void): AsyncGenerator<Uint8Array> {
    const iterator = source[Symbol.asyncIterator]();
    let ended: WatchBreak | undefined;
    let wake: (read: Read) => void = () => {};
    const stream: Stream = {
      end: (how) => {
        ended ??= how;
        wake({ kind: how });
      },
    };
    const read = (): Promise<Read> =>
      new Promise((resolve, reject) => {
        if (ended !== undefined) return resolve({ kind: ended });
        wake = resolve;
        iterator
          .next()
          .then(
            (next) => resolve(next.done ? { kind: 'end' } : { kind: 'chunk', chunk: next.value }),
            reject,
          );
      });
    this.#open.add(stream);
    try {
      for (;;) {
        const got = await read();
        while (this.#held !== undefined) await this.#held.promise;
        if (got.kind === 'chunk') {
          yield got.chunk;
          if (this.twice) yield got.chunk;
        } else {
          yield* lastWords(got.kind);
          return;
        }
      }
    } finally {
      this.#open.delete(stream);
      hangUp();
    }
  }
}

function* lastWords(how: WatchBreak): Generator<Uint8Array> {
  if (how === 'gone') yield GONE;
  if (how !== 'cut') return;
  yield HALF_A_LINE;
  throw new TransportError('broken', 'the connection broke in the middle of an event', { sent: true });
}
