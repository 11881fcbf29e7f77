// Iterations that end from outside, and iterations that say when they ended. A plain `for await` can do neither: it
// stays in `next()` until the source answers.

const END = { done: true, value: undefined } as const;

/**
 * The items of `source` until it ends or `signal` is aborted, whichever comes first; an abort is an end, not an error.
 * The source's `return` is called on an abort, so that it can let go of what it holds.
 */
export function abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator](): AsyncIterator<T> {
      const iterator = source[Symbol.asyncIterator]();
      let wake: (() => void) | undefined;
      signal.addEventListener('abort', () => wake?.(), { once: true });
      const stop = () => {
        // A source stuck in next() answers return() late or never; nobody waits for it.
        iterator.return?.().catch(() => {});
        return END;
      };
      const next = () => {
        if (signal.aborted) return Promise.resolve(stop());
        return new Promise<IteratorResult<T>>((resolve, reject) => {
          wake = () => resolve(stop());
          iterator.next().then(resolve, (error: unknown) => (signal.aborted ? resolve(END) : reject(error)));
        });
      };
      return { next, return: () => Promise.resolve(stop()) };
    },
  };
}

/** The same items; `ended` is called when they are over: exhausted, failed or given up by the consumer. */
export function whenOver<T>(source: AsyncIterable<T>, ended: () => void): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator](): AsyncIterator<T> {
      const iterator = source[Symbol.asyncIterator]();
      return {
        next: () =>
          iterator.next().then(
            (result) => {
              if (result.done) ended();
              return result;
            },
            (error: unknown) => {
              ended();
              throw error;
            },
          ),
        return: async () => {
          ended();
          await iterator.return?.();
          return END;
        },
      };
    },
  };
}

/** A controller that is aborted with `outer`, until unlinked: long-lived signals must not collect listeners. */
export function linkedController(outer: AbortSignal | undefined): {
  controller: AbortController;
  unlink: () => void;
} {
  const controller = new AbortController();
  const onAbort = () => controller.abort(outer?.reason);
  if (outer?.aborted) onAbort();
  else outer?.addEventListener('abort', onAbort, { once: true });
  return { controller, unlink: () => outer?.removeEventListener('abort', onAbort) };
}
