// Computes which parts of a variable a program can read: the field paths it contains. A caller that stores many objects
// for one program can store only these parts; the program returns the same results for them.

import { children, type Expr } from './ast.ts';
import type { Program } from './program.ts';

/** Field names starting at the variable. Everything below the last one may be read. */
export type ReadPath = readonly string[];

/** Steps that select one field whose name is known at compile time: `a.b`, `a['b']`, `a.?b`, `a[?'b']`. */
const STEPS = new Set(['_[_]', '_?._', '_[?_]']);

/** The paths below `variable` in a program, or undefined if it may read the whole variable. */
export function readPaths(program: Program, variable: string): readonly ReadPath[] | undefined {
  const found: ReadPath[] = [];
  const todo: Expr[] = [program.root];
  for (let e = todo.pop(); e !== undefined; e = todo.pop()) {
    const path = pathOf(e, variable);
    if (path === undefined) todo.push(...children(e));
    else if (path.length === 0) return undefined;
    else found.push(path);
  }
  return found;
}

function pathOf(e: Expr, variable: string): ReadPath | undefined {
  const steps: string[] = [];
  let at = e;
  for (;;) {
    if (at.kind === 'ident')
      return at.binding?.kind === 'variable' && at.binding.name === variable ? steps.reverse() : undefined;
    const step = stepOf(at);
    if (step === undefined) return undefined;
    steps.push(step.field);
    at = step.operand;
  }
}

function stepOf(e: Expr): { operand: Expr; field: string } | undefined {
  if (e.kind === 'select')
    return e.binding === undefined ? { operand: e.operand, field: e.field } : undefined;
  if (e.kind !== 'call' || !STEPS.has(e.function) || e.target !== undefined) return undefined;
  const [operand, field] = e.args;
  return operand !== undefined && field?.kind === 'literal' && typeof field.value === 'string'
    ? { operand, field: field.value }
    : undefined;
}
