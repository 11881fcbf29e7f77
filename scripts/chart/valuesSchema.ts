// The generated parts of values.schema.json: feature gates and configuration. Helm refuses an unknown field, instead of
// a Pod that crashes because of it.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { IMPERSONATION_SCHEMA } from 'lapse/authors/impersonation';
import type { Family } from 'lapse/controllers/family';
import { compileConfiguration } from 'lapse/manager/configuration/schema';

/** The chart has separate values for these, and its template uses them. */
const OWN = ['apiVersion', 'kind', 'controllers', 'featureGates', 'actAs', 'dryRun', 'webhook', 'api'];

/** The hand-written schema with these two parts filled in. Pure. */
export function fillValuesSchema(written: JsonObject, families: readonly Family[]): JsonObject {
  const { properties } = written;
  if (!isObject(properties)) throw new Error('values.schema.json has no properties');
  return {
    ...written,
    properties: { ...properties, featureGates: gatesSchema(families), config: configSchema(families) },
  };
}

function gatesSchema(families: readonly Family[]): JsonObject {
  const names = families.flatMap(({ gates }) => gates.map(({ name }) => name));
  const gates = ['AllAlpha', 'AllBeta', ...names].map((name) => [name, { type: 'boolean' }]);
  return { type: 'object', additionalProperties: false, properties: Object.fromEntries(gates) };
}

function configSchema(families: readonly Family[]): JsonObject {
  const { properties } = closed(compileConfiguration(families).json) as { properties: JsonObject };
  const own = Object.fromEntries(OWN.map((name) => [name, {}]));
  return { type: 'object', additionalProperties: false, properties: { ...properties, ...own } };
}

/** A structural schema cannot express this; see parseImpersonation. */
const IMPERSONATION: JsonObject = {
  oneOf: [
    { enum: ['none', 'cluster'] },
    {
      type: 'object',
      required: ['namespaces'],
      additionalProperties: false,
      properties: { namespaces: { type: 'array', minItems: 1, items: { type: 'string', minLength: 1 } } },
    },
  ],
};

/** The same, without additional fields, and without extensions that only an API server reads. */
function closed(schema: Json): Json {
  if (Array.isArray(schema)) return schema.map(closed);
  if (!isObject(schema)) return schema;
  if (schema === IMPERSONATION_SCHEMA) return IMPERSONATION;
  const { default: _default, description: _description, properties, items, ...rest } = schema;
  return {
    ...rest,
    ...(items === undefined ? {} : { items: closed(items) }),
    ...(isObject(properties) ? { additionalProperties: false, properties: eachOf(properties) } : {}),
  };
}

const eachOf = (properties: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, closed(schema!)]));
