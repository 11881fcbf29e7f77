// What compiling yields: a closure per node, with what its surroundings need to know to combine it.

import type { Expr, Local } from '../ast.ts';
import type { Environment } from '../environment.ts';
import type { Frame } from '../frame.ts';
import { Failure, type Value } from '../values.ts';

export type Run = (f: Frame) => Value;

export interface Compiled {
  readonly run: Run;
  /** The value, when it is known before running; reading it is free. */
  readonly constant?: Value;
  /** The same for what cel-go does not see through, and so bills as if it had to be worked out. */
  readonly settled?: boolean;
  /**
   * Names, selections, indexes and conditionals form attributes, whose parts cost one unit each; anything else costs
   * a unit more when something is selected from it.
   */
  readonly attribute?: boolean;
  /** Set for `variable.field` with nothing special about either: who combines it may read the field directly. */
  readonly field?: { readonly slot: number; readonly key: string; readonly cost: number };
}

export interface CompileContext {
  readonly env: Environment;
  readonly slots: Slots;
  /** Constant parts that can only fail. */
  readonly hopeless: Failure[];
  compile(e: Expr): Compiled;
}

export const constant = (value: Value): Compiled => ({ run: () => value, constant: value });

export const isConstant = (c: Compiled): c is Compiled & { readonly constant: Value } =>
  c.constant !== undefined;

/** Where values live during an evaluation: one place per variable read and one per local. */
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

  /** Initial values of locals that are worked out when first read. */
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

/** Notes where a fresh error arose. */
export function locate(v: Value, at: number): Value {
  if (typeof v === 'object' && v instanceof Failure && v.errorOffset < 0) v.errorOffset = at;
  return v;
}

/** A value that should have been a bool but was something else. */
export const notBool = (v: Value, at: number): Failure =>
  v instanceof Failure ? v : new Failure('no such overload', at);
