// Cost estimates of calls: Kubernetes functions by name, cel-go functions by overload. Numbers and formulas equal those
// of upstream, because a CRD is rejected if the estimate of its rules is too high.

import type { CelType } from '../types.ts';
import { add, MOST, multiply, NOTHING, type Range, range, scale, union } from './ranges.ts';

/** An operand as the formulas see it. */
export interface Operand {
  readonly type: CelType;
  readonly path: readonly string[];
  /** Its size, or the full range if unknown. */
  readonly size: Range;
  /** The value of a literal int. */
  readonly literal: number | undefined;
}

export interface CallEstimate {
  readonly cost: Range;
  /** The size of the result, if known. */
  readonly size?: Range;
}

export interface CallShape {
  readonly name: string;
  readonly overload: string;
  readonly target: Operand | undefined;
  readonly args: readonly Operand[];
  /** The size of the elements of a list operand. */
  readonly elements: (list: Operand) => { readonly type: CelType; readonly size: Range } | undefined;
}

const STRING = 0.1;
const REGEX = 0.25;
const ONE = range(1);
const LIST = range(10);

const nominal: CallEstimate = { cost: ONE };
const read = (o: Operand | undefined, factor = STRING): CallEstimate | undefined =>
  o === undefined ? undefined : { cost: scale(o.size, factor) };
/** Traverses an operand and returns a value of its size. */
const copy = (o: Operand | undefined): CallEstimate | undefined =>
  o === undefined ? undefined : { cost: scale(o.size, STRING), size: o.size };

const isTextual = (t: CelType): boolean => t.kind === 'string' || t.kind === 'bytes';

function walkList({ target, elements }: CallShape): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const element = elements(target);
  if (element === undefined) return { cost: scale(target.size, STRING) };
  const each = isTextual(element.type) ? add(ONE, scale(element.size, STRING)) : ONE;
  return { cost: multiply(target.size, each) };
}

function replace({ target, args }: CallShape): CallEstimate | undefined {
  const [old, by] = args;
  if (target === undefined || old === undefined || by === undefined) return undefined;
  const text = target.size;
  // The longest result replaces the shortest texts by the longest; the shortest result is the reverse.
  const most =
    old.size.min === 0
      ? { count: text.max + 1, kept: text.max }
      : by.size.max <= old.size.min
        ? { count: 0, kept: text.max }
        : { count: Math.ceil(text.max / old.size.min), kept: 0 };
  const least =
    old.size.max === 0
      ? { count: text.min + 1, kept: text.min }
      : old.size.max <= by.size.min
        ? { count: 0, kept: text.min }
        : { count: Math.ceil(text.min / old.size.max), kept: 0 };
  const size = add(multiply(range(least.count, most.count), by.size), range(least.kept, most.kept));
  return { cost: scale(text, 2 * STRING), size };
}

function split({ target, args }: CallShape): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const limit = args[1]?.literal;
  // A negative limit becomes a huge one as an unsigned number.
  const most = limit === undefined ? target.size.max : limit < 0 ? MOST : limit;
  return { cost: scale(target.size, 2 * STRING), size: range(0, most) };
}

function join({ target, args, elements }: CallShape): CallEstimate | undefined {
  if (target === undefined) return undefined;
  const element = elements(target);
  let size = element === undefined ? NOTHING : multiply(target.size, element.size);
  const [separator] = args;
  if (separator !== undefined) {
    const gaps = range(Math.max(0, target.size.min - 1), Math.max(0, target.size.max - 1));
    size = add(size, multiply(separator.size, gaps));
  }
  return { cost: scale(size, STRING), size };
}

function find({ target, args }: CallShape): CallEstimate | undefined {
  const [pattern] = args;
  if (target === undefined || pattern === undefined) return undefined;
  return { cost: matchCost(target, pattern), size: range(0, target.size.max) };
}

const matchCost = (text: Operand, pattern: Operand): Range =>
  multiply(scale(add(text.size, ONE), STRING), scale(pattern.size, REGEX));

function contains({ overload, args }: CallShape): CallEstimate | undefined {
  const [other] = args;
  if (other === undefined) return undefined;
  const bytes = range(4, 16);
  const network = overload.startsWith('cidr_contains_cidr');
  return {
    cost: add(
      scale(add(bytes, bytes), STRING),
      network ? add(scale(bytes, STRING), ONE) : NOTHING,
      overload.endsWith('_string') ? scale(other.size, STRING) : NOTHING,
    ),
  };
}

const FORMAT_PATTERN = 128;

const BY_NAME: ReadonlyMap<string, (call: CallShape) => CallEstimate | undefined> = new Map([
  ...['isSorted', 'sum', 'max', 'min', 'indexOf', 'lastIndexOf'].map((n) => [n, walkList] as const),
  ['url', ({ args }) => copy(args[0])] as const,
  ...['lowerAscii', 'upperAscii', 'substring', 'trim'].map(
    (n) => [n, ({ target }: CallShape) => copy(target)] as const,
  ),
  ['replace', replace] as const,
  ['split', split] as const,
  ['join', join] as const,
  ['find', find] as const,
  ['findAll', find] as const,
  ...['cidr', 'isIP', 'isCIDR', 'quantity', 'isQuantity', 'semver', 'isSemver'].map(
    (n) => [n, ({ args }: CallShape) => read(args[0])] as const,
  ),
  ['ip', ({ overload, args }) => (overload === 'cidr_ip' ? nominal : read(args[0]))] as const,
  ['ip.isCanonical', ({ args }) => read(args[0], 2 * STRING)] as const,
  ['containsIP', contains] as const,
  ['containsCIDR', contains] as const,
  [
    'validate',
    ({ args }) =>
      args[0] === undefined
        ? undefined
        : { cost: scale(scale(args[0].size, STRING), FORMAT_PATTERN * REGEX) },
  ] as const,
  ['_==_', libraryEquality] as const,
]);

/** Library types compare at a flat rate. */
function libraryEquality({ args }: CallShape): CallEstimate | undefined {
  const [a, b] = args;
  if (a === undefined || b === undefined || a.type.name !== b.type.name) return undefined;
  switch (a.type.name) {
    case 'net.IP':
    case 'net.CIDR':
    case 'kubernetes.Quantity':
    case 'kubernetes.Semver':
      return nominal;
    case 'kubernetes.NamedFormat':
      return { cost: scale(range(1, 64), STRING) };
    case 'kubernetes.URL':
      return { cost: scale(range(1, b.size.max), STRING) };
    default:
      return undefined;
  }
}

const allocation = (factor: number, size: Range): CallEstimate => ({
  cost: add(scale(size, factor), ONE, LIST),
  size,
});
const squared = (o: Operand, factor: number): CallEstimate => allocation(factor, multiply(o.size, o.size));
const literalOr = (o: Operand | undefined, otherwise: number): number =>
  o?.literal === undefined ? otherwise : Math.max(0, o.literal);

/** cel-go's sets extension. */
function setEstimate({ overload, args }: CallShape): CallEstimate | undefined {
  const [first, second] = args;
  const match = /^list_sets_(\w+)_list$/.exec(overload);
  if (match === null || first === undefined || second === undefined) return undefined;
  return { cost: add(scale(multiply(first.size, second.size), match[1] === 'equivalent' ? 2 : 1), ONE) };
}

function sortEstimate({ overload, target, args }: CallShape): CallEstimate | undefined {
  const match = /^list_(.+)_(sort|sortByAssociatedKeys)$/.exec(overload);
  const keys = match?.[2] === 'sort' ? target : args[0];
  if (match === null || keys === undefined) return undefined;
  return squared(keys, match[1] === 'string' || match[1] === 'bytes' ? 2.1 : 2);
}

/** cel-go's lists extension. */
function listEstimate({ overload, target, args }: CallShape): CallEstimate | undefined {
  const [first, second] = args;
  switch (overload) {
    case 'list_slice': {
      const length = literalOr(second, target?.size.max ?? 0) - literalOr(first, 0);
      // An unsigned difference: a negative one becomes the maximum.
      return target && allocation(1, range(length < 0 ? MOST : length));
    }
    case 'lists_range':
      return allocation(1, range(literalOr(first, MOST)));
    case 'list_reverse':
      return target && allocation(1, target.size);
    case 'list_flatten':
    case 'list_flatten_int':
      return target && allocation(first === undefined ? 1 : literalOr(first, MOST), target.size);
    case 'list_distinct':
      return target && squared(target, 2);
    default:
      return undefined;
  }
}

/** A comparison traverses at most the shorter side. */
function comparison([a, b]: readonly Operand[]): CallEstimate | undefined {
  if (a === undefined || b === undefined) return undefined;
  const shorter = Math.min(a.size.max, b.size.max);
  return { cost: scale(range(shorter > 0 ? 1 : 0, shorter), STRING) };
}

/** The standard functions that cost more than one. */
function standard({ overload, target, args }: CallShape): CallEstimate | undefined {
  const [first, second] = args;
  switch (overload) {
    case 'string_format':
      return read(target);
    case 'string_to_bytes':
      return first && { cost: scale(first.size, STRING), size: range(first.size.min, first.size.max * 4) };
    case 'bytes_to_string':
      return (
        first && {
          cost: scale(first.size, STRING),
          size: range(Math.floor(first.size.min / 4), first.size.max),
        }
      );
    case 'strings_quote':
      return (
        first && { cost: scale(first.size, STRING), size: range(first.size.min + 2, first.size.max * 2 + 2) }
      );
    case 'starts_with_string':
    case 'ends_with_string':
      return read(first);
    case 'in_list':
      return second && { cost: second.size };
    case 'matches_string':
      return target && first && { cost: matchCost(target, first) };
    case 'contains_string':
      return target && first && { cost: multiply(scale(target.size, STRING), scale(first.size, STRING)) };
    case 'add_string':
    case 'add_bytes':
      return first && second && sumOf(first, second, STRING);
    case 'add_list':
      return first && second && { cost: ONE, size: add(first.size, second.size) };
    default:
      return isComparison(overload) ? comparison(args) : undefined;
  }
}

function sumOf(a: Operand, b: Operand, factor: number): CallEstimate {
  const size = add(a.size, b.size);
  return { cost: scale(size, factor), size };
}

const isComparison = (overload: string): boolean =>
  overload === 'equals' ||
  overload === 'not_equals' ||
  /^(less|greater)(_equals)?_(string|bytes)$/.test(overload);

/** One overload of a call, without its arguments. */
export const estimateOverload = (call: CallShape): CallEstimate =>
  setEstimate(call) ??
  sortEstimate(call) ??
  listEstimate(call) ??
  BY_NAME.get(call.name)?.(call) ??
  standard(call) ??
  nominal;

/** The range over all overloads a call may match. */
export function coverAll(estimates: readonly CallEstimate[]): CallEstimate {
  return estimates.reduce((a, b) => {
    const sizes = [a.size, b.size].filter((s) => s !== undefined);
    const cost = union(a.cost, b.cost);
    return sizes.length === 0 ? { cost } : { cost, size: sizes.reduce(union) };
  });
}
