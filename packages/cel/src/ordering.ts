// The comparison operators `<`, `<=`, `>` and `>=`.

import { numericOf } from './numbers.ts';
import { compareBytes, compareStrings } from './text.ts';
import { Duration, type Failure, fail, Timestamp, type Value } from './values.ts';

/** Negative, zero or positive. An error for NaN; undefined if the values cannot be ordered. */
export function compare(a: Value, b: Value): number | Failure | undefined {
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string') return typeof b === 'string' ? compareStrings(a, b) : undefined;
  if (typeof a === 'boolean') return typeof b === 'boolean' ? Number(a) - Number(b) : undefined;
  return compareObjects(a, b);
}

function compareObjects(a: Value, b: Value): number | Failure | undefined {
  if (a instanceof Timestamp) return b instanceof Timestamp ? compareTimestamps(a, b) : undefined;
  if (a instanceof Duration) return b instanceof Duration ? compareDurations(a, b) : undefined;
  if (a instanceof Uint8Array) return b instanceof Uint8Array ? compareBytes(a, b) : undefined;
  return compareNumbers(a, b);
}

export const compareTimestamps = (a: Timestamp, b: Timestamp): number =>
  a.epochSeconds - b.epochSeconds || a.subNanos - b.subNanos;
export const compareDurations = (a: Duration, b: Duration): number =>
  a.wholeSeconds - b.wholeSeconds || a.subNanos - b.subNanos;

function compareNumbers(a: Value, b: Value): number | Failure | undefined {
  const x = numericOf(a);
  const y = numericOf(b);
  if (x === undefined || y === undefined) return undefined;
  if (Number.isNaN(x) || Number.isNaN(y)) return fail('NaN values cannot be ordered');
  // Mixed kinds compare as doubles, as in cel-go.
  if (typeof x !== typeof y) return Number(x) - Number(y) || 0;
  return x < y ? -1 : x > y ? 1 : 0;
}

const relation =
  (holds: (order: number) => boolean) =>
  (a: Value, b: Value): Value | undefined => {
    const order = compare(a, b);
    return typeof order === 'number' ? holds(order) : order;
  };

export const less = relation((o) => o < 0);
export const lessEquals = relation((o) => o <= 0);
export const greater = relation((o) => o > 0);
export const greaterEquals = relation((o) => o >= 0);
