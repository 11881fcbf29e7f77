// Compiles loops. Each macro has its own loop, with the cost of cel-go's expansion: the accumulator is a name (1), a
// step that appends builds a list (10 + 1), and so on.
// An error in a predicate or transformation does not end map and filter: cel-go continues and keeps charging, and so
// does this code.

import type { Fold } from '../ast.ts';
import { selfCompareCost } from '../sizes.ts';
import { sortedBy } from '../sorting.ts';
import { type CelType, isDyn } from '../types.ts';
import { type CelKey, CelMap, Failure, type Value } from '../values.ts';
import { insert, insertAll } from './mapBuilding.ts';
import { type CompileContext, type Compiled, isConstant, locate, notBool, type Run } from './node.ts';
import { itemsOf, type Places, place, valuesOf } from './ranges.ts';

interface Loop extends Places {
  readonly range: Run;
  readonly at: number;
}

export function compileFold(ctx: CompileContext, e: Fold): Compiled {
  const loop: Loop = {
    range: ctx.compile(e.range).run,
    first: ctx.slots.local(e.first),
    second: e.second === undefined ? undefined : ctx.slots.local(e.second),
    at: e.range.at,
  };
  const filter = e.filter === undefined ? undefined : ctx.compile(e.filter).run;
  switch (e.fold) {
    case 'all':
      return { run: forAll(loop, filter!, e.at) };
    case 'exists':
      return { run: exists(loop, filter!, e.at) };
    case 'existsOne':
      return { run: existsOne(loop, filter!, e.at) };
    case 'filter':
      return { run: select(loop, filter!, e.at) };
    case 'map':
      return { run: map(loop, filter, ctx.compile(e.transform!), e.at) };
    case 'sortBy':
      return { run: sortBy(loop, ctx.compile(e.transform!).run, e.at, e.transform!.type) };
    default:
      return { run: transformMap(loop, filter, ctx.compile(e.transform!).run, e) };
  }
}

/** Ends at the first false. The loop condition costs two, the accumulator one more. */
function forAll(loop: Loop, predicate: Run, at: number): Run {
  const { range, at: rangeAt } = loop;
  const pairs = loop.second !== undefined;
  return (f) => {
    const over = range(f);
    const items = itemsOf(over, pairs, rangeAt);
    if (items instanceof Failure) return items;
    const values = valuesOf(over, pairs);
    const { length } = items;
    let error: Failure | undefined;
    for (let i = 0; i < length; i++) {
      f.charge(3);
      place(f, items[i]!, i, loop, values);
      const v = predicate(f);
      if (v === false) {
        // The next iteration, if any, only evaluates the loop condition and stops.
        f.cost += i + 1 < length ? 3 : 1;
        return false;
      }
      if (v !== true) error ??= notBool(v, at);
    }
    f.cost += 1;
    return error ?? true;
  };
}

/** Ends at the first true. The loop condition costs three, the accumulator one more. */
function exists(loop: Loop, predicate: Run, at: number): Run {
  const { range, at: rangeAt } = loop;
  const pairs = loop.second !== undefined;
  return (f) => {
    const over = range(f);
    const items = itemsOf(over, pairs, rangeAt);
    if (items instanceof Failure) return items;
    const values = valuesOf(over, pairs);
    const { length } = items;
    let error: Failure | undefined;
    for (let i = 0; i < length; i++) {
      f.charge(4);
      place(f, items[i]!, i, loop, values);
      const v = predicate(f);
      if (v === true) {
        f.cost += i + 1 < length ? 4 : 1;
        return true;
      }
      if (v !== false) error ??= notBool(v, at);
    }
    f.cost += 1;
    return error ?? false;
  };
}

function existsOne(loop: Loop, predicate: Run, at: number): Run {
  const { range, at: rangeAt } = loop;
  const pairs = loop.second !== undefined;
  return (f) => {
    const over = range(f);
    const items = itemsOf(over, pairs, rangeAt);
    if (items instanceof Failure) return items;
    const values = valuesOf(over, pairs);
    let count = 0;
    let error: Failure | undefined;
    for (let i = 0; i < items.length; i++) {
      f.charge(0);
      place(f, items[i]!, i, loop, values);
      const v = predicate(f);
      if (v === true) {
        f.cost += 2;
        count++;
      } else if (v !== false) error = notBool(v, at);
    }
    f.cost += 2;
    return error ?? count === 1;
  };
}

const APPEND_COST = 13;

function select(loop: Loop, predicate: Run, at: number): Run {
  const { range, first, at: rangeAt } = loop;
  const pairs = loop.second !== undefined;
  return (f) => {
    const over = range(f);
    const items = itemsOf(over, pairs, rangeAt);
    if (items instanceof Failure) return items;
    const values = valuesOf(over, pairs);
    const list: Value[] = [];
    let error: Failure | undefined;
    for (let i = 0; i < items.length; i++) {
      f.charge(0);
      place(f, items[i]!, i, loop, values);
      const v = predicate(f);
      if (v === true) {
        f.cost += APPEND_COST;
        list.push(f.slots[first]!);
      } else if (v !== false) error = notBool(v, at);
    }
    f.cost += 1;
    return error ?? list;
  };
}

function map(loop: Loop, predicate: Run | undefined, transform: Compiled, at: number): Run {
  const { range, at: rangeAt } = loop;
  const pairs = loop.second !== undefined;
  // A list of one constant is a constant and costs nothing.
  const step = isConstant(transform) ? 2 : 12;
  const { run } = transform;
  return (f) => {
    const over = range(f);
    const items = itemsOf(over, pairs, rangeAt);
    if (items instanceof Failure) return items;
    const values = valuesOf(over, pairs);
    const list: Value[] = [];
    let error: Failure | undefined;
    for (let i = 0; i < items.length; i++) {
      f.charge(0);
      place(f, items[i]!, i, loop, values);
      const wanted = predicate === undefined ? true : predicate(f);
      if (wanted === true) {
        f.cost += step;
        const v = run(f);
        if (v instanceof Failure) error ??= v;
        else list.push(v);
      } else if (wanted !== false) error = notBool(wanted, at);
    }
    f.cost += 1;
    return error ?? list;
  };
}

function transformMap(loop: Loop, predicate: Run | undefined, transform: Run, e: Fold): Run {
  const { range, first, at: rangeAt } = loop;
  const pairs = loop.second !== undefined;
  const whole = e.fold === 'transformMapEntry';
  const step = whole ? 2 : 3;
  return (f) => {
    const over = range(f);
    const items = itemsOf(over, pairs, rangeAt);
    if (items instanceof Failure) return items;
    const values = valuesOf(over, pairs);
    const built = new Map<CelKey, readonly [Value, Value]>();
    let error: Failure | undefined;
    for (let i = 0; i < items.length; i++) {
      f.charge(0);
      place(f, items[i]!, i, loop, values);
      const wanted = predicate === undefined ? true : predicate(f);
      if (wanted === true) {
        f.cost += step;
        f.work(10);
        const key = f.slots[first]!;
        const v = transform(f);
        error ??= whole ? insertAll(built, v) : insert(built, key, v);
      } else if (wanted !== false) error = notBool(wanted, e.at);
    }
    f.cost += 1;
    return error === undefined ? new CelMap(built) : locate(error, e.at);
  };
}

/**
 * cel-go binds the range, maps it to keys, and sorts by those. Cost: two names, a loop, and a comparison of all pairs.
 */
function sortBy(loop: Loop, key: Run, at: number, keyType: CelType | undefined): Run {
  const { range, first, at: rangeAt } = loop;
  const pairs = loop.second !== undefined;
  const typed = keyType !== undefined && !isDyn(keyType);
  return (f) => {
    const over = range(f);
    const items = itemsOf(over, pairs, rangeAt);
    if (items instanceof Failure) return items;
    const values = valuesOf(over, pairs);
    const elements: Value[] = [];
    const keys: Value[] = [];
    let error: Failure | undefined;
    for (let i = 0; i < items.length; i++) {
      f.charge(12);
      place(f, items[i]!, i, loop, values);
      elements.push(f.slots[first]!);
      const k = key(f);
      if (k instanceof Failure) error ??= k;
      keys.push(k);
    }
    f.charge(3 + (typed && error === undefined ? selfCompareCost(keys) : 1));
    return error ?? locate(sortedBy(elements, keys, f), at);
  };
}
