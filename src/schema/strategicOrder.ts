// The order of a merged list: items of the patch in the patch's order, items only the server has in the live order, the
// latter inserted before the first patch item that follows them in the live list. New items therefore come first.

import { isObject, type Json } from '#api/json';

export interface Merge {
  readonly merged: readonly Json[];
  /** The list before the patch. */
  readonly live: readonly Json[];
  /** Merge key of map items; undefined for lists of scalars. */
  readonly key: string | undefined;
}

export const inPatchOrder = (m: Merge & { patch: readonly Json[] }): Json[] => interleave(m, m.patch);

export const inSetOrder = (m: Merge & { order: readonly Json[] }): Json[] => interleave(m, m.order);

function interleave({ merged, live, key }: Merge, order: readonly Json[]): Json[] {
  const identity = (item: Json): Json | undefined => (key !== undefined && isObject(item) ? item[key] : item);
  const liveIndex = indexBy(live, identity);
  const orderIndex = indexBy(order, identity);
  const ours = merged.filter((i) => orderIndex.has(identity(i)));
  const theirs = merged.filter((i) => !orderIndex.has(identity(i)));
  const by = (index: Map<unknown, number>) => (a: Json, b: Json) =>
    (index.get(identity(a)) ?? 0) - (index.get(identity(b)) ?? 0);
  ours.sort(by(orderIndex));
  theirs.sort(by(liveIndex));
  const out: Json[] = [];
  let i = 0;
  for (const item of ours) {
    const place = liveIndex.get(identity(item));
    if (place !== undefined) {
      while (i < theirs.length && (liveIndex.get(identity(theirs[i]!)) ?? Infinity) < place)
        out.push(theirs[i++]!);
    }
    out.push(item);
  }
  return [...out, ...theirs.slice(i)];
}

function indexBy(list: readonly Json[], identity: (item: Json) => unknown): Map<unknown, number> {
  const index = new Map<unknown, number>();
  list.forEach((item, i) => {
    if (!index.has(identity(item))) index.set(identity(item), i);
  });
  return index;
}
