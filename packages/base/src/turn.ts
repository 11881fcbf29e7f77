// Yielding to the event loop. Promises alone do not yield: a long chain of them blocks sockets and timers.

/** Resolves in a later turn of the event loop. No time passes on any Clock. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * For loops over very many small items: call the returned function after each item and await its result. Every
 * `every`-th call returns a promise that resolves in the next turn of the event loop.
 */
export function yieldEvery(every: number): () => Promise<void> | undefined {
  let left = every;
  return () => {
    if (--left > 0) return undefined;
    left = every;
    return nextTurn();
  };
}
