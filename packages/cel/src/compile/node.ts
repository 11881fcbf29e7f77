// The result of compiling a node: a closure, and the properties that enclosing nodes need.

import type { Expr, Local } from '../ast.ts';
import type { Environment } from '../environment.ts';
import type { Frame } from '../frame.ts';
import { Failure, type Value } from '../values.ts';

export type Run = (f: Frame) => Value;

export interface Compiled {
  readonly run: Run;
  /** The value, if it is known at compile time. Reading it costs nothing. */
  readonly constant?: Value;
  /** Also known at compile time, but not by cel-go, which therefore charges for its evaluation. */
  readonly settled?: boolean;
  /**
   * Names, selections, indexes and conditionals form attributes, whose parts cost one unit each. Selecting from any
   * other node costs one unit more.
   */
  readonly attribute?: boolean;
  /** Set for a plain `variable.field`: an enclosing node may read the field directly. */
  readonly field?: { readonly slot: number; readonly key: string; readonly cost: number };
}

export interface CompileContext {
  readonly env: Environment;
  readonly slots: Slots;
  /** Errors of constant parts that always fail. */
  readonly constantFailures: Failure[];
  compile(e: Expr): Compiled;
}

export const constant = (value: Value): Compiled => ({ run: () => value, constant: value });

export const isConstant = (c: Compiled): c is Compiled & { readonly constant: Value } =>
  c.constant !== undefined;

/** Allocates the slots of an evaluation: one per variable that is read and one per local. */
export class Slots {
  readonly variables = new Map<string, number>();
  readonly #locals = new Map<Local, number>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  variable(name: string): number {
    const known = this.variables.get(name);
    if (known !== undefined) return known;
    this.variables.set(name, this.#size);
    return this.#size++;
  }

  /** Initializers of locals that are evaluated on first use. */
  readonly lazy = new Map<number, Run>();

  lazyLocal(local: Local, init: Run): number {
    const slot = this.local(local);
    this.lazy.set(slot, init);
    return slot;
  }

  local(local: Local): number {
    const known = this.#locals.get(local);
    if (known !== undefined) return known;
    this.#locals.set(local, this.#size);
    return this.#size++;
  }
}

/** Sets the position of a new error. */
export function locate<V extends Value>(v: V, at: number): V {
  if (typeof v === 'object' && v instanceof Failure && v.errorOffset < 0) v.errorOffset = at;
  return v;
}

/** The error for a value that is not a bool. */
export const notBool = (v: Value, at: number): Failure =>
  v instanceof Failure ? v : new Failure('no such overload', at);
