// Typed arrays that grow with the largest index written.

type Numbers = Uint8Array | Int32Array | Float64Array;

// Half again, not double: with ten million entries the slack of doubling would cost more than the entries.
const grownLength = (length: number, index: number) => Math.max(index + 1, Math.ceil(length * 1.5) + 16);

/** The array itself when `index` is inside it, else a longer copy; new entries are 0. */
export function withRoom<T extends Numbers>(items: T, index: number, make: (length: number) => T): T {
  if (index < items.length) return items;
  const longer = make(grownLength(items.length, index));
  longer.set(items);
  return longer;
}
