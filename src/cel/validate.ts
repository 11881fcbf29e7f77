// Literal arguments tried out when compiling: a duration, timestamp or pattern that can never be right is refused,
// with the messages of cel-go's validators, which Kubernetes switches on.

import { type Call, type Expr, walk } from './ast.ts';
import { convertToDuration, convertToTimestamp } from './convert.ts';
import { compilePattern } from './patterns.ts';
import type { Issue, Source } from './source.ts';
import { Failure, type Value } from './values.ts';

const CHECKS: Readonly<Record<string, (v: Value) => boolean>> = {
  duration: (v) => !(convertToDuration(v) instanceof Failure),
  timestamp: (v) => !(convertToTimestamp(v) instanceof Failure),
  matches: (v) => typeof v !== 'string' || typeof compilePattern(v) !== 'string',
};

export function validateLiterals(root: Expr, source: Source): readonly Issue[] {
  const issues: Issue[] = [];
  for (const e of walk(root)) {
    if (e.kind === 'call' && !isValid(e))
      issues.push(source.issue(e.args[0]!.at, `invalid ${e.function} argument`));
  }
  return issues;
}

function isValid(e: Call): boolean {
  const check = Object.hasOwn(CHECKS, e.function) ? CHECKS[e.function] : undefined;
  const [arg] = e.args;
  return check === undefined || arg?.kind !== 'literal' || check(arg.value);
}
