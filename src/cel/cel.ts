// CEL for the rest of the house: one environment per kind of program, compile, evaluate under a budget.
//
//   const env = cleanerEnvironment({ pods: DYN });
//   const compiled = compile('size(pods.items) == 2', env);
//   if (compiled.kind === 'program') compiled.program.evaluate({ time, pods });

import type { Environment } from './environment.ts';
import { type Compilation, compileSource } from './program.ts';

export { Environment, type EnvironmentOptions } from './environment.ts';
export { STANDARD } from './lib/standard.ts';
export {
  type Bindings,
  type Compilation,
  type Evaluation,
  PER_CALL_LIMIT,
  PER_OBJECT_BUDGET,
  Program,
} from './program.ts';
export type { FieldType, SizeBounds, TypeProvider } from './provider.ts';
export type { Issue } from './source.ts';

const MAX_KEPT = 2000;
const kept = new WeakMap<Environment, Map<string, Compilation>>();

/** Compiles a program, or finds it among those compiled lately for the same environment. */
export function compile(text: string, env: Environment): Compilation {
  let programs = kept.get(env);
  if (programs === undefined) {
    programs = new Map();
    kept.set(env, programs);
  }
  const known = programs.get(text);
  if (known !== undefined) return known;
  const compiled = compileSource(text, env);
  if (programs.size >= MAX_KEPT) programs.delete(programs.keys().next().value!);
  programs.set(text, compiled);
  return compiled;
}
