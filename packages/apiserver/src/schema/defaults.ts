// Defaults of the built-in kinds, from the generated table: sets absent fields, then continues in existing structs.
// Only unconditional defaults; the rest is code in the strategies.

import { clone, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { BuiltinTable, DefaultsTable } from './builtinTable.ts';

type Defaulter = (value: JsonObject) => void;

const compiled = new WeakMap<BuiltinTable, Map<string, Defaulter | undefined>>();

/** Modifies `value`, an object of struct `typeName`. */
export function applyDefaults(
  defaults: DefaultsTable,
  table: BuiltinTable,
  typeName: string,
  value: JsonObject,
): void {
  let cache = compiled.get(table);
  if (!cache) {
    cache = new Map();
    compiled.set(table, cache);
  }
  compile(defaults, table, typeName, cache)?.(value);
}

/** The defaulter of a struct, or undefined when nothing below it has defaults. */
function compile(
  defaults: DefaultsTable,
  table: BuiltinTable,
  typeName: string,
  cache: Map<string, Defaulter | undefined>,
): Defaulter | undefined {
  if (cache.has(typeName)) return cache.get(typeName);
  // Structs may contain themselves (JSONSchemaProps), so the entry is set before it is complete.
  let run: Defaulter | undefined;
  cache.set(typeName, (value) => run?.(value));
  const fields = table.types[typeName]?.fields ?? {};
  const own = Object.entries(defaults[typeName] ?? {}).map(([name, preset]): [string, Json, boolean] => [
    name,
    preset as Json,
    fields[name]?.ptr === true,
  ]);
  const below: [string, Defaulter, Shape][] = [];
  for (const [name, field] of Object.entries(fields)) {
    const inner = Object.hasOwn(table.types, field.t) && compile(defaults, table, field.t, cache);
    if (inner) below.push([name, inner, shapeOf(field)]);
  }
  if (own.length === 0 && below.length === 0) {
    cache.set(typeName, undefined);
    return undefined;
  }
  run = (value) => {
    for (const [name, preset, ptr] of own) if (isAbsent(value[name], ptr)) value[name] = clone(preset);
    for (const [name, inner, shape] of below) descend(value[name], inner, shape);
  };
  return cache.get(typeName);
}

// A pointer is absent only when it is not set; for all other types Go cannot distinguish absent from empty.
const isAbsent = (value: Json | undefined, pointer: boolean): boolean =>
  value === undefined || value === null || (!pointer && (value === '' || value === 0 || value === false));

type Shape = 'one' | 'list' | 'map';

const shapeOf = ({ list, map }: { list?: unknown; map?: unknown }): Shape =>
  list ? 'list' : map ? 'map' : 'one';

function descend(value: Json | undefined, inner: Defaulter, shape: Shape): void {
  if (shape === 'one') runOn(value, inner);
  else if (shape === 'list' && Array.isArray(value)) for (const v of value) runOn(v, inner);
  else if (shape === 'map' && isObject(value)) for (const v of Object.values(value)) runOn(v, inner);
}

function runOn(value: Json | undefined, inner: Defaulter): void {
  if (isObject(value)) inner(value);
}
