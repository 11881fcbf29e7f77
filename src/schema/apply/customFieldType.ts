// Merge types of custom resources, from the OpenAPI schema of their definition.

import { isObject, type Json, type JsonObject } from '#api/json';
import { type FieldType, type MapType, scalarType, UNTYPED } from './fieldType.ts';

/** `metadata` is the type of ObjectMeta: every object, and everything embedded, has it. */
export function customFieldType(schema: JsonObject | undefined, metadata: FieldType): FieldType {
  const root = schema === undefined ? UNTYPED : typeOf(schema, metadata);
  return withObjectFields(root, metadata);
}

function withObjectFields(type: FieldType, metadata: FieldType): FieldType {
  const fields = new Map(type.map?.fields ?? []);
  fields.set('apiVersion', () => scalarType('string'));
  fields.set('kind', () => scalarType('string'));
  fields.set('metadata', () => metadata);
  return { map: { fields, element: type.map?.element, atomic: false } };
}

function typeOf(schema: JsonObject, metadata: FieldType): FieldType {
  if (schema['x-kubernetes-int-or-string'] === true) return scalarType('untyped');
  const type = plainType(schema, metadata);
  return schema['x-kubernetes-embedded-resource'] === true ? withObjectFields(type, metadata) : type;
}

function plainType(schema: JsonObject, metadata: FieldType): FieldType {
  switch (schema['type']) {
    case 'string':
      return scalarType('string');
    case 'integer':
    case 'number':
      return scalarType('numeric');
    case 'boolean':
      return scalarType('boolean');
    case 'array':
      return listType(schema, metadata);
    case 'object':
      return { map: mapType(schema, metadata) };
    default:
      return UNTYPED;
  }
}

function listType(schema: JsonObject, metadata: FieldType): FieldType {
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
      element: () => (element ??= typeOf(items, metadata)),
      atomic: kind !== 'map' && kind !== 'set',
      keys: kind === 'map' ? keys : [],
      keyDefaults,
    },
  };
}

function mapType(schema: JsonObject, metadata: FieldType): MapType {
  const fields = new Map<string, () => FieldType>();
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  for (const [name, property] of Object.entries(properties)) {
    let type: FieldType | undefined;
    fields.set(name, () => (type ??= isObject(property) ? typeOf(property, metadata) : UNTYPED));
  }
  const { additionalProperties } = schema;
  const open = schema['x-kubernetes-preserve-unknown-fields'] === true;
  let element: FieldType | undefined;
  return {
    fields,
    element: isObject(additionalProperties)
      ? () => (element ??= typeOf(additionalProperties, metadata))
      : open || additionalProperties === true
        ? () => UNTYPED
        : undefined,
    atomic: schema['x-kubernetes-map-type'] === 'atomic',
  };
}
