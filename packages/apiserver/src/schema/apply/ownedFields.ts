// The fields of a configuration, which its applier owns after the apply.

import { isObject, type Json } from '@lapse/kube/api/json';
import { type FieldSet, FieldSetBuilder } from './fieldSet.ts';
import { entryType, type FieldType, type ListType, type MapType, shapeOf } from './fieldType.ts';
import { itemElement } from './listItems.ts';
import { fieldElement, type PathElement } from './pathElement.ts';

export function ownedFields(type: FieldType, value: Json): FieldSet {
  const builder = new FieldSetBuilder();
  walk(builder, [], type, value);
  return builder.build();
}

function walk(builder: FieldSetBuilder, path: PathElement[], type: FieldType, value: Json): void {
  switch (shapeOf(type, value)) {
    case 'scalar':
      builder.insert(path);
      return;
    case 'list':
      walkList(builder, path, type.list!, value);
      return;
    case 'map':
      walkMap(builder, path, type.map!, value);
  }
}

function walkList(builder: FieldSetBuilder, path: PathElement[], list: ListType, value: Json): void {
  if (list.atomic) builder.insert(path);
  else if (Array.isArray(value))
    for (const item of value) {
      const at = [...path, itemElement(list, item)];
      walk(builder, at, list.element(), item);
      builder.insert(at);
    }
}

function walkMap(builder: FieldSetBuilder, path: PathElement[], map: MapType, value: Json): void {
  if (map.atomic) builder.insert(path);
  else if (isObject(value))
    for (const [name, entry] of Object.entries(value)) {
      const type = entryType(map, name);
      if (entry === undefined || type === undefined) continue;
      const at = [...path, fieldElement(name)];
      walk(builder, at, type, entry);
      const isBare = entry === null || (isObject(entry) && Object.keys(entry).length === 0);
      if (isBare || !map.fields.has(name)) builder.insert(at);
    }
}
