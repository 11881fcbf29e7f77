// Compiles `&&`, `||` and `?:`. The first two are commutative: an error on one side is ignored if the other side
// decides the result.

import type { Call, Expr, Logical } from '../ast.ts';
import { Failure, type Value } from '../values.ts';
import { compileAttribute } from './attributes.ts';
import { type CompileContext, type Compiled, notBool, type Run } from './node.ts';

export function compileLogical(ctx: CompileContext, e: Logical): Compiled {
  const deciding = e.op === '||';
  const terms: { run: Run; at: number }[] = [];
  for (const term of e.terms) {
    const compiled = ctx.compile(term);
    const known = compiled.settled ?? compiled.constant;
    // A constant term that cannot decide the result is skipped. One that decides it ends the chain.
    if (known === !deciding) continue;
    if (known === deciding && terms.length === 0) return settled(deciding);
    terms.push({ run: compiled.run, at: term.at });
    if (known === deciding) break;
  }
  if (terms.length === 0) return settled(!deciding);
  if (terms.length === 2) return { run: pair(deciding, terms[0]!.run, terms[1]!.run, e.at) };
  const runs = terms.map((t) => t.run);
  const at = e.at;
  return {
    run: (f) => {
      let error: Failure | undefined;
      for (const run of runs) {
        // A chain may be long, so the budget is checked between its terms.
        f.charge(0);
        const v = run(f);
        if (v === deciding) return deciding;
        if (typeof v !== 'boolean') error ??= notBool(v, at);
      }
      return error ?? !deciding;
    },
  };
}

const settled = (value: boolean): Compiled => ({ run: () => value, settled: value });

function pair(deciding: boolean, left: Run, right: Run, at: number): Run {
  return (f) => {
    const l = left(f);
    if (l === deciding) return deciding;
    const r = right(f);
    if (r === deciding) return deciding;
    if (typeof l !== 'boolean') return notBool(l, at);
    return typeof r === 'boolean' ? !deciding : notBool(r, at);
  };
}

/** Costs what its condition costs. A branch that is a name is resolved without the unit for the name. */
export function compileConditional(ctx: CompileContext, e: Call): Compiled {
  const [test, whenTrue, whenFalse] = e.args as [Expr, Expr, Expr];
  const condition = ctx.compile(test);
  const yes = compileAttribute(ctx, whenTrue, 0).run;
  const no = compileAttribute(ctx, whenFalse, 0).run;
  const known = condition.settled ?? condition.constant;
  if (typeof known === 'boolean') return { run: known ? yes : no, attribute: true };
  const { run } = condition;
  const at = e.at;
  return {
    attribute: true,
    run: (f): Value => {
      // Costs nothing in the cost model, but takes time.
      f.work(5);
      const c = run(f);
      if (c === true) return yes(f);
      if (c === false) return no(f);
      return c instanceof Failure ? c : notBool(c, at);
    },
  };
}
