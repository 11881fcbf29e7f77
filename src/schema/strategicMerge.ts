// Strategic merge patch: merge patch that knows which lists are keyed. Driven by the struct table (patchStrategy and
// patchMergeKey); the order of merged lists follows the patch, then the live object, as upstream's does.

import { clone, getOwn, isObject, type Json, type JsonObject, setOwn } from '#api/json';
import type { BuiltinField, BuiltinTable } from './builtinTable.ts';
import { goPrint } from './goPrint.ts';
import { inPatchOrder, inSetOrder } from './strategicOrder.ts';

/** The patch cannot be applied; the message is upstream's. */
export class StrategicMergeError extends Error {}

const DIRECTIVE = '$patch';
const RETAIN_KEYS = '$retainKeys';
const DELETE_FROM = '$deleteFromPrimitiveList/';
const SET_ORDER = '$setElementOrder/';

/** The patched object of struct `typeName`; the arguments are not changed. */
export function applyStrategicMerge(
  table: BuiltinTable,
  typeName: string,
  original: JsonObject,
  patch: JsonObject,
): JsonObject {
  return mergeMap(table, typeName, clone(original), clone(patch));
}

/** Where a value is: its struct, or undefined inside free-form maps. */
type Where = string | undefined;

function mergeMap(table: BuiltinTable, where: Where, original: JsonObject, patch: JsonObject): JsonObject {
  const directive = patch[DIRECTIVE];
  if (directive !== undefined) return obey(directive, patch);
  retainKeys(original, patch);
  applyOrders(table, where, original, patch);
  for (const key of Object.keys(patch)) {
    const value = patch[key]!;
    if (key.startsWith(DELETE_FROM)) deleteFromList(original, key, value);
    else if (value === null) delete original[key];
    else mergeField(table, where, original, { key, value });
  }
  return original;
}

function obey(directive: Json, patch: JsonObject): JsonObject {
  if (directive === 'delete') return {};
  if (directive === 'replace') {
    const { [DIRECTIVE]: _, ...rest } = patch;
    return rest;
  }
  throw new StrategicMergeError(`unknown patch type: ${goPrint(directive)} in map: ${goPrint(patch)}`);
}

function retainKeys(original: JsonObject, patch: JsonObject): void {
  const wanted = patch[RETAIN_KEYS];
  if (wanted === undefined) return;
  delete patch[RETAIN_KEYS];
  if (!Array.isArray(wanted)) throw new StrategicMergeError('$retainKeys must be a list');
  const keep = new Set(wanted.map(String));
  for (const key of Object.keys(patch)) {
    if (!key.startsWith('$') && !keep.has(key)) {
      throw new StrategicMergeError('in $retainKeys patch a field must be present in the $retainKeys list');
    }
  }
  for (const key of Object.keys(original)) if (!keep.has(key)) delete original[key];
}

function deleteFromList(original: JsonObject, key: string, values: Json): void {
  const field = key.slice(DELETE_FROM.length);
  const list = getOwn(original, field);
  if (!Array.isArray(values)) throw new StrategicMergeError(`invalid patch: ${key} must be a list`);
  if (Array.isArray(list))
    setOwn(
      original,
      field,
      list.filter((v) => !values.includes(v)),
    );
}

function mergeField(
  table: BuiltinTable,
  where: Where,
  original: JsonObject,
  { key, value }: { key: string; value: Json },
): void {
  const present = getOwn(original, key);
  const field = fieldOf(table, where, key);
  if (present === undefined || present === null) setOwn(original, key, withoutDirectives(value));
  else if (isObject(present) && isObject(value)) {
    if (replaces(field)) setOwn(original, key, withoutDirectives(value));
    else setOwn(original, key, mergeMap(table, structOf(table, field), present, value));
  } else if (Array.isArray(present) && Array.isArray(value) && merges(field)) {
    setOwn(original, key, mergeList(table, field!, present, value));
  } else setOwn(original, key, withoutDirectives(value));
}

const fieldOf = (table: BuiltinTable, where: Where, key: string): BuiltinField | undefined => {
  const fields = where === undefined ? undefined : table.types[where]?.fields;
  return fields && Object.hasOwn(fields, key) ? fields[key] : undefined;
};

/** The struct of a field's value; maps of structs are free-form at their own level. */
const structOf = (table: BuiltinTable, field: BuiltinField | undefined): Where =>
  field && !field.map && Object.hasOwn(table.types, field.t) ? field.t : undefined;

const strategies = (field: BuiltinField | undefined) => (field?.ps ?? '').split(',');
const merges = (field: BuiltinField | undefined) => strategies(field).includes('merge');
const replaces = (field: BuiltinField | undefined) => strategies(field).includes('replace');

function mergeList(table: BuiltinTable, field: BuiltinField, original: Json[], patch: Json[]): Json[] {
  if (![...original, ...patch].some(isObject)) {
    const merged = [...new Set([...original, ...patch])];
    return inPatchOrder({ merged, patch, live: original, key: undefined });
  }
  const key = field.mk;
  if (!key) throw new StrategicMergeError(`cannot merge lists without merge key for ${field.t}`);
  const { list, rest } = applySpecialElements(original, patch, key);
  if (rest === undefined) return list;
  const merged = [...list];
  for (const item of rest) mergeItem(table, field, merged, { item, key });
  return inPatchOrder({ merged, patch: rest, live: list, key });
}

/** Elements that delete others or replace the list. `rest` is what is left to merge; undefined after a replacement. */
function applySpecialElements(
  original: Json[],
  patch: Json[],
  key: string,
): { list: Json[]; rest: Json[] | undefined } {
  let list = original;
  let replace = false;
  const rest: Json[] = [];
  for (const item of patch) {
    const directive = isObject(item) ? item[DIRECTIVE] : undefined;
    if (directive === undefined) rest.push(item);
    else if (directive === 'delete')
      list = list.filter((o) => !isObject(o) || o[key] !== keyValue(item as JsonObject, key));
    else if (directive === 'replace') replace = true;
    else throw new StrategicMergeError(`unknown patch type: ${goPrint(directive)} in map: ${goPrint(item)}`);
  }
  return replace ? { list: rest.map(withoutDirectives), rest: undefined } : { list, rest };
}

function keyValue(item: JsonObject, key: string): Json {
  const value = getOwn(item, key);
  if (value === undefined) {
    throw new StrategicMergeError(`map: ${goPrint(item)} does not contain declared merge key: ${key}`);
  }
  return value;
}

function mergeItem(
  table: BuiltinTable,
  field: BuiltinField,
  merged: Json[],
  { item, key }: { item: Json; key: string },
): void {
  if (!isObject(item)) throw new StrategicMergeError('expected all elements of a merged list to be maps');
  const wanted = keyValue(item, key);
  const index = merged.findIndex((o) => isObject(o) && getOwn(o, key) === wanted);
  if (index < 0) merged.push(withoutDirectives(item));
  else merged[index] = mergeMap(table, structOf(table, field), merged[index] as JsonObject, item);
}

/** `$setElementOrder/x` merges list x first and then puts it in the order given. */
function applyOrders(table: BuiltinTable, where: Where, original: JsonObject, patch: JsonObject): void {
  for (const directive of Object.keys(patch).filter((k) => k.startsWith(SET_ORDER))) {
    const order = patch[directive];
    delete patch[directive];
    const name = directive.slice(SET_ORDER.length);
    const field = fieldOf(table, where, name);
    if (!Array.isArray(order)) throw new StrategicMergeError(`${directive} must be a list`);
    const live = getOwn(original, name);
    const changes = getOwn(patch, name);
    const before = Array.isArray(live) ? [...live] : [];
    if (changes !== undefined && changes !== null) {
      mergeField(table, where, original, { key: name, value: changes });
      delete patch[name];
    }
    const merged = getOwn(original, name);
    if (Array.isArray(merged))
      setOwn(original, name, inSetOrder({ merged, order, live: before, key: field?.mk }));
  }
}

/** What a patch adds is taken as it is, minus directives and nulls that would mean removal. */
function withoutDirectives(value: Json): Json {
  if (Array.isArray(value)) {
    return value.filter((v) => !(isObject(v) && v[DIRECTIVE] === 'delete')).map(withoutDirectives);
  }
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const key of Object.keys(value)) {
    if (key === DIRECTIVE || key === RETAIN_KEYS || key.startsWith(DELETE_FROM) || key.startsWith(SET_ORDER))
      continue;
    if (value[key] !== null) setOwn(out, key, withoutDirectives(value[key]!));
  }
  return out;
}
