// Overload resolution: which overloads a call matches, and the type of its result.

import { type Call, qualifiedName } from './ast.ts';
import type { Checker } from './checker.ts';
import type { FunctionDecl, Overload } from './declarations.ts';
import { type CelType, DYN, ERROR, formatSignature, isDyn, sameType } from './types.ts';
import { Substitution } from './unify.ts';

/** Checks the arguments and finds the function: a global one, a namespaced one (`math.abs`), or a member. */
export function resolveCall(c: Checker, e: Call): CelType {
  const args = e.args.map((a) => c.check(a));
  if (e.target === undefined) {
    const f = findFunction(c, e.function);
    if (f === undefined) return c.undeclared(e.at, e.function);
    e.resolved = f.name;
    return resolveOverload(c, e, f, args, false);
  }
  const prefix = qualifiedName(e.target);
  const namespaced = prefix === undefined ? undefined : findFunction(c, `${prefix}.${e.function}`);
  if (namespaced !== undefined) {
    e.resolved = namespaced.name;
    return resolveOverload(c, e, namespaced, args, false);
  }
  const target = c.check(e.target);
  const f = findFunction(c, e.function);
  if (f === undefined) return c.undeclared(e.at, e.function);
  return resolveOverload(c, e, f, [target, ...args], true);
}

/** `operand.?field`: like a field selection, with an optional result. */
export function resolveOptionalSelect(c: Checker, e: Call): CelType {
  const [operand, key] = e.args;
  const field = key?.kind === 'literal' && typeof key.value === 'string' ? key.value : '';
  c.setType(key!, c.check(key!));
  e.resolved = e.function;
  e.overloads = ['select_optional_field'];
  return c.now(c.fieldType(e, operand!, field, true));
}

function findFunction(c: Checker, name: string): FunctionDecl | undefined {
  for (const candidate of c.env.candidates(name)) {
    const f = c.env.functions.get(candidate);
    if (f !== undefined) return f;
  }
  return undefined;
}

/** Finds all overloads that accept the arguments. If their result types differ, the result is dyn. */
export function resolveOverload(
  c: Checker,
  e: Call,
  f: FunctionDecl,
  args: readonly CelType[],
  isMember: boolean,
): CelType {
  let result: CelType | undefined;
  const matching: string[] = [];
  for (const o of f.overloads) {
    if (o.member !== isMember || o.params.length !== args.length) continue;
    const { params, result: declared } = instantiate(c, o);
    if (!c.subst.assignAll(args, params)) continue;
    matching.push(o.id);
    const actual = c.now(declared);
    if (result === undefined) result = actual;
    else if (!isDyn(result) && !sameType(actual, result)) result = DYN;
  }
  e.overloads = matching;
  if (result !== undefined) return result;
  noMatchingOverload(c, e.at, f.name, args, isMember);
  return ERROR;
}

export function noMatchingOverload(
  c: Checker,
  at: number,
  name: string,
  args: readonly CelType[],
  isMember: boolean,
): void {
  const shown = args.map((a) => c.subst.apply(a, true));
  c.report(at, `found no matching overload for '${name}' applied to '${formatSignature(shown, isMember)}'`);
}

const generic = new WeakMap<Overload, readonly string[]>();

/** The names of an overload's type parameters. */
function paramNames(o: Overload): readonly string[] {
  const known = generic.get(o);
  if (known !== undefined) return known;
  const names = new Set<string>();
  const visit = (t: CelType): void => {
    if (t.kind === 'param') names.add(t.name);
    t.params.forEach(visit);
  };
  [...o.params, o.result].forEach(visit);
  const list = [...names];
  generic.set(o, list);
  return list;
}

/** The overload with fresh type parameters, so that the types of calls do not affect each other. */
function instantiate(c: Checker, o: Overload): { params: readonly CelType[]; result: CelType } {
  const names = paramNames(o);
  if (names.length === 0) return o;
  const renaming = new Substitution();
  for (const name of names) renaming.rename(name, c.freshParam());
  return { params: o.params.map((p) => renaming.apply(p, false)), result: renaming.apply(o.result, false) };
}
