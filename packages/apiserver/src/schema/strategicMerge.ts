// Strategic merge patch: the Go structs determine which lists merge by key. Supports the directives $patch,
// $retainKeys, $setElementOrder/… and $deleteFromPrimitiveList/…. Does not modify the original. Removes applied
// directives from the patch, as Kubernetes does: its errors quote the rest.

import { getOwn, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import type { BuiltinTable } from './builtinTable.ts';
import { goPrint, goPrintText, goTypeOf } from './goPrint.ts';
import { badArgument, MALFORMED, StrategicMergeError } from './strategicErrors.ts';
import { elementType, ListMerger } from './strategicLists.ts';
import { PatchMeta } from './strategicMeta.ts';

export { StrategicMergeError } from './strategicErrors.ts';

const PATCH = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList';
const SET_ORDER = '$setElementOrder';

/** Throws StrategicMergeError. Modifies `patch`, and the result shares parts with it. */
export function applyStrategicMerge(
  table: BuiltinTable,
  typeName: string,
  original: JsonObject,
  patch: JsonObject,
): JsonObject {
  return mergeMap(original, patch, PatchMeta.ofStruct(table, typeName));
}

function mergeMap(original: JsonObject, patch: JsonObject, meta: PatchMeta): JsonObject {
  const directive = getOwn(patch, PATCH);
  if (directive !== undefined) return obeyDirective(directive, patch);
  const out: JsonObject = {};
  for (const key of Object.keys(original)) setOwn(out, key, original[key]);
  retainKeys(out, patch);
  for (const [key, order] of entriesOf(patch)) {
    if (!key.startsWith(SET_ORDER)) continue;
    delete patch[key];
    if (!Array.isArray(order)) throw badArgument('[]interface {}', goTypeOf(order));
    setElementOrder(out, patch, listKey(key, SET_ORDER), order, meta);
  }
  for (const [key, value] of entriesOf(patch)) {
    const fromList = key.startsWith(DELETE_FROM);
    mergeField(out, fromList ? listKey(key, DELETE_FROM) : key, value, meta, fromList);
  }
  return out;
}

const entriesOf = (patch: JsonObject) => Object.entries(patch) as [string, Json][];

function obeyDirective(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive !== 'replace')
    throw new StrategicMergeError(`unknown patch type: ${goPrintText(directive)} in map: ${goPrint(patch)}`);
  delete patch[PATCH];
  return patch;
}

/** `$setElementOrder/containers` → `containers`. */
function listKey(key: string, prefix: string): string {
  const slash = key.indexOf('/');
  if (slash < 0 || key.slice(0, slash) !== prefix)
    throw new StrategicMergeError(
      prefix === SET_ORDER ? MALFORMED.setOrder : MALFORMED.deleteFrom,
      'malformed',
    );
  return key.slice(slash + 1);
}

/** Removes keys that the directive does not list; all keys that the patch sets must be listed. */
function retainKeys(out: JsonObject, patch: JsonObject): void {
  const keys = getOwn(patch, RETAIN_KEYS);
  if (keys === undefined) return;
  delete patch[RETAIN_KEYS];
  if (!Array.isArray(keys)) throw new StrategicMergeError(MALFORMED.retainKeys, 'malformed');
  const retained = new Set(keys);
  for (const [key, value] of entriesOf(patch)) {
    if (value === null || key.startsWith(DELETE_FROM) || key.startsWith(SET_ORDER)) continue;
    if (!retained.has(key)) throw new StrategicMergeError(MALFORMED.retainKeys, 'malformed');
  }
  for (const key of Object.keys(out)) if (!retained.has(key)) delete out[key];
}

function mergeField(out: JsonObject, key: string, value: Json, meta: PatchMeta, deleteFrom: boolean): void {
  if (value === null) {
    delete out[key];
    return;
  }
  const old = getOwn(out, key);
  if (old === undefined || kindOf(old) !== kindOf(value)) {
    if (deleteFrom) return;
    dropNulls(value);
    setOrDrop(out, key, withoutDirectives(value));
  } else if (isObject(old) && isObject(value)) {
    const field = meta.field(key);
    setOwn(out, key, field.strategy === 'replace' ? value : mergeMap(old, value, field.meta));
  } else if (Array.isArray(old) && Array.isArray(value)) {
    const field = meta.listField(key);
    const merges = deleteFrom || field.strategy === 'merge';
    setOwn(out, key, merges ? new ListMerger(field, mergeMap).merge(old, value, deleteFrom) : value);
  } else setOwn(out, key, value);
}

/** Values of different types replace each other. */
const kindOf = (value: Json): string => (isObject(value) ? 'map' : Array.isArray(value) ? 'slice' : 'scalar');

function setOrDrop(out: JsonObject, key: string, value: Json | undefined): void {
  if (value === undefined) delete out[key];
  else setOwn(out, key, value);
}

/** Merges the list of the directive and orders it; removes the list from the patch. */
function setElementOrder(
  out: JsonObject,
  patch: JsonObject,
  key: string,
  order: Json[],
  meta: PatchMeta,
): void {
  const old = getOwn(out, key);
  const added = getOwn(patch, key);
  if (old !== undefined && !Array.isArray(old)) throw badArgument('[]interface {}', goTypeOf(old));
  if (added !== undefined && !Array.isArray(added)) throw badArgument('[]interface {}', goTypeOf(added));
  const field = meta.listField(key);
  const lists = new ListMerger(field, mergeMap);
  lists.checkOrder(added ?? [], order);
  if (old === undefined && added === undefined) return;
  const merged = mergedList(old, added, lists, field.strategy);
  elementType(old ?? [], added ?? []);
  setOwn(out, key, lists.order(merged, order, old ?? []));
  delete patch[key];
}

function mergedList(
  old: Json[] | undefined,
  added: Json[] | undefined,
  lists: ListMerger,
  strategy: string,
): Json[] {
  if (added === undefined) return old!;
  if (old === undefined) return withoutDirectives(added) as Json[];
  return strategy === 'merge' ? lists.merge(old, added, false) : added;
}

/** Removes maps with a $patch directive; undefined when the value itself is one. Modifies maps. */
function withoutDirectives(value: Json): Json | undefined {
  if (Array.isArray(value)) return value.map(withoutDirectives).filter((v) => v !== undefined);
  if (!isObject(value)) return value;
  if (Object.hasOwn(value, PATCH)) return undefined;
  for (const [key, entry] of entriesOf(value)) setOrDrop(value, key, withoutDirectives(entry));
  return value;
}

function dropNulls(value: Json): void {
  if (Array.isArray(value)) for (const item of value) dropNulls(item);
  if (!isObject(value)) return;
  for (const [key, entry] of entriesOf(value)) {
    if (entry === null) delete value[key];
    else dropNulls(entry);
  }
}
