// Structural schema rules: every field has a type, the skeleton is outside of junctors, and metadata is not
// restricted. Junctors may only constrain fields of the skeleton.

import { type FieldError, forbidden, invalid, required } from '@lapse/kube/api/fieldErrors';
import { equal, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { byBytes } from '../goPrint.ts';
import { validateCompleteness } from './completeness.ts';
import { patternProblem, patternSizeProblem } from './pattern.ts';
import { entriesOf, listOf } from './schemaJson.ts';

type Level = 'root' | 'item' | 'field';

const INT_OR_STRING: Json = [{ type: 'integer' }, { type: 'string' }];
const JUNCTORS = ['anyOf', 'allOf', 'oneOf'] as const;

/** Sorted by text. */
export function validateInvariants(schema: JsonObject, path: string): FieldError[] {
  const tooLarge = patternSizeProblem(schema);
  if (tooLarge !== undefined) return [forbidden(path, tooLarge)];
  const errors = [...invariants(schema, 'root', path), ...validateCompleteness(schema, path)];
  const textOf = (e: FieldError): string => `${e.field}: ${e.message}`;
  return errors.sort((a, b) => byBytes(textOf(a), textOf(b)));
}

const flag = (schema: JsonObject, name: string): boolean => schema[`x-kubernetes-${name}`] === true;
const textOf = (value: Json | undefined): string => (typeof value === 'string' ? value : '');

function invariants(schema: JsonObject, level: Level, path: string): FieldError[] {
  const { items, additionalProperties } = schema;
  const errors: FieldError[] = [];
  if (schema.type === 'array' && !isObject(items))
    errors.push(required(`${path}.items`, 'must be specified'));
  if (isObject(items)) errors.push(...invariants(items, 'item', `${path}.items`));
  for (const [name, property] of entriesOf(schema.properties))
    errors.push(...invariants(property, 'field', `${path}.properties[${name}]`));
  if (additionalProperties !== undefined && level === 'root')
    errors.push(forbidden(`${path}.additionalProperties`, 'must not be used at the root'));
  if (isObject(additionalProperties))
    errors.push(...invariants(additionalProperties, 'field', `${path}.additionalProperties`));
  errors.push(
    ...extensions(schema, path),
    ...valueValidation(schema, path, true),
    ...types(schema, level, path),
  );
  errors.push(...resourceFields(schema, level, path));
  return errors;
}

function extensions(schema: JsonObject, path: string): FieldError[] {
  if (!flag(schema, 'int-or-string')) return [];
  const text = 'must be false if x-kubernetes-int-or-string is true';
  return ['preserve-unknown-fields', 'embedded-resource']
    .filter((name) => flag(schema, name))
    .map((name) => invalid(`${path}.x-kubernetes-${name}`, true, text));
}

const MUST_NOT_BE_EMPTY: Record<Level, string> = {
  root: 'must not be empty at the root',
  item: 'must not be empty for specified array items',
  field: 'must not be empty for specified object fields',
};

function types(schema: JsonObject, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const at = `${path}.type`;
  const type = textOf(schema.type);
  const embedded = flag(schema, 'embedded-resource');
  if (embedded && type !== 'object') {
    const text = 'must be object if x-kubernetes-embedded-resource is true';
    errors.push(type === '' ? required(at, text) : invalid(at, type, text));
  } else if (type === '' && !flag(schema, 'int-or-string') && !flag(schema, 'preserve-unknown-fields'))
    errors.push(required(at, MUST_NOT_BE_EMPTY[level]));
  if (embedded && schema.additionalProperties !== undefined) {
    const text = 'must not be used if x-kubernetes-embedded-resource is set';
    errors.push(forbidden(`${path}.additionalProperties`, text));
  }
  if (level === 'root' && type !== '' && type !== 'object')
    errors.push(invalid(at, type, 'must be object at the root'));
  return errors;
}

/** kind, apiVersion and metadata of the resource or of an embedded one. */
function resourceFields(schema: JsonObject, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const embedded = flag(schema, 'embedded-resource');
  const checked = level === 'root' || embedded;
  const properties = new Map(entriesOf(schema.properties));
  for (const name of ['kind', 'apiVersion']) {
    const property = properties.get(name);
    if (checked && property !== undefined && property.type !== 'string')
      errors.push(invalid(`${path}.properties[${name}].type`, textOf(property.type), 'must be string'));
  }
  const metadata = properties.get('metadata');
  if (metadata !== undefined)
    errors.push(...metadataField(metadata, checked, level, `${path}.properties[metadata]`));
  if (embedded && !flag(schema, 'preserve-unknown-fields') && properties.size === 0) {
    const text =
      'must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields';
    errors.push(required(`${path}.properties`, text));
  }
  return errors;
}

function metadataField(metadata: JsonObject, checked: boolean, level: Level, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (checked && metadata.type !== 'object')
    errors.push(invalid(`${path}.type`, textOf(metadata.type), 'must be object'));
  if (level !== 'root') return errors;
  const names = entriesOf(metadata.properties).map(([name]) => name);
  const onlyNames = names.every((name) => name === 'name' || name === 'generateName');
  const allowed = new Set(['type', 'default', ...(onlyNames ? ['properties'] : [])]);
  if (Object.keys(metadata).some((key) => metadata[key] !== undefined && !allowed.has(key))) {
    const text =
      'must not specify anything other than name and generateName, but metadata is implicitly specified';
    errors.push(forbidden(path, text));
  }
  return errors;
}

/** Junctors of a schema. Two int-or-string patterns are exempt from the rule that junctors have no types. */
function valueValidation(schema: JsonObject, path: string, skeleton: boolean): FieldError[] {
  const errors: FieldError[] = [];
  const skipAnyOf = skeleton && equal(schema.anyOf, INT_OR_STRING);
  for (const junctor of JUNCTORS) {
    if (junctor === 'anyOf' && skipAnyOf) continue;
    for (const [i, branch] of listOf(schema[junctor]).entries()) {
      const excused = skeleton && junctor === 'allOf' && i === 0 && equal(branch.anyOf, INT_OR_STRING);
      errors.push(...nested(branch, `${path}.${junctor}[${i}]`, excused));
    }
  }
  if (isObject(schema.not)) errors.push(...nested(schema.not, `${path}.not`, false));
  const problem = patternProblem(schema.pattern);
  if (problem !== undefined) errors.push(invalid(`${path}.pattern`, schema.pattern, problem));
  return errors;
}

/** Keywords that are not allowed inside a junctor, in the order of upstream's checks. */
const NOT_STRUCTURAL: readonly (readonly [
  key: string,
  isSet: (value: Json | undefined) => boolean,
  text: string,
])[] = [
  ['type', (v) => textOf(v) !== '', 'must be empty to be structural'],
  ['additionalProperties', (v) => isObject(v) || v === true, 'must be undefined to be structural'],
  ['default', (v) => v !== undefined && v !== null, 'must be undefined to be structural'],
  ['title', (v) => textOf(v) !== '', 'must be empty to be structural'],
  ['description', (v) => textOf(v) !== '', 'must be empty to be structural'],
  ['nullable', (v) => v === true, 'must be false to be structural'],
  ['x-kubernetes-preserve-unknown-fields', (v) => v === true, 'must be false to be structural'],
  ['x-kubernetes-embedded-resource', (v) => v === true, 'must be false to be structural'],
  ['x-kubernetes-int-or-string', (v) => v === true, 'must be false to be structural'],
  ['x-kubernetes-list-map-keys', (v) => Array.isArray(v) && v.length > 0, 'must be empty to be structural'],
  ['x-kubernetes-list-type', (v) => v !== undefined, 'must be undefined to be structural'],
  ['x-kubernetes-map-type', (v) => v !== undefined, 'must be undefined to be structural'],
  ['x-kubernetes-validations', (v) => Array.isArray(v) && v.length > 0, 'must be empty to be structural'],
];

function nested(schema: JsonObject, path: string, skipAnyOf: boolean): FieldError[] {
  const { anyOf: _, ...withoutAnyOf } = schema;
  const errors = valueValidation(skipAnyOf ? withoutAnyOf : schema, path, false);
  if (isObject(schema.items)) errors.push(...nested(schema.items, `${path}.items`, false));
  for (const [name, property] of entriesOf(schema.properties))
    errors.push(...nested(property, `${path}.properties[${name}]`, false));
  for (const [key, isSet, text] of NOT_STRUCTURAL)
    if (isSet(schema[key])) errors.push(forbidden(`${path}.${key}`, text));
  if (entriesOf(schema.properties).some(([name]) => name === 'metadata'))
    errors.push(forbidden(`${path}.properties[metadata]`, 'must not be specified in a nested context'));
  return errors;
}
