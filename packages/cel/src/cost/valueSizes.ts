// Records the values of a program for the cost estimate: where in the schema they come from, and how large they and
// their elements may be.

import type { Expr, Local } from '../ast.ts';
import type { Environment } from '../environment.ts';
import { codePointLength } from '../text.ts';
import { type CelType, DYN, isOptional } from '../types.ts';
import type { Value } from '../values.ts';
import { MOST, type Range, range, UNKNOWN, union } from './ranges.ts';

const ONE = range(1);

/** Sizes of the keys and values of a list or map. */
export interface Entries {
  readonly list: boolean;
  readonly key: Range;
  readonly value: Range;
}

export interface Variable {
  readonly path: readonly string[];
  readonly size: Range | undefined;
  readonly entries: Entries | undefined;
}

const SCALARS = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);
const isScalar = (t: CelType): boolean => SCALARS.has(t.kind) || (isOptional(t) && isScalar(t.params[0]!));
export const typeOf = (e: Expr): CelType => e.type ?? DYN;

export class ValueSizes {
  readonly #env: Environment;
  readonly #paths = new Map<Expr, readonly string[]>();
  readonly #sizes = new Map<Expr, Range>();
  readonly #entries = new Map<Expr, Entries>();
  readonly #variables = new Map<Local, Variable>();

  constructor(env: Environment) {
    this.#env = env;
  }

  declare(local: Local, variable: Variable): void {
    this.#variables.set(local, variable);
  }

  setPath(e: Expr, path: readonly string[]): void {
    this.#paths.set(e, path);
  }

  setSize(e: Expr, size: Range | undefined): void {
    if (size !== undefined) this.#sizes.set(e, size);
  }

  variable(e: Expr): Variable | undefined {
    if (e.kind !== 'ident' || e.binding?.kind !== 'local') return undefined;
    return this.#variables.get(e.binding.local);
  }

  path(e: Expr): readonly string[] {
    return this.variable(e)?.path ?? this.#paths.get(e) ?? [];
  }

  size(e: Expr): Range {
    return this.sizeOf(e) ?? UNKNOWN;
  }

  sizeOf(e: Expr): Range | undefined {
    const known = this.#sizes.get(e) ?? literalSize(e);
    if (known !== undefined) return known;
    const bounds = this.bounds(this.path(e), typeOf(e));
    if (bounds !== undefined) {
      this.#sizes.set(e, bounds);
      return bounds;
    }
    if (isScalar(typeOf(e))) return ONE;
    return this.variable(e)?.size;
  }

  /** The size that the schema declares for the value at a path. */
  bounds(path: readonly string[], type: CelType): Range | undefined {
    if (path.length === 0) return undefined;
    const bounds = this.#env.provider?.size?.(path, type);
    return bounds === undefined
      ? undefined
      : range(bounds.min, bounds.max === Number.POSITIVE_INFINITY ? MOST : bounds.max);
  }

  entriesOf(e: Expr): Entries | undefined {
    return this.#entries.get(e) ?? this.variable(e)?.entries;
  }

  setEntries(e: Expr, entries: Entries | undefined): void {
    if (entries !== undefined) this.#entries.set(e, entries);
  }

  copySizes(to: Expr, from: Expr): void {
    const size = this.sizeOf(from);
    if (size !== undefined) this.#sizes.set(to, size);
    this.setEntries(to, this.entriesOf(from));
  }

  variableSize(local: Local): Range {
    const variable = this.#variables.get(local);
    const type = local.type ?? DYN;
    const bounds = this.bounds(variable?.path ?? [], type);
    return bounds ?? (isScalar(type) ? ONE : (variable?.size ?? UNKNOWN));
  }
}

/** The size of a literal. */
function literalSize(e: Expr): Range | undefined {
  if (e.kind === 'list') return range(e.elements.length);
  if (e.kind === 'map') return range(e.entries.length);
  return e.kind === 'literal' ? valueSize(e.value) : undefined;
}

function valueSize(v: Value): Range {
  if (typeof v === 'string') return range(codePointLength(v));
  return range(v instanceof Uint8Array ? v.length : 1);
}

export function unionEntries(a: Entries | undefined, b: Entries | undefined): Entries | undefined {
  if (a === undefined || b === undefined) return undefined;
  return { list: a.list, key: union(a.key, b.key), value: union(a.value, b.value) };
}
