// Sorts by keys of one comparable type. The sort is stable.

import type { Frame } from './frame.ts';
import { compare } from './ordering.ts';
import { typeOfValue } from './typeOfValue.ts';
import { Failure, fail, type Value } from './values.ts';

const COMPARABLE = new Set(['int', 'uint', 'double', 'bool', 'duration', 'timestamp', 'string', 'bytes']);

/** The elements in ascending order of their keys, or an error if the keys are not comparable. */
export function sortedBy(elements: readonly Value[], keys: readonly Value[], f: Frame): Value {
  const [first] = keys;
  if (first === undefined) return elements;
  const { kind } = typeOfValue(first);
  if (!COMPARABLE.has(kind)) return fail('list elements must be comparable');
  if (keys.some((k) => typeOfValue(k).kind !== kind)) return fail('list elements must have the same type');
  f.work(keys.length * Math.max(1, Math.log2(keys.length)) * 4);
  let error: Failure | undefined;
  const order = keys.map((_, i) => i);
  order.sort((i, j) => {
    const c = compare(keys[i]!, keys[j]!);
    if (c instanceof Failure) error = c;
    return typeof c === 'number' ? c : 0;
  });
  return error ?? order.map((i) => elements[i]!);
}
