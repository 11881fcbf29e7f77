// Compiles the checked tree to closures.

import type { Bind, Block, Expr, OptMap } from '../ast.ts';
import type { Environment } from '../environment.ts';
import { Failure, NONE, Optional, type Value } from '../values.ts';
import { compileList, compileMap, compileStruct } from './aggregates.ts';
import { compileAttribute, UNSET } from './attributes.ts';
import { compileCall } from './calls.ts';
import { compileFold } from './folds.ts';
import { compileLogical } from './logic.ts';
import { type CompileContext, type Compiled, constant, type Run, Slots } from './node.ts';

export interface CompiledProgram {
  readonly run: Run;
  readonly slots: Slots;
  /** Errors of constant parts that always fail. Kubernetes rejects such programs. */
  readonly constantFailures: readonly Failure[];
}

/** Called with each node and its closure. May replace the closure. */
export type Instrument = (e: Expr, run: Run) => Run;

export function compileProgram(root: Expr, env: Environment, instrument?: Instrument): CompiledProgram {
  const ctx = new Compiler(env, instrument);
  const { run } = ctx.compile(root);
  return { run, slots: ctx.slots, constantFailures: ctx.constantFailures };
}

class Compiler implements CompileContext {
  readonly env: Environment;
  readonly slots = new Slots();
  readonly constantFailures: Failure[] = [];
  readonly #instrument: Instrument | undefined;

  constructor(env: Environment, instrument: Instrument | undefined) {
    this.env = env;
    this.#instrument = instrument;
  }

  compile(e: Expr): Compiled {
    const compiled = this.#node(e);
    if (this.#instrument === undefined) return compiled;
    const run = this.#instrument(e, compiled.run);
    // Reading the field directly would bypass the instrument.
    const { field: _, ...rest } = compiled;
    return { ...rest, run };
  }

  #node(e: Expr): Compiled {
    switch (e.kind) {
      case 'literal':
        return constant(e.value);
      case 'ident':
      case 'select':
        return compileAttribute(this, e, 1);
      case 'call':
        return compileCall(this, e);
      case 'logical':
        return compileLogical(this, e);
      case 'list':
        return compileList(this, e);
      case 'map':
        return compileMap(this, e);
      case 'struct':
        return compileStruct(this, e);
      case 'fold':
        return compileFold(this, e);
      case 'bind':
        return this.#bind(e);
      case 'block':
        return this.#block(e);
      case 'optMap':
        return this.#optMap(e);
      default:
        return { run: () => new Failure('syntax error', e.at) };
    }
  }

  /** The value is evaluated on first use, as in cel-go: an unused one costs nothing and cannot fail. */
  #bind(e: Bind): Compiled {
    const slot = this.slots.lazyLocal(e.local, this.compile(e.init).run);
    const body = this.compile(e.body).run;
    return {
      run: (f) => {
        f.work(1);
        f.slots[slot] = UNSET;
        return body(f);
      },
    };
  }

  #block(e: Block): Compiled {
    const slots = e.slots.map(({ local, init }) => this.slots.lazyLocal(local, this.compile(init).run));
    const body = this.compile(e.body).run;
    return {
      run: (f) => {
        f.work(slots.length);
        for (const slot of slots) f.slots[slot] = UNSET;
        return body(f);
      },
    };
  }

  /** cel-go evaluates the target twice, for the test and for the value. Here it is evaluated once and charged twice. */
  #optMap(e: OptMap): Compiled {
    const target = this.compile(e.target).run;
    const held = this.slots.local({ name: 'value' });
    const bill = this.slots.local({ name: 'bill' });
    const slot = this.slots.lazyLocal(e.local, (f) => {
      f.cost += f.slots[bill] as number;
      return f.slots[held]!;
    });
    const body = this.compile(e.body).run;
    const { flat, at } = e;
    return {
      run: (f): Value => {
        const before = f.cost;
        const t = target(f);
        const again = f.cost - before;
        f.cost += 1;
        if (!(t instanceof Optional)) return t instanceof Failure ? t : new Failure('no such overload', at);
        f.cost += flat && t.heldValue !== undefined ? 0 : 1;
        if (t.heldValue === undefined) return NONE;
        f.slots[bill] = again + 1;
        f.slots[held] = t.heldValue;
        f.slots[slot] = UNSET;
        const result = body(f);
        return flat || result instanceof Failure ? result : new Optional(result);
      },
    };
  }
}
