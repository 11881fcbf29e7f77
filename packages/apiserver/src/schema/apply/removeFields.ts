// Removes the fields of a set from an object, and containers that become empty.

import { isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import type { FieldSet } from './fieldSet.ts';
import { entryType, type FieldType, type ListType, type MapType, shapeOf } from './fieldType.ts';
import { itemElement } from './listItems.ts';
import { fieldElement } from './pathElement.ts';

/** Null when nothing is left. */
export function removeFields(type: FieldType, value: Json, set: FieldSet): Json {
  switch (shapeOf(type, value)) {
    case 'scalar':
      return value;
    case 'list':
      return removeItems(type.list!, value, set);
    case 'map':
      return removeEntries(type.map!, value, set);
  }
}

function removeItems(list: ListType, value: Json, set: FieldSet): Json {
  if (!Array.isArray(value) || list.atomic) return null;
  const kept: Json[] = [];
  for (const item of value) {
    const element = itemElement(list, item);
    if (set.hasMember(element)) continue;
    const below = set.below(element);
    kept.push(below.isEmpty ? item : removeFields(list.element(), item, below));
  }
  return kept.length > 0 ? kept : null;
}

function removeEntries(map: MapType, value: Json, set: FieldSet): Json {
  if (!isObject(value) || map.atomic) return null;
  const kept: JsonObject = {};
  for (const [name, entry] of Object.entries(value)) {
    const element = fieldElement(name);
    if (entry === undefined || set.hasMember(element)) continue;
    const below = set.below(element);
    const type = entryType(map, name);
    setOwn(kept, name, below.isEmpty || type === undefined ? entry : removeFields(type, entry, below));
  }
  return Object.keys(kept).length > 0 ? kept : null;
}
