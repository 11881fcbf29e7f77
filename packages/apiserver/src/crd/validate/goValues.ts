// Values in validation errors are printed from the internal Go structs, with Go's field names and every zero value.
// This file prints versions and schemas of a CRD in that form.

import { isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import type { PrinterColumn, Subresources, Validation, Version } from '../crd.ts';

type Shape =
  | 'text'
  | 'flag'
  | 'pointer'
  | 'list'
  | 'schema'
  | 'schemas'
  | 'schemaMap'
  | 'items'
  | 'orBool'
  | 'dependencies'
  | 'docs'
  | 'rules';

/** Fields of the internal JSONSchemaProps in Go's order: Go name, JSON name, format of the value. */
export const SCHEMA_FIELDS: readonly (readonly [string, string, Shape])[] = [
  ['ID', 'id', 'text'],
  ['Schema', '$schema', 'text'],
  ['Ref', '$ref', 'pointer'],
  ['Description', 'description', 'text'],
  ['Type', 'type', 'text'],
  ['Nullable', 'nullable', 'flag'],
  ['Format', 'format', 'text'],
  ['Title', 'title', 'text'],
  ['Default', 'default', 'pointer'],
  ['Maximum', 'maximum', 'pointer'],
  ['ExclusiveMaximum', 'exclusiveMaximum', 'flag'],
  ['Minimum', 'minimum', 'pointer'],
  ['ExclusiveMinimum', 'exclusiveMinimum', 'flag'],
  ['MaxLength', 'maxLength', 'pointer'],
  ['MinLength', 'minLength', 'pointer'],
  ['Pattern', 'pattern', 'text'],
  ['MaxItems', 'maxItems', 'pointer'],
  ['MinItems', 'minItems', 'pointer'],
  ['UniqueItems', 'uniqueItems', 'flag'],
  ['MultipleOf', 'multipleOf', 'pointer'],
  ['Enum', 'enum', 'list'],
  ['MaxProperties', 'maxProperties', 'pointer'],
  ['MinProperties', 'minProperties', 'pointer'],
  ['Required', 'required', 'list'],
  ['Items', 'items', 'items'],
  ['AllOf', 'allOf', 'schemas'],
  ['OneOf', 'oneOf', 'schemas'],
  ['AnyOf', 'anyOf', 'schemas'],
  ['Not', 'not', 'schema'],
  ['Properties', 'properties', 'schemaMap'],
  ['AdditionalProperties', 'additionalProperties', 'orBool'],
  ['PatternProperties', 'patternProperties', 'schemaMap'],
  ['Dependencies', 'dependencies', 'dependencies'],
  ['AdditionalItems', 'additionalItems', 'orBool'],
  ['Definitions', 'definitions', 'schemaMap'],
  ['ExternalDocs', 'externalDocs', 'docs'],
  ['Example', 'example', 'pointer'],
  ['XPreserveUnknownFields', 'x-kubernetes-preserve-unknown-fields', 'pointer'],
  ['XEmbeddedResource', 'x-kubernetes-embedded-resource', 'flag'],
  ['XIntOrString', 'x-kubernetes-int-or-string', 'flag'],
  ['XListMapKeys', 'x-kubernetes-list-map-keys', 'list'],
  ['XListType', 'x-kubernetes-list-type', 'pointer'],
  ['XMapType', 'x-kubernetes-map-type', 'pointer'],
  ['XValidations', 'x-kubernetes-validations', 'rules'],
];

export function goSchema(schema: JsonObject): JsonObject {
  const out: JsonObject = {};
  for (const [goName, name, shape] of SCHEMA_FIELDS) out[goName] = PRINT[shape](schema[name]);
  return out;
}

const schemaOrNull = (value: Json | undefined): Json => (isObject(value) ? goSchema(value) : null);
const schemaList = (value: Json | undefined): Json => (Array.isArray(value) ? value.map(schemaOrNull) : null);

function schemaMap(value: Json | undefined): Json {
  if (!isObject(value)) return null;
  const out: JsonObject = {};
  for (const key of Object.keys(value).sort()) setOwn(out, key, schemaOrNull(value[key]));
  return out;
}

function dependencies(value: Json | undefined): Json {
  if (!isObject(value)) return null;
  const out: JsonObject = {};
  for (const key of Object.keys(value).sort()) {
    const one = value[key];
    setOwn(out, key, { Schema: schemaOrNull(one), Property: Array.isArray(one) ? one : null });
  }
  return out;
}

const PRINT: Readonly<Record<Shape, (value: Json | undefined) => Json>> = {
  text: (v) => v ?? '',
  flag: (v) => v === true,
  pointer: (v) => v ?? null,
  list: (v) => v ?? null,
  schema: schemaOrNull,
  schemas: schemaList,
  schemaMap,
  items: (v) =>
    v === undefined
      ? null
      : { Schema: schemaOrNull(v), JSONSchemas: Array.isArray(v) ? schemaList(v) : null },
  orBool: (v) => (v === undefined ? null : { Allows: v !== false, Schema: schemaOrNull(v) }),
  dependencies,
  docs: (v) => (isObject(v) ? { Description: v['description'] ?? '', URL: v['url'] ?? '' } : null),
  rules: (v) => (Array.isArray(v) ? v.map((rule) => goRule(isObject(rule) ? rule : {})) : null),
};

/** One entry of x-kubernetes-validations. */
export const goRule = (rule: JsonObject): JsonObject => ({
  Rule: rule['rule'] ?? '',
  Message: rule['message'] ?? '',
  MessageExpression: rule['messageExpression'] ?? '',
  Reason: rule['reason'] ?? null,
  FieldPath: rule['fieldPath'] ?? '',
  OptionalOldSelf: rule['optionalOldSelf'] ?? null,
});

export const goVersions = (versions: readonly Version[]): Json => versions.map(goVersion);

const goVersion = (v: Version): JsonObject => ({
  Name: v.name,
  Served: v.served,
  Storage: v.storage,
  Deprecated: v.deprecated,
  DeprecationWarning: v.deprecationWarning ?? null,
  Schema: v.schema ? goValidation(v.schema) : null,
  Subresources: v.subresources ? goSubresources(v.subresources) : null,
  AdditionalPrinterColumns: v.columns.length > 0 ? v.columns.map(goColumn) : null,
  SelectableFields: v.selectableFields.length > 0 ? v.selectableFields.map((p) => ({ JSONPath: p })) : null,
});

const goValidation = (v: Validation): JsonObject => ({
  OpenAPIV3Schema: v.openAPIV3Schema ? goSchema(v.openAPIV3Schema) : null,
});

const goSubresources = ({ status, scale }: Subresources): JsonObject => ({
  Status: status ? {} : null,
  Scale: scale
    ? {
        SpecReplicasPath: scale.specReplicasPath,
        StatusReplicasPath: scale.statusReplicasPath,
        LabelSelectorPath: scale.labelSelectorPath ?? null,
      }
    : null,
});

const goColumn = (c: PrinterColumn): JsonObject => ({
  Name: c.name,
  Type: c.type,
  Format: c.format,
  Description: c.description,
  Priority: c.priority,
  JSONPath: c.jsonPath,
});
