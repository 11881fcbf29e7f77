// Type check of a configuration with the messages of kube-apiserver: the first check of an apply.

import { isObject, type Json } from '@lapse/kube/api/json';
import { type FieldType, type ListType, type MapType, type Scalar, shapeOf } from './fieldType.ts';
import { ItemError, itemElement } from './listItems.ts';
import { fieldElement, type PathElement, printElement } from './pathElement.ts';

/** Problems with their paths: `.spec.ports: expected list, got &{1}`. */
export function checkFields(type: FieldType, value: Json): string[] {
  switch (shapeOf(type, value)) {
    case 'scalar':
      return scalarProblem(type.scalar!, value);
    case 'list':
      return checkList(type.list!, value);
    case 'map':
      return checkMap(type.map!, value);
  }
}

const at = (element: PathElement, problems: readonly string[]): string[] =>
  problems.map((problem) => printElement(element) + (/^[.[]/.test(problem) ? problem : `: ${problem}`));

function scalarProblem(scalar: Scalar, value: Json): string[] {
  if (value === null) return [];
  const found = typeof value === 'bigint' ? 'number' : typeof value;
  switch (scalar) {
    case 'numeric':
      return found === 'number' ? [] : [`expected numeric (int or float), got ${goType(value)}`];
    case 'string':
      return found === 'string'
        ? []
        : [`expected string, got &value.valueUnstructured{Value:${goSyntax(value)}}`];
    case 'boolean':
      return found === 'boolean' ? [] : [`expected boolean, got &{${goText(value)}}`];
    case 'untyped':
      return found !== 'object' ? [] : [`expected any scalar, got &{${goText(value)}}`];
  }
}

function checkList(list: ListType, value: Json): string[] {
  if (value === null) return [];
  if (!Array.isArray(value)) return [`expected list, got &{${goText(value)}}`];
  const problems: string[] = [];
  const seen = new Set<PathElement>();
  for (const [i, item] of value.entries()) {
    let element: PathElement = `i:${i}`;
    if (!list.atomic) {
      try {
        element = itemElement(list, item);
      } catch (cause) {
        if (cause instanceof ItemError) return [...problems, `element ${i}: ${cause.message}`];
        throw cause;
      }
      if (seen.has(element)) problems.push(`duplicate entries for key ${printElement(element)}`);
      seen.add(element);
    }
    problems.push(...at(element, checkFields(list.element(), item)));
  }
  return problems;
}

function checkMap(map: MapType, value: Json): string[] {
  if (value === null) return [];
  if (!isObject(value)) return [`expected map, got &{${goText(value)}}`];
  const problems: string[] = [];
  for (const [name, entry] of Object.entries(value)) {
    if (entry === undefined) continue;
    const type = map.fields.get(name) ?? map.element;
    // kube-apiserver stops at the first of these.
    if (type === undefined) return [...problems, ...at(fieldElement(name), ['field not declared in schema'])];
    problems.push(...at(fieldElement(name), checkFields(type(), entry)));
  }
  return problems;
}

/** Several problems are printed as a list. */
export function describeProblems(problems: readonly string[]): string {
  if (problems.length === 1) return problems[0]!;
  return ['errors:', ...problems.map((problem) => `  ${problem}`)].join('\n');
}

const isWhole = (value: Json): boolean =>
  typeof value === 'bigint' || (typeof value === 'number' && Number.isInteger(value));

function goType(value: Json): string {
  if (value === null) return '<nil>';
  if (isWhole(value)) return 'int64';
  if (Array.isArray(value)) return '[]interface {}';
  if (typeof value === 'object') return 'map[string]interface {}';
  return { number: 'float64', boolean: 'bool' }[typeof value as string] ?? 'string';
}

/** As Go's %v. */
function goText(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return `[${value.map(goText).join(' ')}]`;
  if (!isObject(value)) return String(value);
  const names = Object.keys(value).sort();
  return `map[${names.map((name) => `${name}:${goText(value[name]!)}`).join(' ')}]`;
}

/** As Go's %#v. */
function goSyntax(value: Json): string {
  if (value === null) return 'interface {}(nil)';
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (typeof value === 'string') return JSON.stringify(value);
  if (!isObject(value)) return String(value);
  const names = Object.keys(value).sort();
  return `map[string]interface {}{${names.map((name) => `${JSON.stringify(name)}:${goSyntax(value[name]!)}`).join(', ')}}`;
}
