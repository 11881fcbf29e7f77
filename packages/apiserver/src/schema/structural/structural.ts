// Structural schemas of CRDs: validated when a CRD is written, compiled when its resource is served.

import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { DecodeError } from '../decodeError.ts';
import { compileDefaults, pruneDefaults } from './defaulting.ts';
import { type DefaultsOptions, validateDefaults } from './defaultsCheck.ts';
import { coerceEmbedded, hasEmbedded, type MetadataRules, validateEmbedded } from './embedded.ts';
import { validateInvariants } from './invariants.ts';
import { hasListTypes, validateListTypes } from './listTypes.ts';
import { asResource, readNode, type SchemaNode } from './node.ts';
import { prune, pruneNulls } from './prune.ts';
import { Result } from './result.ts';
import { entriesOf, listOf } from './schemaJson.ts';
import { compileValidator, type Validate, validateInside } from './validator.ts';

export type { DefaultsOptions } from './defaultsCheck.ts';
export type { MetadataRules } from './embedded.ts';

export interface StructuralResult {
  readonly errors: FieldError[];
  /** The schema has no structural form. Reported only when no other check failed. */
  readonly unreadable: FieldError[];
  /** No errors: rules may be compiled. */
  readonly checked: boolean;
}

/** Validates openAPIV3Schema of a CRD (already decoded) at `path`: its structure and its defaults. */
export function validateStructural(
  schema: JsonObject,
  path: string,
  options: DefaultsOptions,
): StructuralResult {
  const problem = findUnsupported(schema);
  if (problem !== undefined) return { errors: [], unreadable: [invalid(path, '', problem)], checked: false };
  const errors = validateInvariants(schema, path);
  if (errors.length === 0) errors.push(...validateDefaults(readNode(schema), path, options));
  return { errors, unreadable: [], checked: errors.length === 0 };
}

export const isStructural = (schema: JsonObject): boolean =>
  findUnsupported(schema) === undefined && validateInvariants(schema, '').length === 0;

export const hasUnprunedDefaults = (schema: JsonObject): boolean =>
  isStructural(schema) && pruneDefaults(asResource(readNode(schema)));

const UNSUPPORTED: readonly (readonly [name: string, isSet: (value: Json | undefined) => boolean])[] = [
  ['id', (v) => v !== undefined && v !== ''],
  ['$schema', (v) => v !== undefined && v !== ''],
  ['$ref', (v) => v !== undefined && v !== ''],
  ['patternProperties', (v) => isObject(v) && Object.keys(v).length > 0],
  ['dependencies', (v) => isObject(v) && Object.keys(v).length > 0],
  ['additionalItems', (v) => v !== undefined],
  ['definitions', (v) => isObject(v) && Object.keys(v).length > 0],
];

/** Why the schema has no structural form, at any depth. */
export function findUnsupported(schema: JsonObject): string | undefined {
  for (const [name, isSet] of UNSUPPORTED)
    if (isSet(schema[name]))
      return `OpenAPIV3Schema '${name.replace(/^\$schema$/, 'schema')}' is not supported`;
  if (schema['x-kubernetes-preserve-unknown-fields'] === false)
    return "internal error: 'x-kubernetes-preserve-unknown-fields' must be true or undefined";
  if (Array.isArray(schema.items)) return "OpenAPIV3Schema 'items' must be a schema, but is an array";
  for (const inner of innerSchemas(schema)) {
    const problem = findUnsupported(inner);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

function innerSchemas(schema: JsonObject): JsonObject[] {
  const single = [schema.not, schema.items, schema.additionalProperties].filter(isObject);
  const lists = [schema.allOf, schema.anyOf, schema.oneOf].flatMap(listOf);
  return [...single, ...lists, ...entriesOf(schema.properties).map(([, property]) => property)];
}

export interface StructuralOptions {
  readonly metadata: MetadataRules;
  /** spec.preserveUnknownFields of old CRDs: nothing is pruned. */
  readonly preserveUnknownFields?: boolean;
}

export interface CompiledStructural {
  /**
   * Prunes unknown fields, and null where the schema does not allow it; decodes metadata of embedded resources.
   * Modifies `object`; returns the paths of unknown fields. Throws DecodeError.
   */
  prune(object: JsonObject): string[];
  /**
   * Prunes unknown fields, and empty values in metadata of embedded resources. Modifies `object`; returns the paths
   * of removed fields.
   */
  pruneUnknown(object: JsonObject): string[];
  /** Applies defaults. Modifies `object`. */
  applyDefaults(object: JsonObject): void;
  /** Validates everything except rules. Values that are unchanged since `old` may stay invalid. */
  validate(object: JsonObject, old?: JsonObject): FieldError[];
  /** Validates only embedded resources and lists, for objects with another kind. */
  validateParts(object: JsonObject, old?: JsonObject): FieldError[];
  /** Like `validate`, for a write of the status alone. */
  validateStatus(object: JsonObject, old: JsonObject): FieldError[];
}

/** Without a schema everything is accepted (and pruned, except when unknown fields are preserved). */
export function compileStructural(
  schema: JsonObject | undefined,
  options: StructuralOptions,
): CompiledStructural {
  const node = readNode(schema ?? {});
  const root = asResource(node);
  pruneDefaults(root);
  const fill = compileDefaults(node);
  const { metadata, preserveUnknownFields = false } = options;
  const embedded = hasEmbedded(node);
  const lists = hasListTypes(node);
  const validator = compileValidator(node.json, { served: true });
  const status = node.properties.get('status');
  const statusValidator = compileValidator(status?.json ?? {}, { served: true });
  const listErrors = (object: JsonObject, old?: JsonObject): FieldError[] =>
    !lists || (old !== undefined && validateListTypes(old, node).length > 0)
      ? []
      : validateListTypes(object, node);
  const validateParts = (object: JsonObject, old?: JsonObject): FieldError[] => [
    ...(embedded ? validateEmbedded(object, node, '', metadata) : []),
    ...listErrors(object, old),
  ];
  return {
    prune(object) {
      const unknown = preserveUnknownFields ? [] : prune(object, root);
      if (!preserveUnknownFields) pruneNulls(object, node);
      return embedded ? [...unknown, ...coerceEmbedded(object, node, metadata)] : unknown;
    },
    pruneUnknown(object) {
      const unknown = preserveUnknownFields ? [] : prune(object, root);
      if (embedded) tidyEmbedded(object, node, metadata);
      return unknown;
    },
    applyDefaults: fill,
    validate: (object, old) => [
      ...run(validator, { value: object, old, node }, ''),
      ...validateParts(object, old),
    ],
    validateParts,
    validateStatus(object, old) {
      const value = object.status;
      const errors =
        value === undefined ? [] : run(statusValidator, { value, old: old.status, node: status }, 'status');
      return [...errors, ...listErrors(object, old)];
    },
  };
}

/** Removes empty values in metadata of embedded resources. Leaves invalid metadata to validation. */
function tidyEmbedded(object: JsonObject, node: SchemaNode, metadata: MetadataRules): void {
  try {
    coerceEmbedded(object, node, metadata);
  } catch (error) {
    if (!(error instanceof DecodeError)) throw error;
  }
}

interface Run {
  value: Json;
  old: Json | undefined;
  node: SchemaNode | undefined;
}

/** `base`: the field name of the root; default: `<nil>`. */
function run(validate: Validate, { value, old, node }: Run, base: string): FieldError[] {
  const result = new Result();
  validateInside(validate, value, { path: '', old, node }, result);
  if (result.errors.length === 0) return [];
  const at = (name: string): string => {
    const field = name.replace(/^\./, '');
    if (field === '') return base === '' ? '<nil>' : base;
    return base === '' ? field : `${base}.${field}`;
  };
  return result.errors.map((e) => e.toFieldError(at));
}
