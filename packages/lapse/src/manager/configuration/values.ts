// Parses values of flags and environment variables, and merges documents.

import { clone, getOwn, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';

const TRUE = new Set(['true', 'True', 'TRUE', '1', 't']);
const FALSE = new Set(['false', 'False', 'FALSE', '0', 'f']);

/**
 * Throws a readable error if the text is not a value of the schema's type. The rest of the schema is checked later.
 */
export function parseValue(schema: JsonObject, text: string): Json {
  if (schema['x-kubernetes-int-or-string'] === true) return /^-?\d+$/.test(text) ? Number(text) : text;
  switch (schema.type) {
    case 'boolean':
      if (TRUE.has(text)) return true;
      if (FALSE.has(text)) return false;
      throw new Error(`must be true or false, not "${text}"`);
    case 'integer':
      if (/^-?\d{1,15}$/.test(text)) return Number(text);
      throw new Error(`must be a whole number, not "${text}"`);
    case 'number':
      if (text.trim() !== '' && Number.isFinite(Number(text))) return Number(text);
      throw new Error(`must be a number, not "${text}"`);
    case 'array':
      return splitList(text).map((item) => parseValue(isObject(schema.items) ? schema.items : {}, item));
    case 'object':
      return parseMap(schema, text);
    default:
      return text;
  }
}

const splitList = (text: string): string[] =>
  text
    .split(',')
    .map((item) => item.trim())
    .filter((item) => item !== '');

/** `Name=true,Other=false`. */
function parseMap(schema: JsonObject, text: string): JsonObject {
  const inner = schema.additionalProperties;
  if (!isObject(inner)) throw new Error('can only be set in a configuration file');
  const map: JsonObject = {};
  for (const item of splitList(text)) {
    const equals = item.indexOf('=');
    if (equals <= 0) throw new Error(`must be name=value pairs, "${item}" is none`);
    const name = item.slice(0, equals).trim();
    try {
      setOwn(map, name, parseValue(inner, item.slice(equals + 1).trim()));
    } catch (cause) {
      throw new Error(`${name} ${(cause as Error).message}`);
    }
  }
  return map;
}

/** A document with only this value at this path. */
export const documentOf = (field: string, value: Json): JsonObject =>
  field.split('.').reduceRight<Json>((inner, name) => ({ [name]: inner }), value) as JsonObject;

/** `over` takes precedence. Maps are merged, everything else is replaced. */
export function overlay(under: JsonObject, over: JsonObject): JsonObject {
  const merged = clone(under);
  for (const [name, value] of Object.entries(over)) {
    const before = getOwn(merged, name);
    setOwn(merged, name, isObject(before) && isObject(value) ? overlay(before, value) : clone(value));
  }
  return merged;
}
