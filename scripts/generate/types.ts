// The type table: every struct from Go's reflection, merged with what only the OpenAPI documents of the running server
// contain (required, enums, list and map types). The two must name the same fields, or generation fails.

import type { BuiltinField, BuiltinTable, BuiltinType } from '@lapse/apiserver/schema/builtinTable';
import type { Bed } from '../../test/kube/bed/bed.ts';
import { runGo } from '../../test/kube/bed/build.ts';
import { definedOnly, sortedByKey } from './json.ts';

interface OpenApiSchema {
  required?: string[];
  properties?: Record<string, OpenApiSchema>;
  items?: OpenApiSchema;
  additionalProperties?: OpenApiSchema;
  enum?: string[];
  'x-kubernetes-list-type'?: 'map' | 'set' | 'atomic';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
}

type GoField = BuiltinField & { name: string };
type GoType = Omit<BuiltinType, 'fields'> & { fields: GoField[] };

interface GoTable {
  kinds: Record<string, string>;
  types: Record<string, GoType>;
}

export async function generateTypes(bed: Bed): Promise<BuiltinTable> {
  const go = JSON.parse(await runGo(['run', './gen', 'types'])) as GoTable;
  const version = (await runGo(['list', '-m', '-f', '{{.Replace.Version}}', 'k8s.io/api'])).trim();
  const schemas = await readSchemas(bed, groupVersionsOf(go.kinds));
  const types = Object.entries(go.types).map(([name, row]) => [
    name,
    mergeType(name, row, schemas.get(name)),
  ]);
  return { version, kinds: sortedByKey(go.kinds), types: sortedByKey(Object.fromEntries(types)) };
}

/** All definitions of the documents of these group versions; a definition is the same in each that contains it. */
async function readSchemas(bed: Bed, groupVersions: Set<string>): Promise<Map<string, OpenApiSchema>> {
  const { paths } = (await bed.getJson('/openapi/v3')) as {
    paths: Record<string, { serverRelativeURL: string }>;
  };
  const schemas = new Map<string, OpenApiSchema>();
  for (const [path, { serverRelativeURL }] of Object.entries(paths)) {
    if (!groupVersions.has(path.replace(/^apis?\//, ''))) continue;
    const document = (await bed.getJson(serverRelativeURL)) as {
      components: { schemas: Record<string, OpenApiSchema> };
    };
    for (const [name, schema] of Object.entries(document.components.schemas)) schemas.set(name, schema);
  }
  return schemas;
}

function groupVersionsOf(kinds: Record<string, string>): Set<string> {
  return new Set(Object.keys(kinds).map((key) => key.slice(0, key.lastIndexOf('/'))));
}

function mergeType(name: string, row: GoType, schema: OpenApiSchema | undefined): BuiltinType {
  const properties = row.wire ? undefined : schema?.properties;
  if (properties) requireSameFields(name, row, properties);
  const required = new Set(row.wire ? [] : schema?.required);
  const fields = row.fields.map(({ name: field, ...rest }) => [
    field,
    mergeField(rest, properties?.[field] ?? {}, required.has(field)),
  ]);
  return definedOnly({
    go: row.go,
    fields: Object.fromEntries(fields),
    embedded: row.embedded,
    mt: schema?.['x-kubernetes-map-type'],
    wire: row.wire,
  });
}

function mergeField(field: BuiltinField, property: OpenApiSchema, required: boolean): BuiltinField {
  const element = property.items ?? property.additionalProperties;
  return definedOnly({
    ...field,
    req: required || undefined,
    enum: property.enum ?? element?.enum,
    lt: property['x-kubernetes-list-type'],
    lk: property['x-kubernetes-list-map-keys'],
    mt: property['x-kubernetes-map-type'],
  });
}

function requireSameFields(name: string, row: GoType, properties: Record<string, OpenApiSchema>): void {
  const inGo = row.fields.map((field) => field.name).sort();
  const inOpenApi = Object.keys(properties).sort();
  if (inGo.join() !== inOpenApi.join()) {
    throw new Error(`${name} has fields ${inGo} in Go but ${inOpenApi} in OpenAPI`);
  }
}
