// Macros: calls that the parser replaces by other nodes before type checking. This file has the standard macros; those
// of the optional libraries are in macrosMore.ts.

import type { Call, Expr, Fold, FoldKind } from './ast.ts';

/** The call is a macro, but its arguments are invalid. */
export interface MacroProblem {
  readonly kind: 'problem';
  readonly at: number;
  readonly message: string;
}

/** Undefined: the call is not this macro but an ordinary call. */
export type MacroResult = Expr | MacroProblem | undefined;

export interface Macro {
  readonly name: string;
  readonly args: number | 'any';
  readonly receiver: boolean;
  readonly expand: (call: Call) => MacroResult;
}

export type MacroTable = ReadonlyMap<string, Macro>;

const keyOf = (name: string, args: number | 'any', receiver: boolean): string =>
  `${name}:${args}:${receiver}`;

export const macroTable = (macros: Iterable<Macro>): MacroTable =>
  new Map([...macros].map((m) => [keyOf(m.name, m.args, m.receiver), m]));

export function expandMacro(table: MacroTable, call: Call): MacroResult {
  const receiver = call.target !== undefined;
  const macro =
    table.get(keyOf(call.function, call.args.length, receiver)) ??
    table.get(keyOf(call.function, 'any', receiver));
  return macro?.expand(call);
}

export const problem = (e: Expr, message: string): MacroProblem => ({ kind: 'problem', at: e.at, message });

const ACCUMULATORS = new Set(['__result__', '@result']);

/** The names of the loop variables, or their error. */
export function loopNames(names: readonly Expr[], nameError: string): string[] | MacroProblem {
  const found: string[] = [];
  for (const e of names) {
    if (e.kind !== 'ident') return problem(e, nameError);
    if (found.includes(e.name)) return problem(e, `duplicate variable name: ${e.name}`);
    found.push(e.name);
  }
  const overwriting = names.find((e) => e.kind === 'ident' && ACCUMULATORS.has(e.name));
  if (overwriting !== undefined)
    return problem(overwriting, 'iteration variable overwrites accumulator variable');
  return found;
}

interface LoopShape {
  readonly fold: FoldKind;
  readonly variables: 1 | 2;
  readonly nameError: string;
  /** Splits the arguments after the variables into predicate and transformation. */
  readonly parts: (rest: readonly Expr[]) => { filter?: Expr | undefined; transform?: Expr | undefined };
}

export function loop(call: Call, shape: LoopShape): MacroResult {
  const names = loopNames(call.args.slice(0, shape.variables), shape.nameError);
  if (!Array.isArray(names)) return names;
  const { filter, transform } = shape.parts(call.args.slice(shape.variables));
  const node: Fold = {
    kind: 'fold',
    fold: shape.fold,
    range: call.target!,
    first: { name: names[0]! },
    second: names[1] === undefined ? undefined : { name: names[1] },
    filter,
    transform,
    at: call.at,
    start: call.start,
    end: call.end,
  };
  return node;
}

const SIMPLE_NAME = 'argument must be a simple name';
const IDENTIFIER = 'argument is not an identifier';

export const predicate: LoopShape['parts'] = ([filter]) => ({ filter });
export const transformation: LoopShape['parts'] = (rest) =>
  rest.length === 1 ? { transform: rest[0] } : { filter: rest[0], transform: rest[1] };

export const receiverMacro = (name: string, args: number | 'any', expand: Macro['expand']): Macro => ({
  name,
  args,
  receiver: true,
  expand,
});

const quantifier = (name: string, fold: FoldKind): Macro =>
  receiverMacro(name, 2, (call) =>
    loop(call, { fold, variables: 1, nameError: SIMPLE_NAME, parts: predicate }),
  );

function expandHas(call: Call): MacroResult {
  const arg = call.args[0]!;
  if (arg.kind !== 'select') return problem(arg, 'invalid argument to has() macro');
  const { at, start, end } = call;
  return { kind: 'select', operand: arg.operand, field: arg.field, testOnly: true, at, start, end };
}

export const STANDARD_MACROS: readonly Macro[] = [
  { name: 'has', args: 1, receiver: false, expand: expandHas },
  quantifier('all', 'all'),
  quantifier('exists', 'exists'),
  quantifier('exists_one', 'existsOne'),
  quantifier('existsOne', 'existsOne'),
  receiverMacro('filter', 2, (call) =>
    loop(call, { fold: 'filter', variables: 1, nameError: IDENTIFIER, parts: predicate }),
  ),
  receiverMacro('map', 2, (call) =>
    loop(call, { fold: 'map', variables: 1, nameError: IDENTIFIER, parts: transformation }),
  ),
  receiverMacro('map', 3, (call) =>
    loop(call, { fold: 'map', variables: 1, nameError: IDENTIFIER, parts: transformation }),
  ),
];
