// Computes a JSON patch between two objects, for the response of a mutating webhook. Objects are compared deeply, lists
// as a whole, because webhooks make small changes.

import { equal, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';

export interface PatchOperation {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  readonly value?: Json;
}

const pointer = (key: string): string => key.replaceAll('~', '~0').replaceAll('/', '~1');

export function buildJsonPatch(before: JsonObject, after: JsonObject, at = ''): PatchOperation[] {
  const operations: PatchOperation[] = [];
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const path = `${at}/${pointer(key)}`;
    const [old, next] = [before[key], after[key]];
    if (equal(old, next)) continue;
    if (next === undefined) operations.push({ op: 'remove', path });
    else if (old === undefined) operations.push({ op: 'add', path, value: next });
    else if (isObject(old) && isObject(next)) operations.push(...buildJsonPatch(old, next, path));
    else operations.push({ op: 'replace', path, value: next });
  }
  return operations;
}
