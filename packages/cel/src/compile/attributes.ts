// Compiles names, selections and indexes: `a.b["c"][i]`. A path of plain fields becomes one closure without nested
// calls.

import type { Binding, Call, Expr, Ident, Select } from '../ast.ts';
import { type Reader, readerFor } from '../convert.ts';
import type { Frame } from '../frame.ts';
import { find, has, index, indexOptional, isReservedKey, missingKey } from '../select.ts';
import type { CelType } from '../types.ts';
import { adapt, Failure, NONE, Optional, type Value } from '../values.ts';
import { compileConditional } from './logic.ts';
import { type CompileContext, type Compiled, constant, isConstant, locate, type Run } from './node.ts';

// A cel.bind variable that was not evaluated yet.
export const UNSET = new Failure('not evaluated yet');

const attribute = (run: Run): Compiled => ({ run, attribute: true });

/** Whether cel-go treats the node as part of an attribute. */
const isAttribute = (e: Expr): boolean => {
  if (e.kind === 'ident') return true;
  if (e.kind === 'select') return true;
  return e.kind === 'call' && (e.resolved ?? '') in ATTRIBUTE_CALLS;
};
const ATTRIBUTE_CALLS: Record<string, true> = Object.assign(Object.create(null), {
  '_[_]': true,
  '_[?_]': true,
  '_?._': true,
  '_?_:_': true,
});

/**
 * Compiles an attribute. `root` is the cost of its name: 1, or 0 for the branch of a conditional, whose name cel-go
 * resolves without counting.
 */
export function compileAttribute(ctx: CompileContext, e: Expr, root: 0 | 1): Compiled {
  if (e.kind === 'ident') return compileBinding(ctx, e, root);
  if (e.kind === 'select') return compileSelect(ctx, e, root);
  if (e.kind === 'call') {
    if (e.resolved === '_[_]' || e.resolved === '_[?_]') return compileIndex(ctx, e, root);
    if (e.resolved === '_?._') return compileOptionalSelect(ctx, e, root);
    if (e.resolved === '_?_:_') return compileConditional(ctx, e);
  }
  return ctx.compile(e);
}

function compileBinding(ctx: CompileContext, e: Ident | Select, root: 0 | 1): Compiled {
  const binding: Binding | undefined = e.binding;
  if (binding === undefined) return attribute(() => new Failure(`no such attribute(s): ${nameOf(e)}`, e.at));
  if (binding.kind === 'constant') return constant(binding.value);
  const slot = slotOf(ctx, binding);
  const init = ctx.slots.lazy.get(slot);
  if (init === undefined) {
    return attribute((f) => {
      f.cost += root;
      return f.slots[slot]!;
    });
  }
  return attribute((f) => {
    f.cost += root;
    const known = f.slots[slot]!;
    if (known !== UNSET) return known;
    const v = init(f);
    f.slots[slot] = v;
    return v;
  });
}

const slotOf = (ctx: CompileContext, binding: Exclude<Binding, { kind: 'constant' }>): number =>
  binding.kind === 'variable' ? ctx.slots.variable(binding.name) : ctx.slots.local(binding.local);

const nameOf = (e: Ident | Select): string => (e.kind === 'ident' ? e.name : e.field);

/** The cost that `X.f` adds to the cost of X. */
const stepCost = (operand: Expr, root: 0 | 1): number => (isAttribute(operand) ? 1 : 1 + root);

function compileSelect(ctx: CompileContext, e: Select, root: 0 | 1): Compiled {
  if (e.binding !== undefined) return compileBinding(ctx, e, root);
  if (e.testOnly) return compileHas(ctx, e);
  const reader = fieldReader(ctx, e.operand.type, e.field);
  const key = e.property ?? e.field;
  const path = reader === undefined ? plainPath(ctx, e) : undefined;
  if (path !== undefined) return pathNode(path, root);
  const operand = compileAttribute(ctx, e.operand, root).run;
  const cost = stepCost(e.operand, root);
  const at = e.at;
  const read = isReservedKey(key) ? selectSlowly : selectField;
  if (reader === undefined) {
    return attribute((f) => {
      f.cost += cost;
      return read(operand(f), key, at, f);
    });
  }
  return attribute((f) => {
    f.cost += cost;
    return readOnce(f, reader, read(operand(f), key, at, f));
  });
}

interface Path {
  readonly slot: number;
  readonly keys: readonly string[];
  readonly places: readonly number[];
}

/** A chain of plain field names from a variable. Undefined if any part needs special handling. */
function plainPath(ctx: CompileContext, e: Select): Path | undefined {
  const keys: string[] = [];
  const places: number[] = [];
  let at: Expr = e;
  for (; at.kind === 'select' && at.binding === undefined; at = at.operand) {
    const key: string = at.property ?? at.field;
    if (at.testOnly || isReservedKey(key)) return undefined;
    if (fieldReader(ctx, at.operand.type, at.field) !== undefined) return undefined;
    keys.unshift(key);
    places.unshift(at.at);
  }
  if (at.kind !== 'ident' && at.kind !== 'select') return undefined;
  const { binding } = at;
  if (binding === undefined || binding.kind === 'constant') return undefined;
  const slot = slotOf(ctx, binding);
  return ctx.slots.lazy.has(slot) ? undefined : { slot, keys, places };
}

function pathNode(path: Path, root: 0 | 1): Compiled {
  const run = runPath(path, root);
  const [key, ...more] = path.keys;
  if (key === undefined || more.length > 0) return attribute(run);
  return { run, attribute: true, field: { slot: path.slot, key, cost: 1 + root } };
}

function runPath({ slot, keys, places }: Path, root: 0 | 1): Run {
  const cost = keys.length + root;
  const [k0, k1, k2] = keys as [string, string, string];
  const [p0, p1, p2] = places as [number, number, number];
  switch (keys.length) {
    case 1:
      return (f) => {
        f.cost += cost;
        return selectField(f.slots[slot]!, k0, p0, f);
      };
    case 2:
      return (f) => {
        f.cost += cost;
        return selectField(selectField(f.slots[slot]!, k0, p0, f), k1, p1, f);
      };
    case 3:
      return (f) => {
        f.cost += cost;
        return selectField(selectField(selectField(f.slots[slot]!, k0, p0, f), k1, p1, f), k2, p2, f);
      };
    default:
      return (f) => {
        f.cost += cost;
        let v: Value = f.slots[slot]!;
        for (let i = 0; i < keys.length; i++) v = selectField(v, keys[i]!, places[i]!, f);
        return v;
      };
  }
}

/** `o.key` for a key that exists on no prototype. */
function selectField(o: Value, key: string, at: number, f: Frame): Value {
  if (typeof o === 'object' && o !== null) {
    const v = (o as { readonly [key: string]: Value | undefined })[key];
    if (v !== undefined) return typeof v === 'string' || typeof v === 'object' ? v : adapt(v);
  }
  return selectSlowly(o, key, at, f);
}

/** `o.key` for all other cases: CelMaps, optionals, errors, and missing keys. */
function selectSlowly(o: Value, key: string, at: number, f: Frame): Value {
  if (o instanceof Failure) {
    // The path failed earlier, so this step was not taken.
    f.cost -= 1;
    return o;
  }
  if (o instanceof Optional) return optionalStep(o, key, at, f);
  const found = find(o, key);
  if (found !== undefined) return locate(found, at);
  f.work(20);
  return locate(missingKey(key), at);
}

/** A step after an optional. It costs only if the optional has a value. */
function optionalStep(o: Value, key: Value, at: number, f: Frame): Value {
  const v = indexOptional(o, key, f.strictPresence);
  if (v === NONE) f.cost -= 1;
  return locate(v, at);
}

function compileHas(ctx: CompileContext, e: Select): Compiled {
  const operand = compileAttribute(ctx, e.operand, 0).run;
  const cost = ctx.env.options.presenceTestCost ? 2 : 1;
  const key = e.property ?? e.field;
  const at = e.at;
  const strict = ctx.env.options.strictPresence;
  return attribute((f) => {
    f.cost += cost;
    return locate(has(operand(f), key, strict), at);
  });
}

function compileOptionalSelect(ctx: CompileContext, e: Call, root: 0 | 1): Compiled {
  const [operand, key] = e.args as [Expr, Expr];
  const field = key.kind === 'literal' && typeof key.value === 'string' ? key.value : '';
  const run = compileAttribute(ctx, operand, root).run;
  const cost = stepCost(operand, root);
  const reader = fieldReader(ctx, operand.type, field);
  const property = fieldProperty(ctx, operand.type, field);
  return attribute((f) => {
    f.cost += cost;
    const v = optionalStep(run(f), property, e.at, f);
    return reader === undefined ? v : readOnce(f, reader, v);
  });
}

function compileIndex(ctx: CompileContext, e: Call, root: 0 | 1): Compiled {
  const [container, key] = e.args as [Expr, Expr];
  const optional = e.resolved === '_[?_]';
  const operand = compileAttribute(ctx, container, root).run;
  const keyNode = ctx.compile(key);
  const at = e.at;
  const base = isAttribute(container) ? 0 : root;
  const cost = base + (keyNode.attribute === true ? 0 : 1);
  if (optional) {
    const run = keyNode.run;
    return attribute((f) => {
      f.cost += cost;
      const o = operand(f);
      return optionalStep(o, run(f), at, f);
    });
  }
  if (isConstant(keyNode) && typeof keyNode.constant === 'string') {
    const name = keyNode.constant;
    const read = isReservedKey(name) ? selectSlowly : selectField;
    return attribute((f) => {
      f.cost += cost;
      return read(operand(f), name, at, f);
    });
  }
  const run = keyNode.run;
  return attribute((f) => {
    f.cost += cost;
    const o = operand(f);
    if (o instanceof Failure) return o;
    const k = run(f);
    return o instanceof Optional ? optionalStep(o, k, at, f) : locate(index(o, k), at);
  });
}

const readers = new WeakMap<CelType, { readonly reader: Reader | undefined }>();

/** How to read the field of a structural type; see convert.ts. */
function fieldReader(
  ctx: CompileContext,
  operandType: CelType | undefined,
  field: string,
): Reader | undefined {
  const declared = declaredField(ctx, operandType, field);
  if (declared === undefined) return undefined;
  const known = readers.get(declared.type);
  if (known !== undefined) return known.reader;
  const reader = readerFor(declared.type);
  readers.set(declared.type, { reader });
  return reader;
}

const fieldProperty = (ctx: CompileContext, operandType: CelType | undefined, field: string): string =>
  declaredField(ctx, operandType, field)?.property ?? field;

function declaredField(ctx: CompileContext, operandType: CelType | undefined, field: string) {
  if (operandType === undefined) return undefined;
  const target = operandType.kind === 'opaque' ? operandType.params[0] : operandType;
  return target?.kind === 'struct' ? ctx.env.provider?.field(target.name, field) : undefined;
}

/** Converts a value to its declared type. Lists and maps are converted once per evaluation. */
function readOnce(f: Frame, reader: Reader, v: Value): Value {
  if (typeof v !== 'object' || v === null) return reader(v);
  if (v instanceof Optional)
    return v.heldValue === undefined ? v : new Optional(readOnce(f, reader, v.heldValue));
  const known = f.read.get(v);
  if (known !== undefined) return known;
  if (Array.isArray(v)) f.work(v.length);
  const result = reader(v);
  f.read.set(v, result);
  return result;
}
