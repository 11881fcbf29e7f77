// Checks that Kubernetes makes after type checking: invalid literal durations, timestamps and patterns, literals of
// mixed types, format strings that do not match their arguments. Messages are those of cel-go's validators.

import { type Call, children, type Expr, walk } from './ast.ts';
import { convertToDuration, convertToTimestamp } from './convert.ts';
import { checkFormat } from './lib/formatCheck.ts';
import { patternProblem } from './patterns.ts';
import { type Issue, Problems, type Source } from './source.ts';
import { type CelType, formatType, sameType, unwrapOptional } from './types.ts';
import { Failure, type Value } from './values.ts';

const CHECKS: Readonly<Record<string, (v: Value) => boolean>> = {
  duration: (v) => !(convertToDuration(v) instanceof Failure),
  timestamp: (v) => !(convertToTimestamp(v) instanceof Failure),
  matches: (v) => typeof v !== 'string' || patternProblem(v) === undefined,
};

/** Validates literal arguments by evaluating them. */
export function validateLiterals(root: Expr, source: Source): Issue[] {
  const problems = new Problems(source);
  for (const e of walk(root)) {
    if (e.kind !== 'call') continue;
    if (!isValid(e)) problems.add(e.args[0]!.at, `invalid ${e.function} argument`);
    for (const { at, message } of checkFormat(e)) problems.add(at, message);
  }
  return problems.list;
}

function isValid(e: Call): boolean {
  const check = Object.hasOwn(CHECKS, e.function) ? CHECKS[e.function] : undefined;
  const [arg] = e.args;
  return check === undefined || arg?.kind !== 'literal' || check(arg.value);
}

/** Rejects lists and maps whose entries differ in type, except for the arguments of format. */
export function validateHomogeneous(root: Expr, source: Source): Issue[] {
  const problems = new Problems(source);
  const todo: Expr[] = [root];
  for (let e = todo.pop(); e !== undefined; e = todo.pop()) {
    if (e.kind === 'call' && e.function === 'format') continue;
    for (const { at, expected, found } of mismatches(e)) {
      problems.add(at, `expected type '${formatType(expected)}' but found '${formatType(found)}'`);
    }
    todo.push(...children(e));
  }
  return problems.list;
}

interface Mismatch {
  readonly at: number;
  readonly expected: CelType;
  readonly found: CelType;
}

function mismatches(e: Expr): Mismatch[] {
  if (e.kind === 'list') {
    const types = e.elements.map((el) => ({ at: el.value.at, type: entryType(el.value, el.optional) }));
    return differing(types).slice(0, 1);
  }
  if (e.kind !== 'map') return [];
  const keys = e.entries.map((en) => ({ at: en.key.at, type: en.key.type! }));
  const values = e.entries.map((en) => ({ at: en.value.at, type: entryType(en.value, en.optional) }));
  return [...differing(keys), ...differing(values)];
}

const entryType = (e: Expr, optional: boolean): CelType => (optional ? unwrapOptional(e.type!) : e.type!);

function differing(entries: readonly { at: number; type: CelType }[]): Mismatch[] {
  const expected = entries[0]?.type;
  if (expected === undefined) return [];
  return entries
    .filter((en) => !sameType(expected, en.type))
    .map((en) => ({ at: en.at, expected, found: en.type }));
}
