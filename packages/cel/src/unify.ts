// Type assignability and the substitution of free type parameters.
// The rules equal cel-go's, including the lenient ones: dyn is assignable to everything, null to messages and opaque
// types.

import { type CelType, DYN, isDyn, isDynOrError, listOf, mapOf, opaque, sameType, typeOf } from './types.ts';

const NULL_FRIENDLY = new Set(['opaque', 'struct', 'any', 'duration', 'timestamp']);

const acceptsNull = (t: CelType): boolean => t.nullable || NULL_FRIENDLY.has(t.kind);

/** Free type parameters and their substitutions. A failed attempt changes nothing. */
export class Substitution {
  readonly #found = new Map<string, CelType>();
  #trail: [name: string, before: CelType | undefined][] = [];
  #fresh = 0;

  /** A new, unused type parameter. */
  freshParam(make: (name: string) => CelType): CelType {
    return make(`_var${this.#fresh++}`);
  }

  /** Binds a parameter without a check. */
  rename(name: string, to: CelType): void {
    this.#found.set(name, to);
  }

  /** Whether `given` is assignable to `wanted`. Binds parameters only on success. */
  assign(given: CelType, wanted: CelType): boolean {
    return this.assignAll([given], [wanted]);
  }

  assignAll(given: readonly CelType[], wanted: readonly CelType[]): boolean {
    this.#trail = [];
    if (this.#fitsAll(given, wanted)) return true;
    for (const [name, before] of this.#trail.reverse()) {
      if (before === undefined) this.#found.delete(name);
      else this.#found.set(name, before);
    }
    return false;
  }

  /** Replaces bound parameters. Unbound ones become dyn if `final`. */
  apply(t: CelType, final: boolean): CelType {
    if (t.kind === 'param') {
      const found = this.#found.get(t.name);
      if (found !== undefined) return this.apply(found, final);
      return final ? DYN : t;
    }
    if (t.params.length === 0) return t;
    const params = t.params.map((p) => this.apply(p, final));
    if (params.every((p, i) => p === t.params[i])) return t;
    return withParams(t, params);
  }

  #bind(name: string, to: CelType): void {
    this.#trail.push([name, this.#found.get(name)]);
    this.#found.set(name, to);
  }

  #fitsAll(given: readonly CelType[], wanted: readonly CelType[]): boolean {
    return given.length === wanted.length && given.every((g, i) => this.#fits(g, wanted[i]!));
  }

  #fits(given: CelType, wanted: CelType): boolean {
    if (wanted.kind === 'param') {
      const tried = this.#tryBind(given, wanted);
      if (tried.valid) return true;
      if (tried.bound) return false;
    }
    if (given.kind === 'param') return this.#tryBind(wanted, given).valid;
    if (isDynOrError(given) || isDynOrError(wanted)) return true;
    if (given.kind === 'null') return wanted.kind === 'null' || acceptsNull(wanted);
    if (wanted.kind === 'null') return acceptsNull(given);
    return this.#sameShape(given, wanted);
  }

  #sameShape(given: CelType, wanted: CelType): boolean {
    if (given.kind !== wanted.kind) return false;
    switch (given.kind) {
      case 'type':
        return true;
      case 'opaque':
      case 'list':
      case 'map':
        return given.name === wanted.name && this.#fitsAll(given.params, wanted.params);
      case 'struct':
        return given.name === wanted.name;
      default:
        return true;
    }
  }

  /** Whether `p` (or its substitution) may be `t`, and whether it was bound before. */
  #tryBind(t: CelType, p: CelType): { valid: boolean; bound: boolean } {
    if (sameType(t, p)) return { valid: true, bound: true };
    const before = this.#found.get(p.name);
    if (before === undefined) {
      if (!this.#isFreeOf(p, t)) return { valid: false, bound: false };
      this.#bind(p.name, t);
      return { valid: true, bound: false };
    }
    if (sameType(t, before)) return { valid: true, bound: true };
    if (!this.#fits(t, before)) return { valid: false, bound: true };
    const general = mostGeneral(t, before);
    if (this.#isFreeOf(p, general)) this.#bind(p.name, general);
    return { valid: true, bound: true };
  }

  /** The occurs check: a parameter must not be bound to something that contains it. */
  #isFreeOf(p: CelType, within: CelType): boolean {
    if (sameType(p, within)) return false;
    if (within.kind === 'param') {
      const found = this.#found.get(within.name);
      return found === undefined || this.#isFreeOf(p, found);
    }
    return within.params.every((inner) => this.#isFreeOf(p, inner));
  }
}

function withParams(t: CelType, params: CelType[]): CelType {
  switch (t.kind) {
    case 'list':
      return listOf(params[0]!, t.semantics);
    case 'map':
      return mapOf(params[0]!, params[1]!);
    case 'type':
      return typeOf(params[0]!);
    default:
      return opaque(t.name, ...params);
  }
}

/** The more general of two compatible types. */
export function mostGeneral(a: CelType, b: CelType): CelType {
  if (b.kind === 'null' && acceptsNull(a)) return a;
  return isMoreGeneral(a, b) ? a : b;
}

function isMoreGeneral(a: CelType, b: CelType): boolean {
  if (isDyn(a) || a.kind === 'param') return true;
  if (isDyn(b) || b.kind === 'param') return false;
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'opaque':
    case 'list':
    case 'map':
      return (
        a.name === b.name &&
        a.params.length === b.params.length &&
        a.params.every((p, i) => isMoreGeneral(p, b.params[i]!))
      );
    case 'type':
      return true;
    default:
      return sameType(a, b);
  }
}
