// Runs many calls in parallel and yields the results in the order of the inputs. The number of pending calls, and so
// memory, is bounded.

/**
 * At most `most` pending calls. After a failure no new call is started, and the results of pending ones are
 * ignored.
 */
export async function* inOrder<T, R>(
  items: Iterable<T>,
  most: number,
  ask: (item: T) => Promise<R>,
): AsyncGenerator<R, void> {
  const underway: Promise<R>[] = [];
  for (const item of items) {
    const asked = ask(item);
    // The consumer receives the failure when it awaits the promise. Promises behind a failure are never awaited.
    asked.catch(() => {});
    underway.push(asked);
    if (underway.length >= most) yield await underway.shift()!;
  }
  for (const asked of underway) yield await asked;
}
