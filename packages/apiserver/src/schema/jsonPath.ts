// JSONPath for additionalPrinterColumns: `.status.conditions[?(@.type=="Ready")].status`, `.spec.ports[0].port`,
// `.metadata.labels['a\.b']`, `[*]`, `..name`. Missing values are no error, values of the wrong type are.

import { quoteValue } from '@lapse/kube/api/fieldErrors';
import { getOwn, isObject, type Json } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { JsonPathError, type PathStep, parsePath, type Slice } from './jsonPathParser.ts';
import { sorted } from './structural/listTypes.ts';

export { JsonPathError } from './jsonPathParser.ts';

export interface JsonPath {
  /** All values at the path. Throws JsonPathError when the path does not match the type of a value. */
  find(value: Json): Json[];
  /** The first value; undefined if the path matches no value. */
  first(value: Json): Json | undefined;
}

/** Throws JsonPathError. */
export function parseJsonPath(text: string): JsonPath {
  const steps = parsePath(text);
  const find = (value: Json): Json[] => walk([value], steps);
  return {
    find,
    first(value) {
      try {
        return find(value)[0];
      } catch (error) {
        if (error instanceof JsonPathError) return undefined;
        throw error;
      }
    },
  };
}

/** Prints a value for a column of type string. */
export function printPathValue(value: Json): string {
  if (value === null) return '<no value>';
  if (typeof value === 'string') return value;
  return typeof value === 'object' ? writeJson(sorted(value)) : quoteValue(value);
}

function walk(values: Json[], steps: readonly PathStep[]): Json[] {
  let current = values;
  for (const step of steps) current = apply(current, step);
  return current;
}

function apply(values: Json[], step: PathStep): Json[] {
  switch (step.kind) {
    case 'field':
      return values.flatMap((value) => fieldOf(value, step.name));
    case 'wildcard':
      return values.flatMap(childrenOf);
    case 'recursive':
      return values.flatMap(descendantsOf);
    case 'slice':
      return values.flatMap((value) => (value === null ? [] : sliceOf(listOf(value, ''), step)));
    case 'union':
      return step.branches.flatMap((branch) => walk(values, branch));
    case 'filter':
      return values.flatMap((value) =>
        listOf(value, ' and cannot be filtered').filter((item) => passes(item, step)),
      );
    case 'literal':
      return values.map(() => step.value);
    case 'identifier':
      throw new JsonPathError(`unrecognized identifier ${step.name}`);
  }
}

function fieldOf(value: Json, name: string): Json[] {
  const found = isObject(value) ? getOwn(value, name) : undefined;
  return found === undefined ? [] : [found];
}

function childrenOf(value: Json): Json[] {
  if (Array.isArray(value)) return value;
  return isObject(value) ? Object.values(sorted(value) as object) : [];
}

/** The value itself and all containers below it. */
function descendantsOf(value: Json): Json[] {
  const children = childrenOf(value);
  return children.length === 0 ? [] : [value, ...children.flatMap(descendantsOf)];
}

function listOf(value: Json, why: string): Json[] {
  if (Array.isArray(value)) return value;
  throw new JsonPathError(`${typeof value} is not array or slice${why}`);
}

function sliceOf(list: Json[], { from, to, step }: Slice): Json[] {
  const { length } = list;
  const start = from === undefined ? 0 : from < 0 ? from + length : from;
  // One index is the slice up to the next one; -1 ends at the end.
  const end = endOf(from, to, length);
  if (start === end) return [];
  if (start < 0 || start >= length)
    throw new JsonPathError(`array index out of bounds: index ${start}, length ${length}`);
  if (end < 0 || end > length)
    throw new JsonPathError(`array index out of bounds: index ${end - 1}, length ${length}`);
  if (start > end) throw new JsonPathError(`starting index ${start} is greater than ending index ${end}`);
  if (step <= 0) throw new JsonPathError('step must be > 0');
  return list.slice(start, end).filter((_, i) => i % step === 0);
}

function endOf(from: number | undefined, to: Slice['to'], length: number): number {
  if (to === 'open') return length;
  if (to === 'next') {
    const next = (from ?? 0) + 1;
    return next <= 0 ? next + length : next;
  }
  return to < 0 ? to + length : to;
}

function passes(item: Json, { left, operator, right }: Extract<PathStep, { kind: 'filter' }>): boolean {
  if (operator === 'exists') return existsIn(item, left);
  const [a, b] = [walk([item], left), walk([item], right)];
  if (a.length === 0 || b.length === 0) return false;
  if (a.length > 1 || b.length > 1) throw new JsonPathError('can only compare one element at a time');
  return compare(a[0]!, operator, b[0]!);
}

function existsIn(item: Json, path: readonly PathStep[]): boolean {
  try {
    return walk([item], path).length > 0;
  } catch (error) {
    if (error instanceof JsonPathError) return false;
    throw error;
  }
}

/** Only scalars of the same type are comparable; integers and fractions are different types. */
function compare(a: Json, operator: string, b: Json): boolean {
  if (kindOf(a) !== kindOf(b)) throw new JsonPathError('incompatible types for comparison');
  const [left, right] = [a as string | number, b as string | number];
  switch (operator) {
    case '==':
      return left === right;
    case '!=':
      return left !== right;
    default:
      if (typeof a === 'boolean') throw new JsonPathError('invalid type for comparison');
      return ordered(left, operator, right);
  }
}

function ordered(a: string | number, operator: string, b: string | number): boolean {
  if (operator === '<') return a < b;
  if (operator === '>') return a > b;
  if (operator === '<=') return a <= b;
  if (operator === '>=') return a >= b;
  throw new JsonPathError(`unrecognized filter operator ${operator}`);
}

function kindOf(value: Json): string {
  if (typeof value === 'object') throw new JsonPathError('invalid type for comparison');
  if (typeof value === 'bigint') return 'int';
  return typeof value === 'number' ? (Number.isInteger(value) ? 'int' : 'float') : typeof value;
}
