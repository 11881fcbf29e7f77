// Many questions at once, answers in the order of the questions. What is asked ahead is bounded, and so is memory.

/** At most `most` under way. After a failure no new one is begun; those under way end unheard. */
export async function* inOrder<T, R>(
  items: Iterable<T>,
  most: number,
  ask: (item: T) => Promise<R>,
): AsyncGenerator<R, void> {
  const underway: Promise<R>[] = [];
  for (const item of items) {
    const asked = ask(item);
    // Whoever awaits it hears of a failure; those behind a failure nobody awaits.
    asked.catch(() => {});
    underway.push(asked);
    if (underway.length >= most) yield await underway.shift()!;
  }
  for (const asked of underway) yield await asked;
}
