// Compiles loops. Each macro has its own loop, with the cost of cel-go's expansion: the accumulator is a name (1), a
// step that appends builds a list (10 + 1), and so on.
// An error in a predicate or transformation does not end map and filter: cel-go continues and keeps charging, and so
// does this code.

import type { Fold } from '../ast.ts';
import type { Frame } from '../frame.ts';
import { selfCompareCost } from '../sizes.ts';
import { sortedBy } from '../sorting.ts';
import { type CelType, isDyn } from '../types.ts';
import { type CelKey, CelMap, Failure, type Value } from '../values.ts';
import { insert, insertAll } from './mapBuilding.ts';
import { type CompileContext, type Compiled, locate, notBool, type Run } from './node.ts';
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
      return { run: collect(loop, filter, e.at, counter) };
    case 'filter':
      return { run: collect(loop, filter, e.at, keptItems(loop)) };
    case 'map':
      return { run: collect(loop, filter, e.at, transformed(ctx.compile(e.transform!))) };
    case 'sortBy':
      return { run: sortBy(loop, ctx.compile(e.transform!).run, e.at, e.transform!.type) };
    default:
      return {
        run: collect(loop, filter, e.at, transformedMap(loop, ctx.compile(e.transform!).run, e)),
      };
  }
}

// all and exists have separate loops: one loop for both calls two kinds of predicates from one place, which made
// nested quantifiers 50% slower.

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

/** How a loop builds its result from the items that pass the filter. */
interface Collector<Result> {
  /** The cost of adding one item. */
  readonly step: number;
  /** The cost of the finished result. */
  readonly end: number;
  begin(): Result;
  /** Adds the item in the slots of the loop. */
  add(result: Result, f: Frame): Failure | undefined;
  finish(result: Result): Value;
}

function collect<Result>(loop: Loop, filter: Run | undefined, at: number, collector: Collector<Result>): Run {
  const { range, at: rangeAt } = loop;
  const pairs = loop.second !== undefined;
  const { step, end, begin, add, finish } = collector;
  return (f) => {
    const over = range(f);
    const items = itemsOf(over, pairs, rangeAt);
    if (items instanceof Failure) return items;
    const values = valuesOf(over, pairs);
    const result = begin();
    let error: Failure | undefined;
    for (let i = 0; i < items.length; i++) {
      f.charge(0);
      place(f, items[i]!, i, loop, values);
      const wanted = filter === undefined || filter(f);
      if (wanted === true) {
        f.cost += step;
        const problem = add(result, f);
        error ??= problem;
      } else if (wanted !== false) error = notBool(wanted, at);
    }
    f.cost += end;
    return error ?? finish(result);
  };
}

const counter: Collector<{ count: number }> = {
  step: 2,
  end: 2,
  begin: () => ({ count: 0 }),
  add(result) {
    result.count++;
    return undefined;
  },
  finish: (result) => result.count === 1,
};

const newList = (): Value[] => [];
const asIs = (list: Value[]): Value => list;

const keptItems = ({ first }: Loop): Collector<Value[]> => ({
  step: 13,
  end: 1,
  begin: newList,
  add(list, f) {
    list.push(f.slots[first]!);
    return undefined;
  },
  finish: asIs,
});

const transformed = ({ run, constant }: Compiled): Collector<Value[]> => ({
  // A list of one constant is a constant and costs nothing.
  step: constant === undefined ? 12 : 2,
  end: 1,
  begin: newList,
  add(list, f) {
    const v = run(f);
    if (v instanceof Failure) return v;
    list.push(v);
    return undefined;
  },
  finish: asIs,
});

function transformedMap(
  { first }: Loop,
  transform: Run,
  e: Fold,
): Collector<Map<CelKey, readonly [Value, Value]>> {
  const whole = e.fold === 'transformMapEntry';
  return {
    step: whole ? 2 : 3,
    end: 1,
    begin: () => new Map(),
    add(built, f) {
      f.work(10);
      const key = f.slots[first]!;
      const v = transform(f);
      const problem = whole ? insertAll(built, v) : insert(built, key, v);
      return problem && locate(problem, e.at);
    },
    finish: (built) => new CelMap(built),
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
