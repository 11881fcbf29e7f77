// Loops. Each macro is a loop of its own here, with the bill that cel-go's expansion of it would run up:
// the accumulator is a name (1), a step that appends builds a list (10 + 1), and so on.

import type { Fold } from '../ast.ts';
import { describeKey } from '../describe.ts';
import { entriesOf } from '../equality.ts';
import type { Frame } from '../frame.ts';
import { canonicalKey } from '../select.ts';
import { selfCompareCost } from '../sizes.ts';
import { sortedBy } from '../sorting.ts';
import { goTypeName } from '../typeOfValue.ts';
import { type CelType, isDyn } from '../types.ts';
import { adapt, type CelKey, CelMap, Failure, fail, isMap, type Value } from '../values.ts';
import { type CompileContext, type Compiled, isConstant, locate, notBool, type Run } from './node.ts';

/** Called for each element with its place set; returns true to stop. */
type Visit = (f: Frame) => boolean;

interface Loop {
  readonly range: Run;
  readonly first: number;
  readonly second: number | undefined;
  readonly at: number;
}

/** Runs over a list or the keys of a map. The error of an unfit range is returned. */
function iterate(loop: Loop, f: Frame, visit: Visit): Failure | undefined {
  const range = loop.range(f);
  if (Array.isArray(range)) return iterateList(loop, range, f, visit);
  if (range instanceof Failure) return range;
  if (!isMap(range)) return unfitRange(loop, range);
  for (const [key, value] of entriesOf(range)) {
    f.charge(0);
    f.slots[loop.first] = key;
    if (loop.second !== undefined) f.slots[loop.second] = value;
    if (visit(f)) return undefined;
  }
  return undefined;
}

function unfitRange(loop: Loop, range: Value): Failure {
  const name = goTypeName(range);
  const message =
    loop.second === undefined
      ? `got '${name}', expected iterable type`
      : `unsupported comprehension range type: ${name}`;
  return new Failure(message, loop.at);
}

function iterateList(loop: Loop, list: readonly Value[], f: Frame, visit: Visit): undefined {
  const { first, second } = loop;
  for (let i = 0; i < list.length; i++) {
    f.charge(0);
    const element = list[i]!;
    const value = typeof element === 'object' || typeof element === 'string' ? element : adapt(element);
    if (second === undefined) f.slots[first] = value;
    else {
      f.slots[first] = i;
      f.slots[second] = value;
    }
    if (visit(f)) return undefined;
  }
  return undefined;
}

export function compileFold(ctx: CompileContext, e: Fold): Compiled {
  const loop: Loop = {
    range: ctx.compile(e.range).run,
    first: ctx.slots.local(e.first),
    second: e.second === undefined ? undefined : ctx.slots.local(e.second),
    at: e.range.at,
  };
  switch (e.fold) {
    case 'all':
      return quantifier(loop, ctx.compile(e.filter!).run, e.at, false, 2);
    case 'exists':
      return quantifier(loop, ctx.compile(e.filter!).run, e.at, true, 3);
    case 'existsOne':
      return existsOne(loop, ctx.compile(e.filter!).run, e.at);
    case 'filter':
      return filter(loop, ctx.compile(e.filter!).run, e.at);
    case 'map':
      return map(ctx, loop, e);
    case 'sortBy':
      return sortBy(loop, ctx.compile(e.transform!).run, e.at, e.transform!.type);
    default:
      return transformMap(ctx, loop, e);
  }
}

/** `all` stops at false, `exists` at true; asking whether to go on costs `test`, the accumulator one more. */
function quantifier(loop: Loop, predicate: Run, at: number, deciding: boolean, test: number): Compiled {
  return {
    run: (f) => {
      let decided = false;
      let error: Failure | undefined;
      const bad = iterate(loop, f, (frame) => {
        frame.cost += test;
        if (decided) return true;
        frame.cost += 1;
        const v = predicate(frame);
        if (v === deciding) decided = true;
        else if (typeof v !== 'boolean') error ??= notBool(v, at);
        return false;
      });
      if (bad !== undefined) return bad;
      f.cost += 1;
      return decided ? deciding : (error ?? !deciding);
    },
  };
}

function existsOne(loop: Loop, predicate: Run, at: number): Compiled {
  return {
    run: (f) => {
      let count = 0;
      let error: Failure | undefined;
      const bad = iterate(loop, f, (frame) => {
        const v = predicate(frame);
        if (v === true) {
          frame.cost += 2;
          count++;
        } else if (v !== false) error = notBool(v, at);
        return false;
      });
      if (bad !== undefined) return bad;
      f.cost += 2;
      return error ?? count === 1;
    },
  };
}

const APPEND_COST = 13;

function filter(loop: Loop, predicate: Run, at: number): Compiled {
  const { first } = loop;
  return {
    run: (f) => {
      const list: Value[] = [];
      let error: Failure | undefined;
      const bad = iterate(loop, f, (frame) => {
        const v = predicate(frame);
        if (v === true) {
          frame.cost += APPEND_COST;
          list.push(frame.slots[first]!);
        } else if (v !== false) error = notBool(v, at);
        return false;
      });
      if (bad !== undefined) return bad;
      f.cost += 1;
      return error ?? list;
    },
  };
}

/** True when the element takes part, false when not; anything else is an error. */
const includes = (predicate: Run | undefined, f: Frame): Value =>
  predicate === undefined ? true : predicate(f);

function map(ctx: CompileContext, loop: Loop, e: Fold): Compiled {
  const predicate = e.filter === undefined ? undefined : ctx.compile(e.filter).run;
  const transform = ctx.compile(e.transform!);
  // A list of one constant is a constant and free.
  const step = isConstant(transform) ? 2 : 12;
  const { run } = transform;
  return {
    run: (f) => {
      const list: Value[] = [];
      let error: Failure | undefined;
      const bad = iterate(loop, f, (frame) => {
        const wanted = includes(predicate, frame);
        if (wanted === true) {
          frame.cost += step;
          const v = run(frame);
          if (v instanceof Failure) error ??= v;
          else list.push(v);
        } else if (wanted !== false) error = notBool(wanted, e.at);
        return false;
      });
      if (bad !== undefined) return bad;
      f.cost += 1;
      return error ?? list;
    },
  };
}

function transformMap(ctx: CompileContext, loop: Loop, e: Fold): Compiled {
  const predicate = e.filter === undefined ? undefined : ctx.compile(e.filter).run;
  const { run } = ctx.compile(e.transform!);
  const whole = e.fold === 'transformMapEntry';
  const step = whole ? 2 : 3;
  return {
    run: (f) => {
      const map = new Map<CelKey, readonly [Value, Value]>();
      let error: Failure | undefined;
      const bad = iterate(loop, f, (frame) => {
        const wanted = includes(predicate, frame);
        if (wanted === true) {
          frame.cost += step;
          const v = run(frame);
          error ??= whole ? insertAll(map, v) : insert(map, frame.slots[loop.first]!, v);
        } else if (wanted !== false) error = notBool(wanted, e.at);
        return false;
      });
      if (bad !== undefined) return bad;
      f.cost += 1;
      return error === undefined ? new CelMap(map) : locate(error, e.at);
    },
  };
}

function insert(map: Map<CelKey, readonly [Value, Value]>, key: Value, value: Value): Failure | undefined {
  if (value instanceof Failure) return value;
  const canonical = canonicalKey(key);
  if (canonical === undefined) return fail(`unsupported key type: ${describeKey(key)}`);
  if (map.has(canonical)) return fail(`insert failed: key ${describeKey(key)} already exists`);
  map.set(canonical, [key, value]);
  return undefined;
}

function insertAll(map: Map<CelKey, readonly [Value, Value]>, entries: Value): Failure | undefined {
  if (entries instanceof Failure) return entries;
  if (!isMap(entries)) return fail('no such overload');
  for (const [key, value] of entriesOf(entries)) {
    const error = insert(map, key, value);
    if (error !== undefined) return error;
  }
  return undefined;
}

/** cel-go binds the range, maps it to keys, and sorts by those: two names, a loop, and a comparison of all with all. */
function sortBy(loop: Loop, key: Run, at: number, keyType: CelType | undefined): Compiled {
  const typed = keyType !== undefined && !isDyn(keyType);
  return {
    run: (f) => {
      const elements: Value[] = [];
      const keys: Value[] = [];
      let error: Failure | undefined;
      const bad = iterate(loop, f, (frame) => {
        frame.cost += 12;
        const k = key(frame);
        if (k instanceof Failure) error ??= k;
        elements.push(frame.slots[loop.first]!);
        keys.push(k);
        return false;
      });
      if (bad !== undefined) return bad;
      f.charge(3 + (typed && error === undefined ? selfCompareCost(keys) : 1));
      return error ?? locate(sortedBy(elements, keys, f), at);
    },
  };
}
