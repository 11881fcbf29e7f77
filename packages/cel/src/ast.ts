// The expression tree shared by parser, checker and compiler. The checker writes its results (`type`, `binding`,
// `overloads`) into the nodes; each tree belongs to one compilation.
// `at` is the position cel-go reports for the node: the operator of an operation, the parenthesis of a call, the dot of
// a selection. `start` and `end` span the source text of the node.

import type { CelType } from './types.ts';
import type { Value } from './values.ts';

interface NodeBase {
  readonly at: number;
  readonly start: number;
  readonly end: number;
  type?: CelType;
}

export interface Literal extends NodeBase {
  readonly kind: 'literal';
  readonly value: Value;
  readonly literalType: CelType;
}

/** What a name refers to. Set by the checker. */
export type Binding =
  | { readonly kind: 'variable'; readonly name: string }
  | { readonly kind: 'local'; readonly local: Local }
  | { readonly kind: 'constant'; readonly value: Value };

export interface Ident extends NodeBase {
  readonly kind: 'ident';
  readonly name: string;
  binding?: Binding;
}

export interface Select extends NodeBase {
  readonly kind: 'select';
  readonly operand: Expr;
  readonly field: string;
  /** `has(operand.field)`. */
  readonly testOnly: boolean;
  /** Set if the whole dotted path is one declared name. */
  binding?: Binding;
  /** The property to read if its name differs from the field name. */
  property?: string;
}

export interface Call extends NodeBase {
  readonly kind: 'call';
  readonly function: string;
  readonly target: Expr | undefined;
  readonly args: readonly Expr[];
  /** The full name of a namespaced function (`math.greatest`). Its target is then not an operand. */
  resolved?: string;
  overloads?: readonly string[];
}

/** A chain of `&&` or `||`. cel-go balances it into a tree, with the same result. */
export interface Logical extends NodeBase {
  readonly kind: 'logical';
  readonly op: '&&' | '||';
  readonly terms: readonly Expr[];
}

export interface ListExpr extends NodeBase {
  readonly kind: 'list';
  readonly elements: readonly { readonly value: Expr; readonly optional: boolean }[];
}

export interface MapExpr extends NodeBase {
  readonly kind: 'map';
  readonly entries: readonly { readonly key: Expr; readonly value: Expr; readonly optional: boolean }[];
}

export interface StructExpr extends NodeBase {
  readonly kind: 'struct';
  readonly name: string;
  readonly fields: readonly {
    readonly name: string;
    readonly at: number;
    readonly value: Expr;
    readonly optional: boolean;
  }[];
  /** The type's full name. Set by the checker. */
  resolved?: string;
}

/** A variable that a macro introduces. Compared by identity, not by name: inner variables hide outer ones. */
export interface Local {
  readonly name: string;
  type?: CelType;
}

export type FoldKind =
  | 'all'
  | 'exists'
  | 'existsOne'
  | 'map'
  | 'filter'
  | 'transformMap'
  | 'transformMapEntry'
  | 'sortBy';

/** A loop over a list or a map. `filter` is the predicate, `transform` computes the result for each element. */
export interface Fold extends NodeBase {
  readonly kind: 'fold';
  readonly fold: FoldKind;
  readonly range: Expr;
  readonly first: Local;
  readonly second: Local | undefined;
  readonly filter: Expr | undefined;
  readonly transform: Expr | undefined;
}

/** `cel.bind(name, init, body)`. `init` is evaluated at most once, on first use. */
export interface Bind extends NodeBase {
  readonly kind: 'bind';
  readonly local: Local;
  readonly init: Expr;
  readonly body: Expr;
}

/** `cel.@block`: a list of lazily evaluated slots that later slots and the body may refer to. */
export interface Block extends NodeBase {
  readonly kind: 'block';
  readonly slots: readonly { readonly local: Local; readonly init: Expr }[];
  readonly body: Expr;
}

/** `target.optMap(name, body)` and `optFlatMap`: the body is evaluated if the optional has a value. */
export interface OptMap extends NodeBase {
  readonly kind: 'optMap';
  readonly target: Expr;
  readonly local: Local;
  readonly body: Expr;
  readonly flat: boolean;
}

/** Placeholder for a syntax error, so that the rest of the tree can still be checked. */
export interface Broken extends NodeBase {
  readonly kind: 'broken';
}

export type Expr =
  | Literal
  | Ident
  | Select
  | Call
  | Logical
  | ListExpr
  | MapExpr
  | StructExpr
  | Fold
  | Bind
  | Block
  | OptMap
  | Broken;

/** The direct sub-expressions, in source order. */
export function children(e: Expr): readonly Expr[] {
  switch (e.kind) {
    case 'select':
      return [e.operand];
    case 'call':
      return e.target === undefined || e.resolved !== undefined ? e.args : [e.target, ...e.args];
    case 'logical':
      return e.terms;
    case 'list':
      return e.elements.map((el) => el.value);
    case 'map':
      return e.entries.flatMap((en) => [en.key, en.value]);
    case 'struct':
      return e.fields.map((f) => f.value);
    case 'fold':
      return [e.range, e.filter, e.transform].filter((x) => x !== undefined);
    case 'bind':
      return [e.init, e.body];
    case 'optMap':
      return [e.target, e.body];
    case 'block':
      return [...e.slots.map((s) => s.init), e.body];
    default:
      return [];
  }
}

/** All nodes, parents first, without recursion. */
export function* walk(root: Expr): Generator<Expr> {
  const todo: Expr[] = [root];
  for (let e = todo.pop(); e !== undefined; e = todo.pop()) {
    yield e;
    todo.push(...children(e).toReversed());
  }
}

/** Nesting depth: 1 for a name or a literal. */
export function depthOf(root: Expr): number {
  let deepest = 0;
  const todo: [Expr, number][] = [[root, 1]];
  for (let next = todo.pop(); next !== undefined; next = todo.pop()) {
    const [e, depth] = next;
    deepest = Math.max(deepest, depth);
    for (const child of children(e)) todo.push([child, depth + 1]);
  }
  return deepest;
}

/** `a.b.c` for a chain of names, otherwise undefined. */
export function qualifiedName(e: Expr): string | undefined {
  if (e.kind === 'ident') return e.name;
  if (e.kind !== 'select' || e.testOnly) return undefined;
  const prefix = qualifiedName(e.operand);
  return prefix === undefined ? undefined : `${prefix}.${e.field}`;
}
