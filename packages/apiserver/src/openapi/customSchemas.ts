// Schemas of custom resources: the schema of the CRD with the fields of every object.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Core } from '../context.ts';
import type { Resource } from '../resources/resource.ts';
import { customName, meta, reference } from './names.ts';

const CRDS = 'customresourcedefinitions.apiextensions.k8s.io';
const STRING: JsonObject = { type: 'string' };

/** Object and list of one version of a custom resource, by name. */
export function customSchemas(core: Core, resource: Resource): Map<string, JsonObject> {
  const { group, version, kind, listKind } = resource;
  const name = customName(group, version, kind);
  const written = versionOf(core, resource);
  return new Map([
    [name, objectSchema(resource, written)],
    [customName(group, version, listKind), listSchema(resource, name)],
  ]);
}

/** The stored CRD. */
export const crdOf = (core: Core, { group, plural }: Resource): KubeObject | undefined =>
  core.store.get(CRDS, `${plural}.${group}`)?.object;

/** The version in the CRD. */
function versionOf(core: Core, resource: Resource): JsonObject {
  const { version } = resource;
  const spec = crdOf(core, resource)?.['spec'];
  const versions = isObject(spec) && Array.isArray(spec['versions']) ? spec['versions'] : [];
  return versions.filter(isObject).find((v) => v['name'] === version) ?? {};
}

function objectSchema({ group, version, kind }: Resource, written: JsonObject): JsonObject {
  const schema = isObject(written['schema']) ? written['schema']['openAPIV3Schema'] : undefined;
  const gvk = { 'x-kubernetes-group-version-kind': [{ group, kind, version }] };
  if (!isObject(schema)) return { type: 'object', ...gvk };
  const root = published(schema);
  const selectable = selectableFields(written['selectableFields']);
  return {
    ...root,
    properties: sorted({ ...(isObject(root['properties']) ? root['properties'] : {}), ...commonFields() }),
    ...gvk,
    ...(selectable ? { 'x-kubernetes-selectable-fields': selectable } : {}),
  };
}

const commonFields = (): JsonObject => ({
  apiVersion: STRING,
  kind: STRING,
  metadata: { allOf: [reference(meta('ObjectMeta'))] },
});

function selectableFields(value: Json | undefined): JsonObject[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.filter(isObject).map((field) => ({ fieldPath: String(field['jsonPath']).replace(/^\./, '') }));
}

const listSchema = ({ group, version, listKind }: Resource, item: string): JsonObject => ({
  type: 'object',
  required: ['items'],
  properties: {
    apiVersion: STRING,
    items: { type: 'array', items: reference(item) },
    kind: STRING,
    metadata: { allOf: [reference(meta('ListMeta'))] },
  },
  'x-kubernetes-group-version-kind': [{ group, kind: listKind, version }],
});

/** The schema with the meaning of its extensions spelled out, for clients that do not know them. */
function published(schema: JsonObject): JsonObject {
  const out: JsonObject = { ...schema };
  if (isObject(schema['properties'])) {
    const properties = Object.entries(schema['properties']).map(([name, child]) => [name, nested(child)]);
    out['properties'] = sorted(Object.fromEntries(properties) as JsonObject);
  }
  if (schema['items'] !== undefined) out['items'] = nested(schema['items']);
  if (schema['additionalProperties'] !== undefined)
    out['additionalProperties'] = nested(schema['additionalProperties']);
  if (schema['x-kubernetes-int-or-string'] === true && schema['anyOf'] === undefined) {
    out['anyOf'] = [{ type: 'integer' }, { type: 'string' }];
  }
  return schema['x-kubernetes-embedded-resource'] === true ? embedded(out) : out;
}

const nested = (value: Json | undefined): Json | undefined => (isObject(value) ? published(value) : value);

function embedded(schema: JsonObject): JsonObject {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  const required = Array.isArray(schema['required']) ? schema['required'] : [];
  const missing = ['kind', 'apiVersion'].filter((name) => !required.includes(name));
  return {
    ...schema,
    required: [...required, ...missing],
    properties: sorted({ ...properties, ...commonFields() }),
  };
}

const sorted = (properties: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(properties).sort(([a], [b]) => (a < b ? -1 : 1)));
