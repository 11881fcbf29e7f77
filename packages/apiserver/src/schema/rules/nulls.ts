// Rules do not see null: a null property is absent. Entries of maps may be null.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';

/** Returns the value itself when it has no null property. */
export function withoutNulls(value: Json, schema: unknown): Json {
  if (!isObject(schema)) return value;
  if (Array.isArray(value)) {
    const items = value.map((item) => withoutNulls(item, schema['items']));
    return items.some((item, i) => item !== value[i]) ? items : value;
  }
  const { properties } = schema;
  return isObject(value) && isObject(properties) ? cleanObject(value, properties) : value;
}

function cleanObject(value: JsonObject, properties: JsonObject): JsonObject {
  let out: JsonObject | undefined;
  for (const [name, property] of Object.entries(properties)) {
    if (!Object.hasOwn(value, name)) continue;
    const before = value[name]!;
    const after = before === null ? undefined : withoutNulls(before, property);
    if (after === before) continue;
    out ??= { ...value };
    if (after === undefined) delete out[name];
    else out[name] = after;
  }
  return out ?? value;
}
