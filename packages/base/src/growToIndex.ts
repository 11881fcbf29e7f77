// Typed arrays that grow with the largest index written.

type Numbers = Uint8Array | Int32Array | Float64Array;

// Grows by half instead of doubling: with ten million entries, the unused half would cost more than the entries.
const grownLength = (length: number, index: number) => Math.max(index + 1, Math.ceil(length * 1.5) + 16);

/** Returns the array itself if `index` is inside it, else a longer copy. New entries are 0. */
export function growToIndex<T extends Numbers>(items: T, index: number, make: (length: number) => T): T {
  if (index < items.length) return items;
  const longer = make(grownLength(items.length, index));
  longer.set(items);
  return longer;
}
