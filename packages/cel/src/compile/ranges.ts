// The range of a loop: the elements of a list, or the keys (and values) of a map.

import { entriesOf } from '../equality.ts';
import type { Frame } from '../frame.ts';
import { goTypeName } from '../typeOfValue.ts';
import { adapt, Failure, isMap, type Value } from '../values.ts';

/** Elements of a list or keys of a map. An error for any other value. */
export function itemsOf(range: Value, pairs: boolean, at: number): readonly Value[] | Failure {
  if (Array.isArray(range)) return range;
  if (range instanceof Failure) return range;
  return isMap(range) ? Array.from(entriesOf(range), ([key]) => key) : rangeError(range, pairs, at);
}

/** Values of a map, for a loop with a value variable. Undefined for a list, whose keys are its indexes. */
export function valuesOf(range: Value, pairs: boolean): readonly Value[] | undefined {
  return pairs && isMap(range) ? Array.from(entriesOf(range), ([, value]) => value) : undefined;
}

function rangeError(range: Value, pairs: boolean, at: number): Failure {
  const name = goTypeName(range);
  const single = `got '${name}', expected iterable type`;
  return new Failure(pairs ? `unsupported comprehension range type: ${name}` : single, at);
}

/** The slots of a loop's variables. */
export interface Places {
  readonly first: number;
  readonly second: number | undefined;
}

/** Stores an item in its slots: the value alone, or its key (or index) and the value. */
export function place(
  f: Frame,
  item: Value,
  i: number,
  places: Places,
  values: readonly Value[] | undefined,
): void {
  const v = typeof item === 'object' || typeof item === 'string' ? item : adapt(item);
  if (places.second === undefined) {
    f.slots[places.first] = v;
  } else if (values === undefined) {
    f.slots[places.first] = i;
    f.slots[places.second] = v;
  } else {
    f.slots[places.first] = v;
    f.slots[places.second] = values[i]!;
  }
}
