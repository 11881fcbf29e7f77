// Reads nested schemas from the JSON of a CRD.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';

export const entriesOf = (schemas: Json | undefined): [string, JsonObject][] =>
  isObject(schemas) ? (Object.entries(schemas).filter(([, s]) => isObject(s)) as [string, JsonObject][]) : [];
export const listOf = (schemas: Json | undefined): JsonObject[] =>
  Array.isArray(schemas) ? schemas.filter(isObject) : [];
