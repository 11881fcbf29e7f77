// Letting others have their turn. Promises alone never do: a long chain of them keeps sockets and timers waiting.

/** Resolves in a later turn of the event loop. No time passes on any Clock. */
export const nextTurn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/**
 * For loops over very many small things: call it after each, and await what it gives, if anything. Every `every`-th call
 * gives a promise of the next turn.
 */
export function breather(every: number): () => Promise<void> | undefined {
  let left = every;
  return () => {
    if (--left > 0) return undefined;
    left = every;
    return nextTurn();
  };
}
