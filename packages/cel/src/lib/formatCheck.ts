// Checks a literal format string against the types of its literal arguments at compile time.

import type { Call, Expr } from '../ast.ts';
import { type CelType, isDyn } from '../types.ts';
import { ARGUMENT_ERRORS, CLAUSE } from './formatClauses.ts';

interface FormatIssue {
  readonly at: number;
  readonly message: string;
}

const ALLOWED: Readonly<Record<string, ReadonlySet<string>>> = {
  d: new Set(['int', 'uint']),
  f: new Set(['double', 'string']),
  e: new Set(['double', 'string']),
  b: new Set(['int', 'uint', 'bool']),
  o: new Set(['int', 'uint']),
  x: new Set(['int', 'uint', 'string', 'bytes']),
  X: new Set(['int', 'uint', 'string', 'bytes']),
};
const TEXT = new Set([
  'string',
  'bool',
  'bytes',
  'int',
  'uint',
  'double',
  'type',
  'duration',
  'timestamp',
  'null',
]);

/** The errors of `"…".format([…])`. Empty if it is another call or valid. */
export function checkFormat(e: Call): FormatIssue[] {
  const [list] = e.args;
  if (e.function !== 'format' || e.target?.kind !== 'literal' || list?.kind !== 'list') return [];
  const text = e.target.value;
  if (typeof text !== 'string') return [];
  const args = list.elements.map((el) => el.value);
  let used = 0;
  for (const m of text.matchAll(CLAUSE)) {
    const [clause, , verb] = m;
    if (clause === '%%') continue;
    if (clause === '%') return [{ at: e.at, message: 'unexpected end of string' }];
    const arg = args[used];
    if (arg === undefined) return [{ at: e.at, message: `index ${used} out of range` }];
    used++;
    const issue = wrongArgument(e, verb ?? clause.slice(1), arg);
    if (issue !== undefined) return [issue];
  }
  if (args.length <= used) return [];
  return [
    {
      at: e.at,
      message: `too many arguments supplied to string.format (expected ${used}, got ${args.length})`,
    },
  ];
}

function wrongArgument(e: Call, verb: string, arg: Expr): FormatIssue | undefined {
  const argumentError = Object.hasOwn(ARGUMENT_ERRORS, verb) ? ARGUMENT_ERRORS[verb] : undefined;
  if (argumentError === undefined) {
    return {
      at: e.at,
      message: `could not parse formatting clause: unrecognized formatting clause "${verb}"`,
    };
  }
  const bad = verb === 's' ? firstWithoutText(arg) : fits(ALLOWED[verb]!, arg.type!) ? undefined : arg;
  if (bad === undefined) return undefined;
  return { at: bad.at, message: `error during formatting: ${argumentError}, was given ${bad.type!.name}` };
}

const fits = (allowed: ReadonlySet<string>, t: CelType): boolean =>
  isDyn(t) || t.kind === 'param' || allowed.has(t.kind);

/** The first part of an argument that has no text form. */
function firstWithoutText(arg: Expr): Expr | undefined {
  if (arg.kind === 'list')
    return arg.elements.map((el) => firstWithoutText(el.value)).find((x) => x !== undefined);
  if (arg.kind === 'map')
    return arg.entries.map((en) => firstWithoutText(en.value)).find((x) => x !== undefined);
  const kind = arg.type!.kind;
  return fits(TEXT, arg.type!) || kind === 'list' || kind === 'map' ? undefined : arg;
}
