// Lists that are sets or maps (x-kubernetes-list-type): no duplicate element or key. Only the second occurrence is
// reported.

import { duplicate, type FieldError, invalid } from '@lapse/kube/api/fieldErrors';
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { byBytes } from '../goPrint.ts';
import { additionalNode, childPath, type SchemaNode } from './node.ts';

/** Whether there is such a list at or below the node. */
export function hasListTypes(node: SchemaNode | undefined): boolean {
  if (node === undefined) return false;
  if (node.listType === 'set' || node.listType === 'map' || hasListTypes(node.items)) return true;
  return hasListTypes(additionalNode(node)) || node.properties.values().some(hasListTypes);
}

export function validateListTypes(
  value: Json | undefined,
  node: SchemaNode | undefined,
  path = '',
): FieldError[] {
  if (node === undefined) return [];
  if (Array.isArray(value)) {
    const errors = node.listType === 'set' ? repeated(value, path, (v) => v) : [];
    if (node.listType === 'map') errors.push(...validateMapList(value, node, path));
    value.forEach((item, i) => {
      errors.push(...validateListTypes(item, node.items, `${path}[${i}]`));
    });
    return errors;
  }
  if (!isObject(value)) return [];
  const errors: FieldError[] = [];
  const others = additionalNode(node);
  for (const key of Object.keys(value)) {
    if (others !== undefined) errors.push(...validateListTypes(value[key], others, `${path}[${key}]`));
    const property = node.properties.get(key);
    if (property !== undefined) errors.push(...validateListTypes(value[key], property, childPath(path, key)));
  }
  return errors;
}

function validateMapList(list: Json[], { listKeys }: SchemaNode, path: string): FieldError[] {
  const odd = list.findIndex((item) => item !== null && !isObject(item));
  if (odd >= 0)
    return [invalid(`${path}[${odd}]`, list[odd], 'must be an object for an array of list-type map')];
  return repeated(list, path, (item) => {
    const key: JsonObject = {};
    if (!isObject(item)) return key;
    for (const name of listKeys) {
      const value = getOwn(item, name);
      if (value !== undefined) setOwn(key, name, value);
    }
    return key;
  });
}

function repeated(list: Json[], path: string, keyOf: (item: Json) => Json): FieldError[] {
  if (list.length < 2) return [];
  const seen = new Map<string, number>();
  const errors: FieldError[] = [];
  list.forEach((item, i) => {
    const key = sorted(keyOf(item));
    const text = writeJson(key);
    const times = seen.get(text) ?? 0;
    seen.set(text, times + 1);
    if (times === 1) errors.push(duplicate(`${path}[${i}]`, key));
  });
  return errors;
}

/** Sorts keys in the order in which Go writes maps, so that equal maps have equal text. */
export function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value).sort(byBytes)) setOwn(out, key, sorted(value[key]!));
  return out;
}
