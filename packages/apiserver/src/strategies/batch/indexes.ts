// Index lists of Jobs (`0,2-4,7`): parsing, and overlap of two lists.

/** The error of an invalid index list. */
export class IndexError extends Error {}

interface Interval {
  readonly first: number;
  readonly last: number;
}

/** The number of indexes in the list. Throws IndexError. */
export function countIndexes(list: string, completions: number): number {
  if (list === '') return 0;
  let last: number | undefined;
  let total = 0;
  for (const text of list.split(',')) {
    const interval = parseInterval(text, completions);
    if (last !== undefined && last >= interval.first) throw order(last, interval.first);
    total += interval.last - interval.first + 1;
    last = interval.last;
  }
  return total;
}

const order = (previous: number, current: number) =>
  new IndexError(`non-increasing order, previous: ${previous}, current: ${current}`);

function parseInterval(text: string, completions: number): Interval {
  const limits = text.split('-');
  if (limits.length > 2) {
    const rule =
      "violates the requirement that an index interval can have at most two parts separated by '-'";
    throw new IndexError(`the fragment "${text}" ${rule}`);
  }
  const first = parseIndex(limits[0]!, completions);
  if (limits.length === 1) return { first, last: first };
  const last = parseIndex(limits[1]!, completions);
  if (first >= last) throw order(first, last);
  return { first, last };
}

function parseIndex(text: string, completions: number): number {
  if (!/^[+-]?\d+$/.test(text)) throw new IndexError(`cannot convert string to integer for index: "${text}"`);
  const index = Number(text);
  if (index >= completions) throw new IndexError(`too large index: "${text}"`);
  return index;
}

/** The first index that both lists contain; skips invalid fragments. */
export function firstOverlap(a: string, b: string, completions: number): number | undefined {
  const [left, right] = [readable(a, completions), readable(b, completions)];
  let [i, j] = [0, 0];
  while (i < left.length && j < right.length) {
    const [x, y] = [left[i]!, right[j]!];
    if (x.first <= y.last && y.first <= x.last) return Math.max(x.first, y.first);
    if (x.first <= y.first) i++;
    else j++;
  }
  return undefined;
}

function readable(list: string, completions: number): Interval[] {
  if (list === '') return [];
  return list.split(',').flatMap((text) => {
    try {
      return [parseInterval(text, completions)];
    } catch {
      return [];
    }
  });
}
