// Items of an associative list as path elements.

import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { ListType } from './fieldType.ts';
import { keyElement, type PathElement, valueElement } from './pathElement.ts';

/** An item without a unique key. */
export class ItemError extends Error {}

export function itemElement(list: ListType, item: Json): PathElement {
  return list.keys.length > 0 ? keyed(list, item) : setItem(item);
}

function keyed(list: ListType, item: Json): PathElement {
  if (item === null) throw new ItemError('associative list with keys may not have a null element');
  if (!isObject(item)) throw new ItemError('associative list with keys may not have non-map elements');
  const keys: JsonObject = {};
  for (const name of list.keys) {
    const own = getOwn(item, name);
    // Null is a value, not absent.
    const value = own === undefined ? getOwn(list.keyDefaults as JsonObject, name) : own;
    if (value !== undefined) keys[name] = value;
  }
  if (Object.keys(keys).length > 0) return keyElement(keys);
  const names = list.keys.map((name) => JSON.stringify(name)).join(' ');
  throw new ItemError(
    `associative list with keys has an element that omits all key fields [${names}] (and doesn't have default values for any key fields)`,
  );
}

function setItem(item: Json): PathElement {
  if (isObject(item)) throw new ItemError("associative list without keys has an element that's a map type");
  if (Array.isArray(item)) throw new ItemError('not supported: associative list with lists as elements');
  if (item === null)
    throw new ItemError("associative list without keys has an element that's an explicit null");
  return valueElement(item);
}
