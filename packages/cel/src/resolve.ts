// Resolves names without type checking, as if every variable were dyn.
// Only for programs that are meant to fail at run time, such as conformance tests.

import { type Call, children, type Expr, type Local, qualifiedName } from './ast.ts';
import type { Environment } from './environment.ts';
import type { Issue } from './source.ts';

export function resolveUnchecked(root: Expr, env: Environment): readonly Issue[] {
  resolve(root, env, []);
  return [];
}

function resolve(e: Expr, env: Environment, locals: readonly Local[]): void {
  const inside = (inner: Expr | undefined, more: readonly (Local | undefined)[] = []) => {
    const visible = [...locals, ...more.filter((l) => l !== undefined)];
    if (inner !== undefined) resolve(inner, env, visible);
  };
  switch (e.kind) {
    case 'ident':
      bind(e, e.name, env, locals);
      return;
    case 'select': {
      const name = qualifiedName(e);
      if (name === undefined || !bind(e, name, env, locals)) inside(e.operand);
      return;
    }
    case 'call':
      resolveFunction(e, env);
      break;
    case 'struct':
      e.resolved = env.candidates(e.name).at(-1)!;
      break;
    case 'fold':
      inside(e.range);
      inside(e.filter, [e.first, e.second]);
      inside(e.transform, [e.first, e.second]);
      return;
    case 'bind':
      inside(e.init);
      inside(e.body, [e.local]);
      return;
    case 'optMap':
      inside(e.target);
      inside(e.body, [e.local]);
      return;
    case 'block': {
      const names = e.slots.map((s) => s.local);
      for (const [i, slot] of e.slots.entries()) inside(slot.init, names.slice(0, i));
      inside(e.body, names);
      return;
    }
    default:
  }
  for (const child of children(e)) resolve(child, env, locals);
}

/** Sets the function of a call without target, or of a call such as `math.abs(x)`, whose target is part of the name. */
function resolveFunction(e: Call, env: Environment): void {
  const prefix = e.target === undefined ? undefined : qualifiedName(e.target);
  if (e.target !== undefined && prefix === undefined) return;
  const name = prefix === undefined ? e.function : `${prefix}.${e.function}`;
  const found = env.candidates(name).find((c) => env.functions.has(c));
  if (found !== undefined) e.resolved = found;
}

function bind(
  e: Extract<Expr, { kind: 'ident' | 'select' }>,
  name: string,
  env: Environment,
  locals: readonly Local[],
): boolean {
  const local = locals.findLast((l) => l.name === name);
  if (local !== undefined) {
    e.binding = { kind: 'local', local };
    return true;
  }
  for (const candidate of env.candidates(name)) {
    const constant = env.constants.get(candidate);
    if (env.variables.has(candidate)) e.binding = { kind: 'variable', name: candidate };
    else if (constant !== undefined) e.binding = { kind: 'constant', value: constant.value };
    else continue;
    return true;
  }
  return false;
}
