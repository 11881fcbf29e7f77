// One step of a path in the format of managedFields: `f:name` a field, `k:{"name":"http"}` a list item by its keys,
// `v:"a"` a set item by its value, `i:0` an item by its index. The text is the identity.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { parseJson } from '@lapse/kube/api/jsonParse';
import { writeJson } from '@lapse/kube/api/jsonWrite';

export type PathElement = string;

// Cache: most names occur in many objects, and identical strings are faster to compare.
const fieldElements = new Map<string, PathElement>();
const MAX_CACHED = 5000;
// Limits the cache: a body may contain names of any length.
const MAX_CACHED_LENGTH = 256;

export function fieldElement(name: string): PathElement {
  if (name.length > MAX_CACHED_LENGTH) return `f:${name}`;
  let element = fieldElements.get(name);
  if (element === undefined) {
    element = `f:${name}`;
    if (fieldElements.size >= MAX_CACHED) fieldElements.clear();
    fieldElements.set(name, element);
  }
  return element;
}

/** Keys sorted by name. */
export function keyElement(keys: JsonObject): PathElement {
  const sorted: JsonObject = {};
  for (const name of Object.keys(keys).sort()) sorted[name] = keys[name]!;
  return `k:${writeJson(sorted)}`;
}

export const valueElement = (value: Json): PathElement => `v:${writeJson(value)}`;

/** The element in canonical form; undefined when it is invalid. */
export function normalElement(text: string): PathElement | undefined {
  if (text.startsWith('f:')) return text;
  const content = text.slice(2);
  try {
    if (text.startsWith('i:')) return /^\d+$/.test(content) ? `i:${Number(content)}` : undefined;
    if (text.startsWith('v:')) return valueElement(parseText(content));
    if (!text.startsWith('k:')) return undefined;
    const keys = parseText(content);
    return isObject(keys) ? keyElement(keys) : undefined;
  } catch {
    return undefined;
  }
}

const parseText = (text: string): Json => parseJson(Buffer.from(text), { maxDepth: 100 }).value;

/** `.spec`, `[name="http"]`, `[="a"]`, `[0]`: the form of a step in conflicts. */
export function printElement(element: PathElement): string {
  const content = element.slice(2);
  switch (element[0]) {
    case 'f':
      return `.${content}`;
    case 'v':
      return `[=${printValue(parseText(content))}]`;
    case 'k': {
      const keys = parseText(content) as JsonObject;
      return `[${Object.keys(keys)
        .map((name) => `${name}=${printValue(keys[name]!)}`)
        .join(',')}]`;
    }
    default:
      return `[${content}]`;
  }
}

/** The upstream library prints maps without brackets. */
function printValue(value: Json): string {
  if (Array.isArray(value)) return `[${value.map(printValue).join(',')}]`;
  if (!isObject(value)) return writeJson(value);
  return Object.keys(value)
    .map((name) => `${name}=${printValue(value[name]!)}`)
    .join('');
}

const RANK: Record<string, number> = { f: 0, k: 1, v: 2, i: 3 };

/** Fields first, then keys, values, indexes; each in its own order. */
export function compareElements(a: PathElement, b: PathElement): number {
  if (a === b) return 0;
  const rank = RANK[a[0]!]! - RANK[b[0]!]!;
  if (rank !== 0) return rank;
  if (a[0] === 'f') return compareText(a, b);
  if (a[0] === 'i') return Number(a.slice(2)) - Number(b.slice(2));
  return compareValues(parseText(a.slice(2)), parseText(b.slice(2)));
}

const compareText = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

const ORDER = ['number', 'string', 'boolean', 'object'];
const orderOf = (value: Json): number => ORDER.indexOf(typeof value === 'bigint' ? 'number' : typeof value);

function compareValues(a: Json, b: Json): number {
  const order = orderOf(a) - orderOf(b);
  if (order !== 0) return order;
  if (!isObject(a) || !isObject(b))
    return (a as never) < (b as never) ? -1 : (a as never) > (b as never) ? 1 : 0;
  const names = Object.keys(a);
  const others = Object.keys(b);
  for (let i = 0; i < Math.min(names.length, others.length); i++) {
    const found = compareText(names[i]!, others[i]!) || compareValues(a[names[i]!]!, b[others[i]!]!);
    if (found !== 0) return found;
  }
  return names.length - others.length;
}
