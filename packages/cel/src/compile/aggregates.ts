// List, map and message literals.

import type { ListExpr, MapExpr, StructExpr } from '../ast.ts';
import { describeKey } from '../describe.ts';
import { Frame } from '../frame.ts';
import { canonicalKey } from '../select.ts';
import { type CelKey, CelMap, Failure, fail, Optional, type Value } from '../values.ts';
import { buildWellKnown } from '../wellKnown.ts';
import { type CompileContext, type Compiled, constant, isConstant, locate, type Run } from './node.ts';

const LIST_COST = 10;
const MAP_COST = 30;
const STRUCT_COST = 40;

// Literals of constants are built once at compile time and cost nothing, as in cel-go.
const once = (run: Run): Compiled => constant(run(Frame.unlimited()));

export function compileList(ctx: CompileContext, e: ListExpr): Compiled {
  const elements = e.elements.map((el) => ctx.compile(el.value));
  const runs = elements.map((c) => c.run);
  const run = e.elements.some((el) => el.optional)
    ? listWithOptionals(
        runs,
        e.elements.map((el) => el.optional),
        e.at,
      )
    : plainList(runs);
  return elements.every(isConstant) ? once(run) : { run };
}

function plainList(runs: readonly Run[]): Run {
  const size = runs.length;
  return (f) => {
    f.cost += LIST_COST;
    f.work(size * 2);
    const list = new Array<Value>(size);
    for (let i = 0; i < size; i++) {
      f.charge(0);
      const v = runs[i]!(f);
      if (v instanceof Failure) return v;
      list[i] = v;
    }
    return list;
  };
}

function listWithOptionals(runs: readonly Run[], optional: readonly boolean[], at: number): Run {
  return (f) => {
    f.cost += LIST_COST;
    f.work(runs.length * 3);
    const list: Value[] = [];
    for (const [i, run] of runs.entries()) {
      const v = run(f);
      if (v instanceof Failure) return v;
      if (!optional[i]) list.push(v);
      else if (!(v instanceof Optional)) {
        return new Failure('cannot initialize optional list element from non-optional value', at);
      } else if (v.heldValue !== undefined) list.push(v.heldValue);
    }
    return list;
  };
}

interface Entry {
  readonly key: Run;
  readonly value: Run;
  readonly optional: boolean;
}

export function compileMap(ctx: CompileContext, e: MapExpr): Compiled {
  const parts = e.entries.map(({ key, value, optional }) => ({
    key: ctx.compile(key),
    value: ctx.compile(value),
    optional,
  }));
  const entries = parts.map(
    ({ key, value, optional }): Entry => ({ key: key.run, value: value.run, optional }),
  );
  const { repeatedKeys } = ctx.env.options;
  const run: Run = (f) => {
    f.cost += MAP_COST;
    f.work(entries.length * 10);
    const map = new Map<CelKey, readonly [Value, Value]>();
    for (const entry of entries) {
      const problem = addEntry(map, entry, f, repeatedKeys === 'error');
      if (problem !== undefined) return locate(problem, e.at);
    }
    return new CelMap(map);
  };
  return parts.every((p) => isConstant(p.key) && isConstant(p.value)) ? once(run) : { run };
}

function addEntry(
  map: Map<CelKey, readonly [Value, Value]>,
  e: Entry,
  f: Frame,
  refuseRepeats: boolean,
): Failure | undefined {
  f.charge(0);
  const key = e.key(f);
  if (key instanceof Failure) return key;
  let value = e.value(f);
  if (value instanceof Failure) return value;
  const canonical = isKey(key) ? canonicalKey(key) : undefined;
  if (canonical === undefined) return fail(`unsupported key type: ${describeKey(key)}`);
  if (e.optional) {
    if (!(value instanceof Optional)) {
      return fail(`cannot initialize optional entry '${describeKey(key)}' from non-optional value`);
    }
    if (value.heldValue === undefined) return undefined;
    value = value.heldValue;
  }
  if (refuseRepeats && map.has(canonical)) return fail(`Failed with repeated key: ${describeKey(key)}`);
  map.set(canonical, [key, value]);
  return undefined;
}

/** A double can be used to look up a key, but cannot be a key. */
const isKey = (v: Value): boolean => typeof v !== 'object' || (v !== null && 'uintBits' in v);

export function compileStruct(ctx: CompileContext, e: StructExpr): Compiled {
  const name = e.resolved ?? e.name;
  const fields = e.fields.map((field) => ({ ...field, run: ctx.compile(field.value).run }));
  return {
    run: (f) => {
      f.cost += STRUCT_COST;
      const values = new Map<string, Value>();
      for (const { name: field, run, optional } of fields) {
        const v = run(f);
        if (v instanceof Failure) return v;
        const given = optional && v instanceof Optional ? v.heldValue : v;
        if (given !== undefined) values.set(field, given);
      }
      if (ctx.env.provider?.hasStruct(name)) return Object.fromEntries(values);
      return locate(buildWellKnown(name, values), e.at);
    },
  };
}
