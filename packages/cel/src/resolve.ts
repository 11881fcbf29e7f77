// Resolves names without type checking, as if every variable were dyn.
// Only for programs that are meant to fail at run time, such as conformance tests.

import { type Expr, type Local, qualifiedName } from './ast.ts';
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
    case 'call': {
      const prefix = e.target === undefined ? undefined : qualifiedName(e.target);
      const full = e.target === undefined ? e.function : `${prefix}.${e.function}`;
      const found = env.candidates(full).find((c) => env.functions.has(c));
      if (found !== undefined && (e.target === undefined || prefix !== undefined)) e.resolved = found;
      else inside(e.target);
      for (const a of e.args) inside(a);
      return;
    }
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
    case 'struct':
      e.resolved = env.candidates(e.name).at(-1)!;
      for (const f of e.fields) inside(f.value);
      return;
    case 'logical':
      for (const t of e.terms) inside(t);
      return;
    case 'list':
      for (const el of e.elements) inside(el.value);
      return;
    case 'map':
      for (const en of e.entries) {
        inside(en.key);
        inside(en.value);
      }
      return;
    default:
  }
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
