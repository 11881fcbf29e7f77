// Visits every schema inside an OpenAPI schema, under any keyword.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { HoistedSpec } from './hoist.ts';

const SINGLE = ['not'] as const;
const LISTS = ['allOf', 'anyOf', 'oneOf'] as const;
const MAPS = ['properties', 'patternProperties', 'definitions', 'dependencies'] as const;
const SINGLE_OR_OTHER = ['items', 'additionalProperties', 'additionalItems'] as const;

/** The schema itself, then all schemas below it, in no particular order. */
export function* everySchema(root: JsonObject): Generator<JsonObject> {
  const pending = [root];
  for (let schema = pending.pop(); schema !== undefined; schema = pending.pop()) {
    yield schema;
    pending.push(...childrenOf(schema));
  }
}

function* childrenOf(schema: JsonObject): Generator<JsonObject> {
  const held: (Json | undefined)[] = [];
  for (const key of SINGLE) held.push(schema[key]);
  for (const key of SINGLE_OR_OTHER) held.push(...listOf(schema[key]));
  for (const key of LISTS) held.push(...listOf(schema[key]));
  for (const key of MAPS) {
    const map = schema[key];
    if (isObject(map)) held.push(...Object.values(map));
  }
  for (const value of held) if (isObject(value)) yield value;
}

const listOf = (value: Json | undefined): (Json | undefined)[] => (Array.isArray(value) ? value : [value]);

/** Whether any schema of the CRD, at any depth, matches. */
export function someSchema(spec: HoistedSpec, is: (schema: JsonObject) => boolean): boolean {
  return rootSchemas(spec).some((root) => everySchema(root).some(is));
}

/** The schemas of all versions; a shared schema is returned once. */
export function rootSchemas(spec: HoistedSpec): JsonObject[] {
  return [spec.validation, ...spec.versions.map((v) => v.schema)]
    .map((validation) => validation?.openAPIV3Schema)
    .filter((schema) => schema !== undefined);
}
