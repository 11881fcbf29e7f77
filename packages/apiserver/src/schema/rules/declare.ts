// The CEL declaration of a structural schema: types, escaped field names, and sizes for cost estimates. Rules cannot
// see values that the schema does not describe (unknown fields, untyped parts).

import {
  BOOL,
  BYTES,
  type CelType,
  DOUBLE,
  DURATION,
  DYN,
  INT,
  type ListSemantics,
  listOf,
  mapOf,
  STRING,
  structOf,
  TIMESTAMP,
} from '@lapse/cel/types';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { escapeName } from './escape.ts';

export interface Decl {
  readonly type: CelType;
  /** Minimum size of a value in bytes of JSON. */
  readonly minSize: number;
  /** Maximum number of characters, elements or entries of a value. */
  readonly maxElements: number;
  /** By CEL name. */
  readonly fields?: ReadonlyMap<string, DeclField>;
  /** Elements of a list, values of a map. */
  readonly element?: Decl;
}

export interface DeclField {
  readonly decl: Decl;
  /** The name of the property. */
  readonly property: string;
}

export const MAX_REQUEST_BYTES = 3 * 1024 * 1024;

// Sizes in JSON, including quotation marks.
const SIZE = { string: 2, bool: 4, number: 1, duration: 3, date: 12, dateTime: 21 } as const;
const MAX_SIZE = { duration: 32, date: 12, dateTime: 32 } as const;

/** Undefined when the schema is not exposed to rules. `name` identifies structural types. */
export function declare(schema: JsonObject, name: string, isResource: boolean): Decl | undefined {
  if (schema['x-kubernetes-int-or-string'] === true) return intOrString(schema);
  switch (schema['type']) {
    case 'array':
      return declareList(schema, name);
    case 'object':
      return declareObject(isResource ? withObjectMeta(schema) : schema, name);
    case 'string':
      return declareString(schema);
    case 'boolean':
      return scalar(BOOL, SIZE.bool);
    case 'number':
      return scalar(DOUBLE, SIZE.number);
    case 'integer':
      return scalar(INT, SIZE.number);
    default:
      return undefined;
  }
}

const scalar = (type: CelType, minSize: number, maxElements = 0): Decl => ({ type, minSize, maxElements });

const isEmbedded = (schema: JsonObject) => schema['x-kubernetes-embedded-resource'] === true;

/** A limit of the schema; negative ones count as zero. */
function limit(schema: JsonObject, keyword: string): number | undefined {
  const value = schema[keyword];
  return typeof value === 'number' || typeof value === 'bigint' ? Math.max(0, Number(value)) : undefined;
}

function intOrString(schema: JsonObject): Decl {
  const maxLength = limit(schema, 'maxLength');
  return scalar(DYN, 1, maxLength === undefined ? MAX_REQUEST_BYTES - 2 : maxLength * 4);
}

function declareList(schema: JsonObject, name: string): Decl | undefined {
  const items = schema['items'];
  if (!isObject(items)) return undefined;
  const element = declare(items, `${name}.@idx`, isEmbedded(items));
  if (!element) return undefined;
  const unbounded = Math.floor((MAX_REQUEST_BYTES - 2) / (element.minSize + 1));
  return {
    type: listOf(element.type, semantics(schema)),
    minSize: 2,
    maxElements: limit(schema, 'maxItems') ?? unbounded,
    element,
  };
}

/** How a list compares and concatenates. */
function semantics(schema: JsonObject): ListSemantics | undefined {
  const keys = schema['x-kubernetes-list-map-keys'];
  switch (schema['x-kubernetes-list-type']) {
    case 'set':
      return { kind: 'set' };
    case 'map':
      return { kind: 'map', keys: Array.isArray(keys) ? keys.map(String) : [] };
    default:
      return undefined;
  }
}

function declareObject(schema: JsonObject, name: string): Decl | undefined {
  const additional = schema['additionalProperties'];
  if (isObject(additional)) return declareMap(schema, additional, name);
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = new Set(Array.isArray(schema['required']) ? schema['required'] : []);
  const fields = new Map<string, DeclField>();
  let minSize = 2;
  for (const [property, value] of Object.entries(properties)) {
    if (!isObject(value)) continue;
    const decl = declare(value, `${name}.${property}`, isEmbedded(value));
    if (!decl) continue;
    const field = escapeName(property);
    if (field !== undefined) fields.set(field, { decl, property });
    // The server sets fields with a default, so the request may omit them.
    if (required.has(property) && value['default'] === undefined) {
      minSize += Buffer.byteLength(property) + decl.minSize + 4;
    }
  }
  return { type: structOf(name), minSize, maxElements: 0, fields };
}

function declareMap(schema: JsonObject, values: JsonObject, name: string): Decl | undefined {
  const element = declare(values, `${name}.@elem`, isEmbedded(values));
  if (!element) return undefined;
  const unbounded = Math.floor((MAX_REQUEST_BYTES - 2) / (element.minSize + 6));
  return {
    type: mapOf(STRING, element.type),
    minSize: 2,
    maxElements: limit(schema, 'maxProperties') ?? unbounded,
    element,
  };
}

function declareString(schema: JsonObject): Decl {
  const maxLength = limit(schema, 'maxLength');
  switch (schema['format']) {
    case 'byte':
      return scalar(BYTES, SIZE.string, maxLength ?? MAX_REQUEST_BYTES - 2);
    case 'duration':
      return scalar(DURATION, SIZE.duration, MAX_SIZE.duration);
    case 'date':
      return scalar(TIMESTAMP, SIZE.date, MAX_SIZE.date);
    case 'date-time':
      return scalar(TIMESTAMP, SIZE.dateTime, MAX_SIZE.dateTime);
    default:
      // A code point has up to four bytes, and limits count code points.
      return scalar(STRING, SIZE.string, maxLength === undefined ? unboundedString(schema) : maxLength * 4);
  }
}

function unboundedString(schema: JsonObject): number {
  const values = schema['enum'];
  if (!Array.isArray(values) || values.length === 0) return MAX_REQUEST_BYTES - 2;
  return Math.max(...values.map((v: Json) => (typeof v === 'string' ? Buffer.byteLength(v) : 0)));
}

const TEXT: JsonObject = { type: 'string' };

/** Rules of a resource can always read its kind, apiVersion and name. */
function withObjectMeta(schema: JsonObject): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const metadata: JsonObject = { type: 'object', properties: { name: TEXT, generateName: TEXT } };
  return { ...schema, properties: { ...properties, kind: TEXT, apiVersion: TEXT, metadata } };
}
