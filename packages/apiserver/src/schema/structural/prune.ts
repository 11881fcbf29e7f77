// Prunes fields that are not in the schema. x-kubernetes-preserve-unknown-fields keeps them, down to properties that
// have a schema. Ignores apiVersion, kind and metadata of resources. Modifies the value.

import { clone, type Json, type JsonObject } from '@lapse/kube/api/json';
import { byBytes } from '../goPrint.ts';
import { additionalNode, childPath, META_FIELDS, nodeOfKey, type SchemaNode } from './node.ts';

/** Paths of the removed fields, sorted: `spec.containers[0].colour`. */
export function prune(value: Json, node: SchemaNode | undefined): string[] {
  const removed: string[] = [];
  pruneValue(value, node, '', removed);
  return removed.length < 2 ? removed : removed.sort(byBytes);
}

function pruneValue(value: Json, node: SchemaNode | undefined, path: string, removed: string[]): void {
  if (typeof value !== 'object' || value === null) return;
  if (node?.preserve) preserveValue(value, node, path, removed);
  else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) pruneValue(value[i]!, node?.items, `${path}[${i}]`, removed);
  } else if (node === undefined) {
    for (const key of Object.keys(value)) removeKey(value, key, path, removed);
  } else pruneObject(value, node, path, removed);
}

function pruneObject(value: JsonObject, node: SchemaNode, path: string, removed: string[]): void {
  for (const key of Object.keys(value)) {
    if (node.embedded && META_FIELDS.has(key)) continue;
    const property = node.properties.get(key);
    if (property !== undefined || node.additional !== undefined)
      pruneValue(value[key]!, property ?? additionalNode(node), childPath(path, key), removed);
    else removeKey(value, key, path, removed);
  }
}

function removeKey(value: JsonObject, key: string, path: string, removed: string[]): void {
  if (path !== '' || !META_FIELDS.has(key)) removed.push(childPath(path, key));
  delete value[key];
}

/** Removes nothing here, but schemas below may prune again. */
function preserveValue(value: JsonObject | Json[], node: SchemaNode, path: string, removed: string[]): void {
  if (Array.isArray(value)) {
    const { items } = node;
    if (items === undefined) return;
    value.forEach((item, i) => {
      if (typeof item === 'object' && item !== null) preserveValue(item, items, `${path}[${i}]`, removed);
    });
    return;
  }
  for (const key of Object.keys(value)) {
    if (node.embedded && META_FIELDS.has(key)) continue;
    const property = node.properties.get(key);
    if (property !== undefined || node.additional !== undefined)
      pruneValue(value[key]!, property ?? additionalNode(node), childPath(path, key), removed);
  }
}

/** Removes null where the schema does not allow it and has no default. */
export function pruneNulls(value: Json, node: SchemaNode | undefined): void {
  if (node === undefined || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (const item of value) pruneNulls(item, node.items);
    return;
  }
  for (const key of Object.keys(value)) {
    const inner = nodeOfKey(node, key);
    if (inner === undefined) continue;
    if (value[key] === null && !inner.nullable && inner.default === undefined) delete value[key];
    else pruneNulls(value[key]!, inner);
  }
}

/** Whether pruning would change nothing. */
export const isPruned = (value: Json, node: SchemaNode): boolean => prune(clone(value), node).length === 0;
