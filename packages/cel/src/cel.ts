// The public API of the CEL engine. Only the schema and policy code of the apiserver package imports other files.
// Create one environment per kind of program and reuse it:
//
//   const env = conditionEnvironment({ pods: DYN });
//   const compiled = compile('size(pods.items) == 2', env);
//   if (compiled.kind === 'invalid') throw new Error(compiled.message);
//   const outcome = compiled.program.evaluate({ pods, time: timestampFromMillis(now) }, budget);
//
// Bound values are plain JSON (numbers, bigint beyond 2^53, own keys only) or the engine's Timestamp and Duration.

import { estimateCost as estimateTree } from './cost/estimate.ts';
import type { Range } from './cost/ranges.ts';
import type { Environment } from './environment.ts';
import { type Compilation, compileSource, type Program } from './program.ts';

export { describe } from './describe.ts';
export { Environment, type EnvironmentOptions } from './environment.ts';
export { type ExplainOptions, type Explanation, explain, type Reason } from './explain.ts';
export {
  type AccessCheck,
  AUTHORIZER,
  authorizerValue,
  RESOURCE_CHECK,
  resourceCheckValue,
} from './lib/kubernetes/authz.ts';
export { conditionEnvironment, kubernetesEnvironment } from './libraries.ts';
export { messageWithoutData } from './messageWithoutData.ts';
export {
  type Bindings,
  type Compilation,
  type Evaluation,
  PER_CALL_LIMIT,
  PER_OBJECT_BUDGET,
  type Program,
} from './program.ts';
export type { FieldType, SizeBounds, TypeProvider } from './provider.ts';
export { type ReadPath, readPaths } from './readPaths.ts';
export type { Issue } from './source.ts';
export { millisFromTimestamp, parseDuration, parseTimestamp, timestampFromMillis } from './time.ts';
export { TIME } from './timeName.ts';
export {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  formatType,
  INT,
  type ListSemantics,
  listOf,
  mapOf,
  NULL,
  optionalOf,
  STRING,
  sameType,
  structOf,
  TIMESTAMP,
  UINT,
} from './types.ts';
export { Double, Duration, Optional, Timestamp, Uint, type Value } from './values.ts';
export { type WhenTrue, type WhenTrueOptions, whenTrue } from './whenTrue.ts';

// Cache of compiled programs by their text. The oldest are evicted first.
const MAX_CACHED = 2000;
/** Maximum total characters of all cached texts. A tree takes up to a hundred bytes per character. */
const MAX_CACHED_LENGTH = 500_000;
const caches = new WeakMap<Environment, ProgramCache>();

interface ProgramCache {
  readonly byText: Map<string, Compilation>;
  length: number;
}

/** Compiles a program, or returns a cached one for the same environment. */
export function compile(text: string, env: Environment): Compilation {
  let programs = caches.get(env);
  if (programs === undefined) {
    programs = { byText: new Map(), length: 0 };
    caches.set(env, programs);
  }
  const known = programs.byText.get(text);
  if (known !== undefined) return known;
  const compiled = compileSource(text, env);
  makeRoom(programs, text.length);
  programs.byText.set(text, compiled);
  programs.length += text.length;
  return compiled;
}

function makeRoom(programs: ProgramCache, length: number): void {
  for (const oldest of programs.byText.keys()) {
    if (programs.byText.size < MAX_CACHED && programs.length + length <= MAX_CACHED_LENGTH) return;
    programs.byText.delete(oldest);
    programs.length -= oldest.length;
  }
}

/** The minimum and maximum cost of a program, as cel-go's checker estimates it. 2^64 means unbounded. */
export const estimateCost = (program: Program): Range => estimateTree(program.root, program.env);
