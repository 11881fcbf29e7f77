// Orders keys as Go writes them: struct fields as declared, map entries by key.

import { isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { sortKeys } from '@lapse/kube/api/sortKeys';
import type { BuiltinField, BuiltinTable } from './builtinTable.ts';

/** A copy in struct order, at every depth. */
export function inStructOrder(table: BuiltinTable, typeName: string, value: Json): Json {
  const type = table.types[typeName];
  if (type === undefined || !isObject(value)) return sortKeys(value);
  const out: JsonObject = {};
  for (const [name, field] of Object.entries(type.fields)) {
    const entry = value[name];
    if (entry !== undefined && Object.hasOwn(value, name)) setOwn(out, name, inField(table, field, entry));
  }
  return out;
}

function inField(table: BuiltinTable, field: BuiltinField, value: Json): Json {
  const { list, map } = field;
  const one = (item: Json): Json =>
    Array.isArray(item)
      ? item.map((inner) => inStructOrder(table, typeOf(field), inner))
      : inStructOrder(table, typeOf(field), item);
  const some = (items: Json): Json => (list && Array.isArray(items) ? items.map(one) : one(items));
  if (!map || !isObject(value)) return some(value);
  const out: JsonObject = {};
  for (const key of Object.keys(value).sort()) setOwn(out, key, some(value[key]!));
  return out;
}

const OR_SOMETHING = /Or(Array|Bool|StringArray)$/;

/** A field that may be a schema or a simpler value is a schema when it is an object. */
const typeOf = ({ t, pb }: BuiltinField): string =>
  pb !== undefined && OR_SOMETHING.test(pb) ? pb.replace(OR_SOMETHING, '') : t;
