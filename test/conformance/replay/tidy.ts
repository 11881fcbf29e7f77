// Removes the fields that no case compares from an answer.

import { isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';

/** Drops managedFields (or sorts its entries, when kept) and the descriptions of table columns. */
export function tidy(value: Json, keepManagedFields: boolean): Json {
  if (Array.isArray(value)) return value.map((v) => tidy(v, keepManagedFields));
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, v] of Object.entries(value)) {
    if (v === undefined || (key === 'managedFields' && !keepManagedFields)) continue;
    setOwn(out, key, tidyField(key, v, keepManagedFields));
  }
  return out;
}

function tidyField(key: string, value: Json, keepManagedFields: boolean): Json {
  if (key === 'managedFields' && Array.isArray(value)) return sortedByManager(value);
  if (key === 'columnDefinitions' && Array.isArray(value)) return value.map(withoutDescription);
  return tidy(value, keepManagedFields);
}

/** The server sorts managedFields by time, which a replay cannot reproduce. */
function sortedByManager(entries: Json[]): Json[] {
  const sortKey = (entry: Json) => {
    const e = isObject(entry) ? entry : {};
    return [e.manager, e.operation, e.subresource ?? '', e.apiVersion].join('\u0000');
  };
  return entries.map((e) => tidy(e, true)).sort((a, b) => sortKey(a).localeCompare(sortKey(b)));
}

function withoutDescription(column: Json): Json {
  if (!isObject(column)) return column;
  const { description: _, ...rest } = column;
  return rest;
}

/** Drops every `description` text of a document (OpenAPI, CRD schemas). */
export function dropDescriptions(value: Json): Json {
  if (Array.isArray(value)) return value.map(dropDescriptions);
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, v] of Object.entries(value)) {
    if (v === undefined || (key === 'description' && typeof v === 'string')) continue;
    setOwn(out, key, dropDescriptions(v));
  }
  return out;
}
