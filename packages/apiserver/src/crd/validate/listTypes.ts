// x-kubernetes-list-type, x-kubernetes-list-map-keys and x-kubernetes-map-type: how lists and maps are merged, and
// the resulting requirements for their items.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import { getOwn, isObject, type JsonObject } from '@lapse/kube/api/json';
import { textAt, textsAt } from '../crd.ts';
import { goSchema } from './goValues.ts';

const LIST_TYPE = 'x-kubernetes-list-type';
const MAP_TYPE = 'x-kubernetes-map-type';
const MAP_KEYS = 'x-kubernetes-list-map-keys';

export interface ListStrictness {
  readonly atomicSetType: boolean;
  readonly mapListKeys: boolean;
}

export function validateMapType(schema: JsonObject, path: string): FieldError[] {
  const mapType = schema[MAP_TYPE];
  if (mapType === undefined) return [];
  const errors = requireType(schema, path, 'object', MAP_TYPE);
  if (mapType !== 'atomic' && mapType !== 'granular') {
    errors.push(notSupported(`${path}.${MAP_TYPE}`, mapType, ['atomic', 'granular']));
  }
  return errors;
}

export function validateListType(schema: JsonObject, path: string, strictness: ListStrictness): FieldError[] {
  const listType = schema[LIST_TYPE];
  const errors: FieldError[] = [];
  if (listType !== undefined) {
    const wrongType = requireType(schema, path, 'array', LIST_TYPE);
    errors.push(...wrongType);
    if (wrongType.length === 0 && strictness.atomicSetType) errors.push(...validateSetItems(schema, path));
    if (listType !== 'atomic' && listType !== 'set' && listType !== 'map') {
      errors.push(notSupported(`${path}.${LIST_TYPE}`, listType, ['atomic', 'set', 'map']));
    }
  }
  if (textsAt(schema, MAP_KEYS).length > 0 && listType !== 'map') {
    const text = `must be map if ${MAP_KEYS} is non-empty`;
    const at = `${path}.${LIST_TYPE}`;
    errors.push(listType === undefined ? required(at, text) : invalid(at, listType, text));
  }
  if (listType === 'map') errors.push(...validateMapList(schema, path));
  if (strictness.mapListKeys) errors.push(...validateKeysAndItems(schema, path));
  return errors;
}

/** Items of a set are compared as a whole, so they must be atomic. */
function validateSetItems(schema: JsonObject, path: string): FieldError[] {
  const items = itemsOf(schema);
  if (schema[LIST_TYPE] !== 'set' || !items || isAtomic(items)) return [];
  const keyword = items['type'] === 'array' ? LIST_TYPE : MAP_TYPE;
  // kube-apiserver names the list type in both errors.
  const text = `must be atomic as item of a list with ${LIST_TYPE}=set`;
  return [invalid(`${path}.items.${keyword}`, items[LIST_TYPE], text)];
}

/** By default lists are atomic and maps are granular. */
function isAtomic(items: JsonObject): boolean {
  switch (items['type']) {
    case 'array':
      return items[LIST_TYPE] === undefined || items[LIST_TYPE] === 'atomic';
    case 'object':
      return items[MAP_TYPE] === 'atomic';
    default:
      return true;
  }
}

export const hasNonAtomicSet = (schema: JsonObject): boolean => {
  const items = itemsOf(schema);
  return schema[LIST_TYPE] === 'set' && items !== undefined && !isAtomic(items);
};

const itemsOf = ({ items }: JsonObject): JsonObject | undefined => (isObject(items) ? items : undefined);

function validateMapList(schema: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const { items } = schema;
  if (textsAt(schema, MAP_KEYS).length === 0) {
    errors.push(required(`${path}.${MAP_KEYS}`, `must not be empty if ${LIST_TYPE} is map`));
  }
  if (items === undefined) {
    errors.push(required(`${path}.items`, `must have a schema if ${LIST_TYPE} is map`));
  } else if (!isObject(items)) {
    const shown = {
      Schema: null,
      JSONSchemas: Array.isArray(items) ? items.filter(isObject).map(goSchema) : null,
    };
    const text = `must only have a single schema if ${LIST_TYPE} is map`;
    errors.push(invalid(`${path}.items`, shown, text));
  } else if (items['type'] !== 'object') {
    const text = `must be object if parent array's ${LIST_TYPE} is map`;
    errors.push(invalid(`${path}.items.type`, textAt(items, 'type'), text));
  } else errors.push(...validateKeyNames(schema, items, path));
  return errors;
}

function validateKeyNames(schema: JsonObject, items: JsonObject, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const keys = textsAt(schema, MAP_KEYS);
  for (const [i, key] of keys.entries()) {
    const property = propertyOf(items, key);
    if (!property) {
      errors.push(invalid(`${path}.${MAP_KEYS}`, keys, 'entries must all be names of item properties'));
    } else if (property['type'] === 'array' || property['type'] === 'object') {
      const text = `must be a scalar type if parent array's ${LIST_TYPE} is map`;
      errors.push(invalid(`${path}.items.properties[${key}].type`, textAt(items, 'type'), text));
    }
    if (keys.indexOf(key) < i) {
      errors.push(invalid(`${path}.${MAP_KEYS}`, keys, 'must not contain duplicate entries'));
    }
  }
  return errors;
}

function propertyOf(schema: JsonObject, name: string): JsonObject | undefined {
  const { properties } = schema;
  const property = isObject(properties) ? getOwn(properties, name) : undefined;
  return isObject(property) ? property : undefined;
}

/** Items of sets and maps must not be nullable, and the keys of map items are required. */
export function validateKeysAndItems(schema: JsonObject, path: string): FieldError[] {
  const items = itemsOf(schema);
  const listType = schema[LIST_TYPE];
  if (!items || (listType !== 'set' && listType !== 'map')) return [];
  const errors: FieldError[] = [];
  if (items['nullable'] === true) {
    errors.push(forbidden(`${path}.items.nullable`, `cannot be nullable when ${LIST_TYPE} is ${listType}`));
  }
  if (listType === 'set') return errors;
  const always = textsAt(items, 'required');
  const listed = `this property is in ${MAP_KEYS}, so it`;
  for (const key of textsAt(schema, MAP_KEYS)) {
    const property = propertyOf(items, key);
    if (!property) continue;
    const at = `${path}.items.properties[${key}]`;
    if (!always.includes(key) && property['default'] === undefined) {
      errors.push(required(`${at}.default`, `${listed} must have a default or be a required property`));
    }
    if (property['nullable'] === true)
      errors.push(forbidden(`${at}.nullable`, `${listed} cannot be nullable`));
  }
  return errors;
}

/** The type that another keyword requires. */
function requireType(schema: JsonObject, path: string, type: string, keyword: string): FieldError[] {
  const present = textAt(schema, 'type');
  if (present === type) return [];
  const text = `must be ${type} if ${keyword} is specified`;
  return present === '' ? [required(`${path}.type`, text)] : [invalid(`${path}.type`, present, text)];
}
