// Macros of the optional libraries: two-variable loops, cel.bind, cel.block, optMap, math.greatest, sort_by.

import type { Call, Expr, FoldKind, Ident } from './ast.ts';
import {
  loop,
  type Macro,
  type MacroResult,
  predicate,
  problem,
  receiverMacro,
  transformation,
} from './macros.ts';
import { isNumericLiteral } from './numericLiteral.ts';

const SIMPLE_NAME = 'argument must be a simple name';

const two = (name: string, args: number, fold: FoldKind): Macro => {
  const parts = fold === 'all' || fold === 'exists' || fold === 'existsOne' ? predicate : transformation;
  return receiverMacro(name, args, (call) =>
    loop(call, { fold, variables: 2, nameError: SIMPLE_NAME, parts }),
  );
};

export const TWO_VARIABLE_MACROS: readonly Macro[] = [
  two('all', 3, 'all'),
  two('exists', 3, 'exists'),
  two('existsOne', 3, 'existsOne'),
  two('exists_one', 3, 'existsOne'),
  two('transformList', 3, 'map'),
  two('transformList', 4, 'map'),
  two('transformMap', 3, 'transformMap'),
  two('transformMap', 4, 'transformMap'),
  two('transformMapEntry', 3, 'transformMapEntry'),
  two('transformMapEntry', 4, 'transformMapEntry'),
];

const isNamespace = (call: Call, name: string): boolean =>
  call.target?.kind === 'ident' && call.target.name === name;
const spanOf = ({ at, start, end }: Call) => ({ at, start, end });

function expandBind(call: Call): MacroResult {
  if (!isNamespace(call, 'cel')) return undefined;
  const [name, init, body] = call.args as [Expr, Expr, Expr];
  if (name.kind !== 'ident') return problem(name, 'cel.bind() variable names must be simple identifiers');
  return { kind: 'bind', local: { name: name.name }, init, body, ...spanOf(call) };
}

export const BINDING_MACROS: readonly Macro[] = [receiverMacro('bind', 3, expandBind)];

const optMapMacro = (name: string, flat: boolean): Macro =>
  receiverMacro(name, 2, (call) => {
    const [variable, body] = call.args as [Expr, Expr];
    if (variable.kind !== 'ident')
      return problem(variable, `${name}() variable name must be a simple identifier`);
    return {
      kind: 'optMap',
      target: call.target!,
      local: { name: variable.name },
      body,
      flat,
      ...spanOf(call),
    };
  });

export const OPTIONAL_MACROS: readonly Macro[] = [
  optMapMacro('optMap', false),
  optMapMacro('optFlatMap', true),
];

function expandExtreme(call: Call, fn: string): MacroResult {
  if (!isNamespace(call, 'math')) return undefined;
  const shown = `math.${call.function}()`;
  const [first] = call.args;
  if (first === undefined) return problem(call.target!, `${shown} requires at least one argument`);
  const span = spanOf(call);
  const pass = (args: readonly Expr[]): Expr => ({
    kind: 'call',
    function: fn,
    target: undefined,
    args,
    ...span,
  });
  if (call.args.length === 1) {
    const list = first.kind === 'list' && first.elements.length > 0;
    const fits = list ? first.elements.every((e) => isNumericLiteral(e.value)) : isNumericLiteral(first);
    return fits ? pass(call.args) : problem(first, `${shown} invalid single argument value`);
  }
  const wrong = call.args.find((a) => !isNumericLiteral(a));
  if (wrong !== undefined) return problem(wrong, `${shown} simple literal arguments must be numeric`);
  if (call.args.length === 2) return pass(call.args);
  return pass([{ kind: 'list', elements: call.args.map((value) => ({ value, optional: false })), ...span }]);
}

export const MATH_MACROS: readonly Macro[] = [
  receiverMacro('greatest', 'any', (call) => expandExtreme(call, 'math.@max')),
  receiverMacro('least', 'any', (call) => expandExtreme(call, 'math.@min')),
];

// cel.block is the output of an optimizer: cel.index(n) refers to slot n, cel.iterVar(d, n) to a loop variable.
const slotName = (n: number): string => `@index${n}`;

function expandBlock(call: Call): MacroResult {
  if (!isNamespace(call, 'cel')) return undefined;
  const [slots, body] = call.args as [Expr, Expr];
  if (slots.kind !== 'list') return problem(slots, 'cel.block requires the first arg to be a list literal');
  const named = slots.elements.map((e, n) => ({ local: { name: slotName(n) }, init: e.value }));
  return { kind: 'block', slots: named, body, ...spanOf(call) };
}

function generatedName(call: Call, name: (numbers: number[]) => string): MacroResult {
  if (!isNamespace(call, 'cel')) return undefined;
  const numbers = call.args.map((a) => (a.kind === 'literal' && typeof a.value === 'number' ? a.value : -1));
  const wrong = call.args[numbers.indexOf(-1)];
  if (wrong !== undefined)
    return problem(wrong, `cel.${call.function} requires a single non-negative int constant arg`);
  const ident: Ident = { kind: 'ident', name: name(numbers), ...spanOf(call) };
  return ident;
}

export const BLOCK_MACROS: readonly Macro[] = [
  receiverMacro('block', 2, expandBlock),
  receiverMacro('index', 1, (call) => generatedName(call, ([n]) => slotName(n!))),
  receiverMacro('iterVar', 2, (call) => generatedName(call, ([d, n]) => `@it:${d}:${n}`)),
  receiverMacro('accuVar', 2, (call) => generatedName(call, ([d, n]) => `@ac:${d}:${n}`)),
];

const sortBy = (name: string): Macro =>
  receiverMacro(name, 2, (call) =>
    loop(call, {
      fold: 'sortBy',
      variables: 1,
      nameError: 'argument is not an identifier',
      parts: transformation,
    }),
  );

/** `list.sortBy(x, key)`: sorts the list in ascending order of a key computed per element. */
export const SORT_MACROS: readonly Macro[] = [sortBy('sortBy')];
/** sort_by is the name of the upstream Cleaner for sortBy. */
export const SORT_BY_MACROS: readonly Macro[] = [sortBy('sort_by')];
