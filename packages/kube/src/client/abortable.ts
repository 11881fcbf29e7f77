// Helpers for async iterations: end an iteration from outside, and report when it ended. A plain `for await` can do
// neither, because it stays in `next()` until the source yields.

const END = { done: true, value: undefined } as const;

/**
 * The items of `source` until it ends or `signal` is aborted. An abort ends the iteration without an error and calls
 * the source's `return`, so that the source can release its resources.
 */
export function abortable<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator](): AsyncIterator<T> {
      const iterator = source[Symbol.asyncIterator]();
      let wake: (() => void) | undefined;
      signal.addEventListener('abort', () => wake?.(), { once: true });
      const stop = () => {
        // A source stuck in next() may never finish return(), so it is not awaited.
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

/** The same items. `ended` is called when the iteration is over: exhausted, failed or stopped by the consumer. */
export function onEnd<T>(source: AsyncIterable<T>, ended: () => void): AsyncIterable<T> {
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

/** A controller that is aborted with `outer` until it is unlinked. Long-lived signals must not accumulate listeners. */
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
