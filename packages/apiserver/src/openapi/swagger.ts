// Converts the OpenAPI v3 documents to v2: the same paths and schemas with fewer keywords.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { servedData } from '../data/tables.ts';
import { NAMED_SCALARS } from './names.ts';

const V3_PREFIX = '#/components/schemas/';
const GVK = 'x-kubernetes-group-version-kind';
const PRESERVE = 'x-kubernetes-preserve-unknown-fields';

/** v2 has no alternatives: types that may also be numbers are strings. */
const FIXED: Readonly<Record<string, JsonObject>> = {
  [NAMED_SCALARS['Quantity']!]: { type: 'string' },
  [NAMED_SCALARS['IntOrString']!]: { type: 'string', format: 'int-or-string' },
};

export function swagger(documents: Iterable<JsonObject>): JsonObject {
  const paths: JsonObject = {};
  const definitions: JsonObject = {};
  for (const document of documents) {
    for (const [path, item] of entries(document['paths'])) paths[path] = pathItem(item as JsonObject);
    const components = document['components'] as JsonObject;
    for (const [name, schema] of entries(components['schemas'])) {
      definitions[name] = merged(definitions[name], definition(name, schema as JsonObject));
    }
  }
  const { major, minor } = servedData().version;
  return {
    swagger: '2.0',
    info: { title: 'Kubernetes', version: `${major}.${minor}` },
    paths: sorted(paths),
    definitions: sorted(definitions),
    securityDefinitions: {
      BearerToken: {
        description: 'Bearer Token authentication',
        type: 'apiKey',
        name: 'authorization',
        in: 'header',
      },
    },
    security: [{ BearerToken: [] }],
  };
}

const entries = (value: Json | undefined): [string, Json | undefined][] =>
  isObject(value) ? Object.entries(value) : [];

const sorted = (value: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

/** Several documents may contain the same type with the kinds of their group: the result has all of them. */
function merged(known: Json | undefined, next: JsonObject): JsonObject {
  if (!isObject(known)) return next;
  const kinds = new Map(
    [...list(known[GVK]), ...list(next[GVK])].map((kind) => [JSON.stringify(kind), kind] as const),
  );
  return kinds.size === 0 ? known : { ...known, [GVK]: [...kinds.values()] };
}

const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

function definition(name: string, schema: JsonObject): JsonObject {
  const fixed = FIXED[name];
  if (fixed) return fixed;
  // Where any field is allowed, kubectl would reject fields that are not listed.
  if (schema[PRESERVE] === true) return { type: 'object', [GVK]: schema[GVK] };
  return convert(schema) as JsonObject;
}

// Keywords that v2 does not have.
const DROPPED = new Set(['default', 'nullable', 'allOf', 'anyOf', 'oneOf', 'not']);

// kubectl fails on these keywords where any value is allowed.
const UNTYPED = new Set(['type', 'items', 'properties', 'required']);

/** Converts a schema and all schemas in it. */
function convert(schema: Json | undefined): Json | undefined {
  if (!isObject(schema)) return schema;
  const [only] = list(schema['allOf']);
  const reference = schema['$ref'] ?? (isObject(only) ? only['$ref'] : undefined);
  if (typeof reference === 'string') return { ...besideReference(schema), $ref: renamed(reference) };
  const untyped = schema['nullable'] === true || schema[PRESERVE] === true;
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(schema)) {
    if (DROPPED.has(key) || (untyped && UNTYPED.has(key))) continue;
    out[key] = convertPart(key, value);
  }
  if (Array.isArray(out['required']))
    out['required'] = out['required'].filter((name) => !isNullable(schema, name));
  if (Array.isArray(out['required']) && out['required'].length === 0) delete out['required'];
  if (out['type'] === 'array' && out['items'] === undefined) delete out['type'];
  return out;
}

/** Allowed next to a reference: the description and Kubernetes extensions. */
const besideReference = (schema: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(schema).filter(([key]) => key === 'description' || key.startsWith('x-kubernetes-')),
  );

const isNullable = (schema: JsonObject, name: Json): boolean => {
  const properties = schema['properties'];
  const property = isObject(properties) && typeof name === 'string' ? properties[name] : undefined;
  return isObject(property) && property['nullable'] === true;
};

function convertPart(key: string, value: Json | undefined): Json | undefined {
  if (key === 'properties') {
    return Object.fromEntries(entries(value).map(([name, child]) => [name, convert(child)]));
  }
  return key === 'items' || key === 'additionalProperties' ? convert(value) : value;
}

const renamed = (reference: string): string => reference.replace(V3_PREFIX, '#/definitions/');

function pathItem(item: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const [key, value] of Object.entries(item)) {
    out[key] = key === 'parameters' ? list(value).map(parameter) : operation(value as JsonObject);
  }
  return out;
}

function parameter(value: Json): JsonObject {
  const { schema, ...rest } = value as JsonObject;
  return { ...(schema as JsonObject), ...rest };
}

function operation(value: JsonObject): JsonObject {
  const body = isObject(value['requestBody']) ? value['requestBody'] : undefined;
  const responses = entries(value['responses']) as [string, JsonObject][];
  const parameters = [...(body ? [bodyParameter(body)] : []), ...list(value['parameters']).map(parameter)];
  const answered = responses.flatMap(([, response]) => entries(response['content']).map(([type]) => type));
  return {
    consumes: body ? entries(body['content']).map(([type]) => type) : ['*/*'],
    produces: [...new Set(answered)],
    schemes: ['https'],
    tags: value['tags'],
    operationId: value['operationId'],
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: Object.fromEntries(responses.map(([code, response]) => [code, responseOf(response)])),
    ...(value['x-kubernetes-action'] ? { 'x-kubernetes-action': value['x-kubernetes-action'] } : {}),
    ...(value[GVK] ? { [GVK]: value[GVK] } : {}),
  };
}

const bodyParameter = (body: JsonObject): JsonObject => ({
  name: 'body',
  in: 'body',
  ...(body['required'] === true ? { required: true } : {}),
  schema: schemaOf(body),
});

const responseOf = (response: JsonObject): JsonObject => ({
  description: response['description'],
  ...(response['content'] ? { schema: schemaOf(response) } : {}),
});

/** All media types of a body have the same schema. */
function schemaOf(body: JsonObject): Json | undefined {
  const [first] = entries(body['content']);
  return convert((first?.[1] as JsonObject | undefined)?.['schema']);
}
