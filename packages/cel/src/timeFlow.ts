// Analyzes how the parts of a condition depend on the variable `time`: not at all, linearly (time plus or minus a
// constant), or in another way. Comparisons of linear parts change their result at instants that can be computed.

import type { Binding } from './ast.ts';
import { type Call, children, type Expr, type Local } from './ast.ts';
import { TIME } from './timeName.ts';

/** 0: independent of time. +1, -1: grows or shrinks with time. Undefined: depends on time in a non-linear way. */
export type Slope = 0 | 1 | -1 | undefined;

export interface TimeFlow {
  /** Comparisons whose sides change relative to each other, and the slope of left minus right. */
  readonly comparisons: ReadonlyMap<Call, 1 | -1>;
  /** Whether the result depends on time only through those comparisons. */
  readonly analysable: boolean;
}

const COMPARISONS = new Set(['_<_', '_<=_', '_>_', '_>=_', '_==_', '_!=_']);

const isTime = (binding: Binding | undefined): boolean =>
  binding?.kind === 'variable' && binding.name === TIME;

export function analyseTime(root: Expr): TimeFlow {
  const flow = new Flow();
  const slope = flow.slope(root);
  return { comparisons: flow.comparisons, analysable: slope === 0 && !flow.lost };
}

class Flow {
  readonly comparisons = new Map<Call, 1 | -1>();
  lost = false;
  readonly #locals = new Map<Local, Slope>();

  slope(e: Expr): Slope {
    switch (e.kind) {
      case 'ident':
        if (e.binding?.kind === 'local')
          return this.#locals.has(e.binding.local) ? this.#locals.get(e.binding.local) : 0;
        return isTime(e.binding) ? 1 : 0;
      case 'select':
        return e.binding === undefined ? this.#still(e) : isTime(e.binding) ? 1 : 0;
      case 'call':
        return this.#call(e);
      case 'bind':
        this.#locals.set(e.local, this.slope(e.init));
        return this.slope(e.body);
      case 'block':
        for (const { local, init } of e.slots) this.#locals.set(local, this.slope(init));
        return this.slope(e.body);
      default:
        return this.#still(e);
    }
  }

  /** A node that can be analyzed only if none of its parts depends on time. */
  #still(e: Expr): Slope {
    let moving = false;
    for (const child of children(e)) if (this.slope(child) !== 0) moving = true;
    if (moving) this.lost = true;
    return moving ? undefined : 0;
  }

  #call(e: Call): Slope {
    const name = e.resolved ?? e.function;
    const [left, right] = e.args;
    if (e.args.length !== 2 || left === undefined || right === undefined) return this.#still(e);
    if (COMPARISONS.has(name)) return this.#compare(e, this.slope(left), this.slope(right));
    if (name !== '_+_' && name !== '_-_') return this.#still(e);
    return this.#sum(this.slope(left), this.slope(right), name === '_+_' ? 1 : -1);
  }

  #sum(a: Slope, b: Slope, sign: 1 | -1): Slope {
    if (a === undefined || b === undefined) return undefined;
    const sum = a + sign * b;
    if (sum === 0 || sum === 1 || sum === -1) return sum;
    this.lost = true;
    return undefined;
  }

  /** The result of a comparison is constant except where the two sides are equal. */
  #compare(e: Call, a: Slope, b: Slope): Slope {
    if (a === undefined || b === undefined) return undefined;
    const slope = a - b;
    if (slope === 1 || slope === -1) this.comparisons.set(e, slope);
    else if (slope !== 0) this.lost = true;
    return slope === 2 || slope === -2 ? undefined : 0;
  }
}
