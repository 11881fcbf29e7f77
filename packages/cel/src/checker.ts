// The type checker: resolves names, overloads and fields. It writes types, bindings and overloads into the tree and
// reports all errors with cel-go's messages.

import type { Binding, Call, Expr, Ident, ListExpr, Local, MapExpr, Select, StructExpr } from './ast.ts';
import { qualifiedName } from './ast.ts';
import { resolveCall, resolveOptionalSelect } from './checkCalls.ts';
import { checkBlock, checkFold, checkOptMap } from './checkFolds.ts';
import type { Environment } from './environment.ts';
import { type Issue, Problems, type Source } from './source.ts';
import {
  BOOL,
  type CelType,
  DYN,
  ERROR,
  formatType,
  isDyn,
  isDynOrError,
  isOptional,
  listOf,
  mapOf,
  optionalOf,
  param,
  structOf,
  unwrapOptional,
} from './types.ts';
import { mostGeneral, Substitution } from './unify.ts';
import { wellKnownField, wellKnownStruct } from './wellKnown.ts';

export interface Checked {
  readonly issues: readonly Issue[];
  /** Names of the variables the program reads. */
  readonly variables: ReadonlySet<string>;
}

export function check(root: Expr, source: Source, env: Environment): Checked {
  const checker = new Checker(source, env);
  checker.check(root);
  checker.finish();
  return { issues: checker.issues, variables: checker.used };
}

export class Checker {
  readonly env: Environment;
  readonly subst = new Substitution();
  readonly used = new Set<string>();
  readonly #problems: Problems;
  readonly #typed: (Expr | Local)[] = [];
  #locals: Local[] = [];

  constructor(source: Source, env: Environment) {
    this.#problems = new Problems(source);
    this.env = env;
  }

  get issues(): readonly Issue[] {
    return this.#problems.list;
  }

  report(at: number, message: string): void {
    this.#problems.add(at, message);
  }

  mismatch(at: number, expected: CelType, actual: CelType): void {
    this.report(at, `expected type '${formatType(expected)}' but found '${formatType(this.now(actual))}'`);
  }

  freshParam(): CelType {
    return this.subst.freshParam(param);
  }

  /** The type with its currently known parameters substituted. */
  now(t: CelType): CelType {
    return this.subst.apply(t, false);
  }

  setType(e: Expr | Local, t: CelType): CelType {
    e.type = t;
    this.#typed.push(e);
    return t;
  }

  /** Writes the final types. Parameters that are still free become dyn. */
  finish(): void {
    for (const e of this.#typed) e.type = this.subst.apply(e.type!, true);
  }

  /** Runs `inner` with the locals in scope. */
  within<T>(locals: readonly Local[], inner: () => T): T {
    const outer = this.#locals;
    this.#locals = [...outer, ...locals];
    const result = inner();
    this.#locals = outer;
    return result;
  }

  /** Checks one expression and returns its type. */
  check(e: Expr): CelType {
    return this.setType(e, this.#typeOf(e));
  }

  #typeOf(e: Expr): CelType {
    switch (e.kind) {
      case 'literal':
        return e.literalType;
      case 'ident':
        return this.#ident(e);
      case 'select':
        return this.#select(e);
      case 'call':
        return this.#call(e);
      case 'logical':
        return this.#logical(e.terms);
      case 'list':
        return this.#list(e);
      case 'map':
        return this.#map(e);
      case 'struct':
        return this.#struct(e);
      case 'fold':
        return checkFold(this, e);
      case 'optMap':
        return checkOptMap(this, e);
      case 'bind':
        this.setType(e.local, this.check(e.init));
        return this.within([e.local], () => this.check(e.body));
      case 'block':
        return checkBlock(this, e);
      default:
        return ERROR;
    }
  }

  /** The declaration of a name. Locals hide variables, variables hide constants. */
  lookup(name: string): { type: CelType; binding: Binding } | undefined {
    const local = name.startsWith('.') ? undefined : this.#locals.findLast((l) => l.name === name);
    if (local?.type !== undefined) return { type: local.type, binding: { kind: 'local', local } };
    for (const candidate of this.env.candidates(name)) {
      const type = this.env.variables.get(candidate);
      if (type !== undefined) return { type, binding: { kind: 'variable', name: candidate } };
      const constant = this.env.constants.get(candidate);
      if (constant !== undefined)
        return { type: constant.type, binding: { kind: 'constant', value: constant.value } };
    }
    return undefined;
  }

  #bindTo(e: Ident | Select, found: { type: CelType; binding: Binding }): CelType {
    e.binding = found.binding;
    if (found.binding.kind === 'variable') this.used.add(found.binding.name);
    return found.type;
  }

  undeclared(at: number, name: string): CelType {
    this.report(at, `undeclared reference to '${name}' (in container '${this.env.container}')`);
    return ERROR;
  }

  #ident(e: Ident): CelType {
    const found = this.lookup(e.name);
    return found === undefined ? this.undeclared(e.at, e.name) : this.#bindTo(e, found);
  }

  #select(e: Select): CelType {
    const name = qualifiedName(e);
    const root = name?.slice(0, name.indexOf('.'));
    const shadowed = root !== undefined && this.#locals.some((l) => l.name === root);
    const found = name === undefined || shadowed ? undefined : this.lookup(name);
    if (found !== undefined) return this.#bindTo(e, found);
    const result = this.fieldType(e, e.operand, e.field, false);
    return e.testOnly ? BOOL : this.now(result);
  }

  /** The type of `operand.field`; also used for `operand.?field`. */
  fieldType(e: Select | Call, operand: Expr, field: string, optional: boolean): CelType {
    const operandType = this.now(this.check(operand));
    const target = unwrapOptional(operandType);
    const result = this.#fieldOf(e, target, field);
    return optional || isOptional(operandType) ? optionalOf(result) : result;
  }

  #fieldOf(e: Select | Call, target: CelType, field: string): CelType {
    switch (target.kind) {
      case 'map':
        return target.params[1]!;
      case 'struct':
        return this.structField(e, target.name, field) ?? ERROR;
      case 'param':
        this.subst.assign(DYN, target);
        return DYN;
      default:
        if (!isDynOrError(target)) {
          this.report(e.at, `type '${formatType(target)}' does not support field selection`);
        }
        return DYN;
    }
  }

  structField(e: { at: number; kind?: string }, struct: string, field: string): CelType | undefined {
    const known = wellKnownField(struct, field) ?? this.env.provider?.field(struct, field);
    if (known === undefined) {
      const isStruct = wellKnownStruct(struct) !== undefined || this.env.provider?.hasStruct(struct);
      // Library types are structs without a declaration; cel-go reports them as unexpected.
      this.report(
        e.at,
        isStruct ? `undefined field '${field}'` : `unexpected failed resolution of '${struct}'`,
      );
      return undefined;
    }
    if (known.property !== undefined && e.kind === 'select') (e as Select).property = known.property;
    return known.type;
  }

  #call(e: Call): CelType {
    if (e.function === '_?._') return resolveOptionalSelect(this, e);
    return resolveCall(this, e);
  }

  #logical(terms: readonly Expr[]): CelType {
    const types = terms.map((t) => this.check(t));
    for (const [i, t] of types.entries()) {
      if (!this.subst.assign(t, BOOL)) this.mismatch(terms[i]!.at, BOOL, t);
    }
    return BOOL;
  }

  /** The inner type of an optional entry (`?x`). Reports an error if it is not optional. */
  #optionalEntry(e: Expr, t: CelType): CelType {
    const actual = this.now(t);
    if (!isOptional(actual) && !isDyn(actual)) this.mismatch(e.at, optionalOf(actual), actual);
    return unwrapOptional(actual);
  }

  #join(before: CelType | undefined, current: CelType): CelType {
    if (before === undefined) return current;
    if (this.subst.assign(before, current)) return mostGeneral(before, current);
    return DYN;
  }

  #list(e: ListExpr): CelType {
    let element: CelType | undefined;
    for (const { value, optional } of e.elements) {
      const t = this.check(value);
      element = this.#join(element, optional ? this.#optionalEntry(value, t) : t);
    }
    return listOf(element ?? this.freshParam());
  }

  #map(e: MapExpr): CelType {
    let key: CelType | undefined;
    let value: CelType | undefined;
    for (const entry of e.entries) {
      key = this.#join(key, this.check(entry.key));
      const t = this.check(entry.value);
      value = this.#join(value, entry.optional ? this.#optionalEntry(entry.value, t) : t);
    }
    return mapOf(key ?? this.freshParam(), value ?? this.freshParam());
  }

  #struct(e: StructExpr): CelType {
    const name = this.env
      .candidates(e.name)
      .find((c) => wellKnownStruct(c) !== undefined || this.env.provider?.hasStruct(c));
    if (name === undefined) {
      for (const field of e.fields) this.check(field.value);
      return this.undeclared(e.at, e.name);
    }
    e.resolved = name;
    for (const { name: field, at, value, optional } of e.fields) {
      const given = this.check(value);
      const valueType = optional ? this.#optionalEntry(value, given) : given;
      const wanted = this.structField({ at }, name, field) ?? ERROR;
      if (!this.subst.assign(wanted, valueType)) {
        const shown = formatType(this.now(valueType));
        this.report(
          at,
          `expected type of field '${field}' is '${formatType(wanted)}' but provided type is '${shown}'`,
        );
      }
    }
    return wellKnownStruct(name) ?? structOf(name);
  }
}
