// Merge types of custom resources, from the OpenAPI schema of their CRD.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type FieldType, type MapType, scalarType, UNTYPED } from './fieldType.ts';

/** `metadata`: the type of ObjectMeta, for the object and embedded resources. */
export function customFieldType(schema: JsonObject | undefined, metadata: FieldType): FieldType {
  const scope = { metadata, open: false };
  if (schema === undefined) return withObjectFields(UNTYPED, scope);
  return typeOf({ ...schema, 'x-kubernetes-embedded-resource': true }, scope);
}

interface Scope {
  readonly metadata: FieldType;
  /** A parent preserves unknown fields, so all children do. */
  readonly open: boolean;
}

function withObjectFields(type: FieldType, { metadata }: Scope): FieldType {
  const fields = new Map(type.map?.fields ?? []);
  fields.set('apiVersion', () => scalarType('string'));
  fields.set('kind', () => scalarType('string'));
  fields.set('metadata', () => metadata);
  return { map: { fields, element: type.map?.element, atomic: false } };
}

function typeOf(schema: JsonObject, outer: Scope): FieldType {
  // A schema without type, and an int-or-string, allows any value.
  if (schema['x-kubernetes-int-or-string'] === true) return UNTYPED;
  const scope = { ...outer, open: outer.open || schema['x-kubernetes-preserve-unknown-fields'] === true };
  const type = plainType(schema, scope);
  return schema['x-kubernetes-embedded-resource'] === true ? withObjectFields(type, scope) : type;
}

function plainType(schema: JsonObject, scope: Scope): FieldType {
  switch (schema['type']) {
    case 'string':
      return scalarType(isPlainText(schema) ? 'string' : 'untyped');
    case 'integer':
    case 'number':
      return scalarType('numeric');
    case 'boolean':
      return scalarType('boolean');
    case 'array':
      return listType(schema, scope);
    case 'object':
      return { map: mapType(schema, scope) };
    default:
      return UNTYPED;
  }
}

/** Strings with a format may have another representation of that format. */
const isPlainText = ({ format }: JsonObject): boolean =>
  format === undefined || format === '' || format === 'byte';

function listType(schema: JsonObject, scope: Scope): FieldType {
  const items = isObject(schema['items']) ? schema['items'] : {};
  const kind = schema['x-kubernetes-list-type'];
  const keys = (
    Array.isArray(schema['x-kubernetes-list-map-keys']) ? schema['x-kubernetes-list-map-keys'] : []
  ) as string[];
  const properties = isObject(items['properties']) ? items['properties'] : {};
  const keyDefaults: Record<string, Json> = {};
  for (const key of keys) {
    const property = properties[key];
    if (isObject(property) && property['default'] !== undefined) keyDefaults[key] = property['default'];
  }
  let element: FieldType | undefined;
  return {
    list: {
      element: () => (element ??= typeOf(items, scope)),
      atomic: kind !== 'map' && kind !== 'set',
      keys: kind === 'map' ? keys : [],
      keyDefaults,
    },
  };
}

function mapType(schema: JsonObject, scope: Scope): MapType {
  const fields = new Map<string, () => FieldType>();
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  for (const [name, property] of Object.entries(properties)) {
    let type: FieldType | undefined;
    fields.set(name, () => (type ??= isObject(property) ? typeOf(property, scope) : UNTYPED));
  }
  return {
    fields,
    element: entryTypeOf(schema, scope),
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
  };
}

/** The type of undeclared entries. An object without declared fields accepts any entry. */
function entryTypeOf(schema: JsonObject, scope: Scope): (() => FieldType) | undefined {
  const { additionalProperties: more, properties } = schema;
  let element: FieldType | undefined;
  if (isObject(more)) return () => (element ??= typeOf(more, scope));
  const hasFields =
    schema['x-kubernetes-embedded-resource'] === true ||
    (isObject(properties) && Object.keys(properties).length > 0);
  return scope.open || more === true || !hasFields ? () => UNTYPED : undefined;
}
