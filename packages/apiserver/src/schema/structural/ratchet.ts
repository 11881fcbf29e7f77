// Ratcheting: stored values that became invalid with a stricter schema may stay while they do not change. Finds the
// old value of a new one, and compares both as far as the schema describes them.

import { equal, getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { additionalNode, nodeOfKey, type SchemaNode } from './node.ts';

/** Undefined when there is no corresponding old value. */
export type Old = Json | undefined;

export function oldOfKey(old: Old, key: string): Old {
  return isObject(old) ? getOwn(old, key) : undefined;
}

/** Elements of map lists correspond by key; elements of other lists never correspond. */
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

/** Undefined when a key is missing or not a scalar. */
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

/** Fields without a schema cannot be compared: an object with such fields counts as changed. */
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
