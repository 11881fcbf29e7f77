// Fast paths for the calls that conditions mostly consist of: comparing a string with a constant, a negation. Each
// falls back to the general call for other types.

import type { Frame } from '../frame.ts';
import { compareDurations, compareTimestamps } from '../ordering.ts';
import { traversal } from '../sizes.ts';
import { subTimestamps } from '../time.ts';
import { Duration, Timestamp, type Value } from '../values.ts';
import type { Compiled, Run } from './node.ts';

/** The general call with evaluated arguments. */
export type Apply2 = (a: Value, b: Value, f: Frame) => Value;
export type Apply1 = (a: Value, f: Frame) => Value;

/** A fast path for a call of two operands, or undefined. `overload` is set if only one is possible. */
export function shortcut2(
  call: { readonly name: string; readonly overload: string | undefined },
  left: Compiled,
  right: Compiled,
  apply: Apply2,
): Run | undefined {
  const ofTime = call.overload === undefined ? undefined : TIME[call.overload];
  if (ofTime !== undefined) return ofTime(left.run, right.run, apply);
  return typeof right.constant === 'string' ? textTest(call.name, left, right.constant, apply) : undefined;
}

function textTest(name: string, left: Compiled, constant: string, apply: Apply2): Run | undefined {
  const { run } = left;
  switch (name) {
    case '_==_':
      return left.field === undefined
        ? equalTo(run, constant, apply)
        : fieldEqualTo(left, left.field, constant, apply);
    case '_!=_':
      return unequalTo(run, constant, apply);
    case 'startsWith':
      return startsWith(run, constant, apply);
    case 'endsWith':
      return endsWith(run, constant, apply);
    default:
      return undefined;
  }
}

function equalTo(left: Run, constant: string, apply: Apply2): Run {
  const { length } = constant;
  return (f) => {
    const a = left(f);
    if (typeof a !== 'string') return apply(a, constant, f);
    f.cost += traversal(Math.min(a.length, length));
    return a === constant;
  };
}

type Fields = { readonly [key: string]: Value | undefined };

/** `x.field == "constant"` without an intermediate call. */
function fieldEqualTo(
  left: Compiled,
  field: NonNullable<Compiled['field']>,
  constant: string,
  apply: Apply2,
): Run {
  const { slot, key, cost } = field;
  const { length } = constant;
  const { run } = left;
  return (f) => {
    const o = f.slots[slot]!;
    const a = typeof o === 'object' && o !== null ? (o as Fields)[key] : undefined;
    if (typeof a !== 'string') return apply(run(f), constant, f);
    f.cost += cost + traversal(Math.min(a.length, length));
    return a === constant;
  };
}

function unequalTo(left: Run, constant: string, apply: Apply2): Run {
  const { length } = constant;
  return (f) => {
    const a = left(f);
    if (typeof a !== 'string') return apply(a, constant, f);
    f.cost += traversal(Math.min(a.length, length));
    return a !== constant;
  };
}

function startsWith(left: Run, constant: string, apply: Apply2): Run {
  return (f) => {
    const a = left(f);
    if (typeof a !== 'string') return apply(a, constant, f);
    f.cost += traversal(a.length);
    return a.startsWith(constant);
  };
}

function endsWith(left: Run, constant: string, apply: Apply2): Run {
  return (f) => {
    const a = left(f);
    if (typeof a !== 'string') return apply(a, constant, f);
    f.cost += traversal(a.length);
    return a.endsWith(constant);
  };
}

type Binary = (left: Run, right: Run, apply: Apply2) => Run;

const betweenDurations =
  (holds: (order: number) => boolean): Binary =>
  (left, right, apply) =>
  (f) => {
    const a = left(f);
    const b = right(f);
    if (!(a instanceof Duration && b instanceof Duration)) return apply(a, b, f);
    f.cost += 1;
    return holds(compareDurations(a, b));
  };

const betweenTimestamps =
  (holds: (order: number) => boolean): Binary =>
  (left, right, apply) =>
  (f) => {
    const a = left(f);
    const b = right(f);
    if (!(a instanceof Timestamp && b instanceof Timestamp)) return apply(a, b, f);
    f.cost += 1;
    return holds(compareTimestamps(a, b));
  };

const elapsed: Binary = (left, right, apply) => (f) => {
  const a = left(f);
  const b = right(f);
  if (!(a instanceof Timestamp && b instanceof Timestamp)) return apply(a, b, f);
  const difference = subTimestamps(a, b);
  if (!(difference instanceof Duration)) return apply(a, b, f);
  f.cost += 1;
  return difference;
};

/** Comparisons of times and durations, the core of time conditions. */
const TIME: Readonly<Record<string, Binary>> = {
  subtract_timestamp_timestamp: elapsed,
  less_duration: betweenDurations((o) => o < 0),
  less_equals_duration: betweenDurations((o) => o <= 0),
  greater_duration: betweenDurations((o) => o > 0),
  greater_equals_duration: betweenDurations((o) => o >= 0),
  less_timestamp: betweenTimestamps((o) => o < 0),
  less_equals_timestamp: betweenTimestamps((o) => o <= 0),
  greater_timestamp: betweenTimestamps((o) => o > 0),
  greater_equals_timestamp: betweenTimestamps((o) => o >= 0),
};

export function shortcut1(name: string, arg: Compiled, apply: Apply1): Run | undefined {
  if (name !== '!_') return undefined;
  const { run } = arg;
  return (f) => {
    const a = run(f);
    if (typeof a !== 'boolean') return apply(a, f);
    f.cost += 1;
    return !a;
  };
}
