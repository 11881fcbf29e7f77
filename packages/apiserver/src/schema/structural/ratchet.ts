// Ratcheting: what was stored before the schema got stricter may stay as long as it does not change. This says which old
// value belongs to a new one, and whether the two are the same as far as the schema can tell.

import { equal, getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { additionalNode, nodeOfKey, type SchemaNode } from './node.ts';

/** Undefined: there is no old value that corresponds. */
export type Old = Json | undefined;

export function oldOfKey(old: Old, key: string): Old {
  return isObject(old) ? getOwn(old, key) : undefined;
}

/** Elements of map lists correspond by key; those of other lists do not correspond at all. */
export function oldItems(list: Json[], old: Old, node: SchemaNode | undefined): (item: Json) => Old {
  if (!Array.isArray(old) || node?.listType !== 'map' || node.listKeys.length === 0) return () => undefined;
  const byKey = new Map<string, Json>();
  for (const item of old) {
    const key = keyOf(item, node.listKeys);
    if (key !== undefined && !byKey.has(key)) byKey.set(key, item);
  }
  return (item) => {
    const key = keyOf(item, node.listKeys);
    return key === undefined ? undefined : byKey.get(key);
  };
}

/** Undefined when a key is missing or no scalar. */
function keyOf(item: Json, names: readonly string[]): string | undefined {
  if (!isObject(item)) return undefined;
  let key = '';
  for (const name of names) {
    const value = getOwn(item, name);
    if (value === undefined || value === null || typeof value === 'object') return undefined;
    key += `\0${typeof value}:${value}`;
  }
  return key;
}

/** Fields the schema does not describe cannot be compared: an object that has some counts as changed. */
export function isUnchanged(value: Json, old: Old, node: SchemaNode | undefined): boolean {
  if (old === undefined) return false;
  if (Array.isArray(value) || Array.isArray(old)) return isSameList(value, old, node);
  if (isObject(value) && isObject(old)) return isSameMap(value, old, node);
  return value === old;
}

function isSameList(value: Json, old: Json, node: SchemaNode | undefined): boolean {
  if (!Array.isArray(value) || !Array.isArray(old) || value.length !== old.length) return false;
  if (node?.listType !== 'map' || node.listKeys.length === 0 || old.length === 0) return equal(value, old);
  const oldOf = oldItems(value, old, node);
  return value.every((item) => isUnchanged(item, oldOf(item), node.items));
}

function isSameMap(value: JsonObject, old: JsonObject, node: SchemaNode | undefined): boolean {
  const keys = Object.keys(value);
  if (keys.length !== Object.keys(old).length) return false;
  return keys.every((key) => {
    const known = node?.properties.has(key) || (node !== undefined && additionalNode(node) !== undefined);
    return known && isUnchanged(value[key]!, getOwn(old, key), nodeOfKey(node!, key));
  });
}
