// Finds the first difference between an expected and an actual value, as a message with its path.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { fill, fillText, textFits } from './templates.ts';
import type { Vars } from './types.ts';

export interface Scope {
  readonly vars: Vars;
  /** Extra keys in objects are allowed (`match`); otherwise they are differences (`body`). */
  readonly subset: boolean;
  readonly path: string;
}

type Actual = Json | undefined;

/** Undefined if the actual value matches. */
export function diff(expected: Json, actual: Actual, scope: Scope): string | undefined {
  if (typeof expected === 'string') return diffText(expected, actual, scope);
  if (Array.isArray(expected)) return diffList(expected, actual, scope);
  if (isObject(expected)) return diffObject(expected, actual, scope);
  return Object.is(expected, actual)
    ? undefined
    : `${scope.path}: expected ${show(expected)}, got ${show(actual)}`;
}

export function show(value: Actual): string {
  const text = value === undefined ? '(absent)' : JSON.stringify(value);
  return text.length > 300 ? `${text.slice(0, 300)}…` : text;
}

const at = (path: string, key: string) =>
  /^[A-Za-z0-9_$-]+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;

const own = (object: JsonObject, key: string): Actual =>
  Object.hasOwn(object, key) ? object[key] : undefined;

function diffText(expected: string, actual: Actual, { vars, path }: Scope): string | undefined {
  if (expected === '{{absent}}')
    return actual === undefined ? undefined : `${path}: expected it to be absent, got ${show(actual)}`;
  if (textFits(expected, actual, vars)) return undefined;
  return `${path}: expected ${show(fill(expected, vars))}, got ${show(actual)}`;
}

function diffList(expected: Json[], actual: Actual, scope: Scope): string | undefined {
  const { path } = scope;
  if (!Array.isArray(actual)) return `${path}: expected a list, got ${show(actual)}`;
  const common = Math.min(expected.length, actual.length);
  for (let i = 0; i < common; i++) {
    const found = diff(expected[i]!, actual[i], { ...scope, path: `${path}[${i}]` });
    if (found !== undefined) return found;
  }
  if (expected.length === actual.length) return undefined;
  const [odd, word] = actual.length > common ? [actual[common], 'extra'] : [expected[common], 'missing'];
  return `${path}: expected ${expected.length} elements, got ${actual.length} (${show(odd)} is the first ${word} one)`;
}

function diffObject(expected: JsonObject, actual: Actual, scope: Scope): string | undefined {
  const contains = own(expected, '$contains');
  if (Array.isArray(contains)) return diffContains(contains, actual, scope);
  const lacks = own(expected, '$lacks');
  if (Array.isArray(lacks)) return diffLacks(lacks, actual, scope);
  if (!isObject(actual)) return `${scope.path}: expected an object, got ${show(actual)}`;
  return diffFields(expected, actual, scope);
}

function diffFields(expected: JsonObject, actual: JsonObject, scope: Scope): string | undefined {
  const wanted = new Set<string>();
  for (const [template, value] of Object.entries(expected)) {
    if (value === undefined) continue;
    const key = fillText(template, scope.vars);
    wanted.add(key);
    const found = diffField(value, own(actual, key), { ...scope, path: at(scope.path, key) });
    if (found !== undefined) return found;
  }
  if (scope.subset) return undefined;
  const extra = Object.keys(actual).find((key) => !wanted.has(key));
  return extra === undefined ? undefined : `${at(scope.path, extra)}: unexpected, got ${show(actual[extra])}`;
}

function diffField(expected: Json, actual: Actual, scope: Scope): string | undefined {
  if (actual === undefined && !mayBeAbsent(expected))
    return `${scope.path}: expected ${show(fill(expected, scope.vars))}, got (absent)`;
  return diff(expected, actual, scope);
}

const mayBeAbsent = (expected: Json) =>
  expected === '{{absent}}' || (isObject(expected) && Object.hasOwn(expected, '$lacks'));

/** Each of these is somewhere in the list. Elements are compared as subsets even inside `body`. */
function diffContains(wanted: Json[], actual: Actual, scope: Scope): string | undefined {
  const { vars, path } = scope;
  if (!Array.isArray(actual)) return `${path}: expected a list, got ${show(actual)}`;
  for (const element of wanted) {
    if (actual.some((a) => diff(element, a, { ...scope, subset: true }) === undefined)) continue;
    const near = actual.find((a) => sameIdentity(element, a, vars));
    if (near === undefined) return `${path}: no element matches ${show(fill(element, vars))}`;
    return diff(element, near, { vars, subset: true, path: `${path}[${identityOf(element)}]` });
  }
  return undefined;
}

function diffLacks(unwanted: Json[], actual: Actual, scope: Scope): string | undefined {
  if (actual === undefined) return undefined;
  if (!Array.isArray(actual)) return `${scope.path}: expected a list, got ${show(actual)}`;
  const isIn = (element: Json) =>
    actual.some((a) => diff(element, a, { ...scope, subset: true }) === undefined);
  const found = unwanted.find(isIn);
  return found === undefined
    ? undefined
    : `${scope.path}: has an element matching ${show(fill(found, scope.vars))}`;
}

// Keys that identify list elements, the most specific first. Used only in messages.
const IDENTITY = [
  'name',
  'resource',
  'groupVersion',
  'group',
  'version',
  'type',
  'kind',
  'subresource',
  'field',
];

function identityField(element: JsonObject): { path: string[]; value: string } | undefined {
  const { metadata } = element;
  if (isObject(metadata) && typeof metadata.name === 'string')
    return { path: ['metadata', 'name'], value: metadata.name };
  for (const key of IDENTITY) {
    const value = own(element, key);
    if (typeof value === 'string') return { path: [key], value };
  }
  return undefined;
}

const identityOf = (element: Json): string =>
  isObject(element) ? (identityField(element)?.value ?? '?') : String(element);

function sameIdentity(expected: Json, actual: Json, vars: Vars): boolean {
  if (!isObject(expected)) return expected === actual;
  const identity = identityField(expected);
  if (identity === undefined) return false;
  let value: Actual = actual;
  for (const key of identity.path) value = isObject(value) ? own(value, key) : undefined;
  return textFits(identity.value, value, vars);
}
