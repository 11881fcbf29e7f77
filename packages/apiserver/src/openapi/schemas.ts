// Schemas of built-in types, made from the table that also decodes them. Without descriptions.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { BuiltinField, BuiltinTable } from '#schema/builtinTable';
import { MARKED_DEFAULTS, UNIONS } from './goMarkers.ts';
import { meta, NAMED_SCALARS, reference } from './names.ts';

const OBJECT: JsonObject = { type: 'object' };

/**
 * Schemas of types that are scalars in the table, and of those that only occur in responses of discovery and watches.
 */
const FIXED: Readonly<Record<string, JsonObject>> = {
  [NAMED_SCALARS['Time']!]: { type: 'string', format: 'date-time' },
  [NAMED_SCALARS['MicroTime']!]: { type: 'string', format: 'date-time' },
  [NAMED_SCALARS['Duration']!]: { type: 'string' },
  [NAMED_SCALARS['FieldsV1']!]: OBJECT,
  [NAMED_SCALARS['Quantity']!]: { oneOf: [{ type: 'string' }, { type: 'number' }] },
  [NAMED_SCALARS['IntOrString']!]: {
    format: 'int-or-string',
    oneOf: [{ type: 'integer' }, { type: 'string' }],
  },
  [NAMED_SCALARS['RawExtension']!]: OBJECT,
  [NAMED_SCALARS['JSON']!]: {},
  [meta('Patch')]: OBJECT,
};

const SCALARS: Readonly<Record<string, JsonObject>> = {
  string: { type: 'string' },
  bool: { type: 'boolean' },
  int32: { type: 'integer', format: 'int32' },
  int64: { type: 'integer', format: 'int64' },
  uint32: { type: 'integer', format: 'int64' },
  uint64: { type: 'integer', format: 'int64' },
  float64: { type: 'number', format: 'double' },
  bytes: { type: 'string', format: 'byte' },
};

const ZERO: Readonly<Record<string, Json>> = { string: '', boolean: false, integer: 0, number: 0 };

export class SchemaBuilder {
  readonly #table: BuiltinTable;
  readonly #kindsOf: ReadonlyMap<string, readonly string[]>;

  constructor(table: BuiltinTable) {
    this.#table = table;
    this.#kindsOf = kindsByType(table);
  }

  /** The named types and all types they refer to, by name. `apiVersion`: of the document. */
  collect(names: Iterable<string>, apiVersion: string): Map<string, JsonObject> {
    const found = new Map<string, JsonObject>();
    const todo = [...names];
    for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
      if (found.has(name)) continue;
      const schema = this.#schema(name, apiVersion);
      found.set(name, schema);
      todo.push(...referencesIn(schema));
    }
    return new Map([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #schema(name: string, apiVersion: string): JsonObject {
    const fixed = FIXED[name];
    if (fixed) return fixed;
    const type = this.#table.types[name];
    if (!type) throw new Error(`type ${name} is not in the built-in type table; run npm run generate`);
    // The JSON form differs from the message, so the schema allows any value.
    if (type.wire) return {};
    const fields = Object.entries(type.fields).sort(([a], [b]) => (a < b ? -1 : 1));
    const required = Object.entries(type.fields)
      .filter(([, field]) => field.req)
      .map(([key]) => key);
    const gvks = this.#groupVersionKinds(name, apiVersion);
    return {
      type: 'object',
      ...(required.length > 0 ? { required } : {}),
      ...(fields.length > 0 ? { properties: propertiesOf(name, fields) } : {}),
      ...(gvks.length > 0 ? { 'x-kubernetes-group-version-kind': gvks } : {}),
      ...(type.mt ? { 'x-kubernetes-map-type': type.mt } : {}),
      ...(UNIONS[name] ? { 'x-kubernetes-unions': UNIONS[name] } : {}),
    };
  }

  /** The kinds of a type: those of the core group and of the document's group version. */
  #groupVersionKinds(name: string, apiVersion: string): JsonObject[] {
    const kinds = (this.#kindsOf.get(name) ?? []).map(parseKind).sort(byGroup);
    if (kinds.length === 1) return kinds;
    return kinds.filter(({ group, version }) => {
      const of = group === '' ? String(version) : `${group}/${version}`;
      return of === 'v1' || of === apiVersion;
    });
  }
}

function kindsByType(table: BuiltinTable): Map<string, string[]> {
  const kinds = new Map<string, string[]>();
  for (const [kind, type] of Object.entries(table.kinds)) kinds.set(type, [...(kinds.get(type) ?? []), kind]);
  return kinds;
}

/** `batch/v1/Job` or `v1/Pod`. */
function parseKind(text: string): JsonObject {
  const parts = text.split('/');
  const [group, version, kind] = parts.length === 2 ? ['', ...parts] : parts;
  return { group: group!, kind: kind!, version: version! };
}

const byGroup = (a: JsonObject, b: JsonObject): number => (String(a['group']) < String(b['group']) ? -1 : 1);

function propertiesOf(type: string, fields: readonly (readonly [string, BuiltinField])[]): JsonObject {
  const marked = MARKED_DEFAULTS[type] ?? {};
  return Object.fromEntries(
    fields.map(([name, field]) => {
      const schema = fieldSchema(field);
      return [name, Object.hasOwn(marked, name) ? withDefault(schema, marked[name]!) : schema];
    }),
  );
}

/** A reference goes into an `allOf`, since fields always have siblings of it (the description in kube-apiserver). */
function fieldSchema(field: BuiltinField): JsonObject {
  if (field.map || field.list) return { ...containerSchema(field), ...mergeRules(field) };
  const element = elementSchema(field);
  const wrapped = '$ref' in element ? { allOf: [element] } : element;
  return { ...(isZeroDefault(field) ? withZero(field, wrapped) : wrapped), ...mergeRules(field) };
}

// A non-pointer field that is written even when empty has its zero value as default.
const isZeroDefault = (field: BuiltinField): boolean => !field.ptr && (!field.omit || isStruct(field));
const isStruct = (field: BuiltinField): boolean =>
  !Object.hasOwn(SCALARS, field.t) && !Object.hasOwn(NAMED_SCALARS, field.t);

function containerSchema(field: BuiltinField): JsonObject {
  const bare = elementSchema(field);
  const element = isPlain(field) ? withZero(field, '$ref' in bare ? { allOf: [bare] } : bare) : bare;
  if (field.map && field.list) {
    return { type: 'object', additionalProperties: { type: 'array', items: element } };
  }
  return field.map ? { type: 'object', additionalProperties: element } : { type: 'array', items: element };
}

/** A scalar with its format and values, or a reference. */
function elementSchema(field: BuiltinField): JsonObject {
  if (field.t === 'JSON' && field.pb) return reference(field.pb);
  if (!Object.hasOwn(SCALARS, field.t)) return reference(NAMED_SCALARS[field.t] ?? field.t);
  return { ...SCALARS[field.t], ...(field.enum ? { enum: field.enum } : {}) };
}

/** Neither bytes nor a type with its own encoding: their zero value is not a default. */
const isPlain = (field: BuiltinField): boolean =>
  field.t !== 'bytes' && !Object.hasOwn(NAMED_SCALARS, field.t);

function withZero(field: BuiltinField, schema: JsonObject): JsonObject {
  if (!isPlain(field)) return schema;
  return withDefault(schema, 'allOf' in schema ? {} : ZERO[String(schema['type'])]!);
}

/** The default is at the position where kube-apiserver writes it: after type and format, before the rest. */
function withDefault({ type, format, ...rest }: JsonObject, value: Json): JsonObject {
  return { ...(type ? { type } : {}), ...(format ? { format } : {}), default: value, ...rest };
}

function mergeRules(field: BuiltinField): JsonObject {
  return {
    ...(field.lk ? { 'x-kubernetes-list-map-keys': field.lk } : {}),
    ...(field.lt ? { 'x-kubernetes-list-type': field.lt } : {}),
    ...(field.mt ? { 'x-kubernetes-map-type': field.mt } : {}),
    ...(field.mk ? { 'x-kubernetes-patch-merge-key': field.mk } : {}),
    ...(field.ps ? { 'x-kubernetes-patch-strategy': field.ps } : {}),
  };
}

const PREFIX = '#/components/schemas/';

function* referencesIn(value: Json | undefined): Generator<string> {
  if (Array.isArray(value)) for (const element of value) yield* referencesIn(element);
  else if (typeof value === 'object' && value !== null) {
    for (const [key, child] of Object.entries(value)) {
      if (key === '$ref' && typeof child === 'string' && child.startsWith(PREFIX))
        yield child.slice(PREFIX.length);
      else yield* referencesIn(child);
    }
  }
}
