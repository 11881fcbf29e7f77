// Validates the spec of a CRD, field by field, in the order of kube-apiserver.

import { type FieldError, forbidden, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { findUnsupported } from '#schema/structural/structural';
import { label1035Name, subdomainName } from '../../strategies/names.ts';
import { textAt, type Version } from '../crd.ts';
import { validateConversion } from './conversion.ts';
import { goVersions } from './goValues.ts';
import type { HoistedSpec } from './hoist.ts';
import { requireNames, validateNames } from './names.ts';
import { someSchema } from './schemaWalk.ts';
import { validateSelectableFields } from './selectableFields.ts';
import type { Strictness } from './strictness.ts';
import { validateColumn, validateSubresources } from './subresources.ts';
import { type SchemaContext, validateValidation } from './validation.ts';

export function validateSpec(spec: HoistedSpec, given: Strictness): FieldError[] {
  const strictness = tighten(spec, given);
  return [
    ...validateGroup(spec.group),
    ...validateScope(spec.scope),
    ...requireSchemas(spec, given),
    ...validateDefaultsAllowed(spec),
    ...spec.versions.flatMap((v, i) => validateVersion(spec, v, `spec.versions[${i}]`, strictness)),
    ...validateVersionsTogether(spec),
    ...requireNames(spec.names, 'spec.names'),
    ...validateNames(spec.names, 'spec.names'),
    ...validateShared(spec, strictness),
    ...validateConversionAllowed(spec),
    ...validateConversion(spec.conversion, 'spec.conversion', strictness),
  ];
}

/** Pruning, defaults and the x-kubernetes keywords need structural schemas, even when the old CRD had none. */
function tighten(spec: HoistedSpec, strictness: Strictness): Strictness {
  const structural =
    strictness.structural ||
    !spec.preserveUnknownFields ||
    someSchema(spec, (s) => s['default'] !== undefined || EXTENSIONS.some((k) => s[k] !== undefined));
  return { ...strictness, structural };
}

const EXTENSIONS = [
  'x-kubernetes-embedded-resource',
  'x-kubernetes-preserve-unknown-fields',
  'x-kubernetes-int-or-string',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-list-type',
  'x-kubernetes-validations',
];

function validateGroup(group: string): FieldError[] {
  if (group === '') return [required('spec.group')];
  const complaints = subdomainName(group);
  if (complaints.length > 0) return [invalid('spec.group', group, complaints.join(','))];
  return group.includes('.')
    ? []
    : [invalid('spec.group', group, 'should be a domain with at least one dot')];
}

function validateScope(scope: string): FieldError[] {
  if (scope === '') return [required('spec.scope')];
  const scopes = ['Cluster', 'Namespaced'];
  return scopes.includes(scope) ? [] : [notSupported('spec.scope', scope, scopes)];
}

function requireSchemas(spec: HoistedSpec, strictness: Strictness): FieldError[] {
  if (spec.validation?.openAPIV3Schema) return [];
  const missing = spec.versions.flatMap((v, i) => (v.schema?.openAPIV3Schema ? [] : [{ v, i }]));
  const at = (i: number) => `spec.versions[${i}].schema.openAPIV3Schema`;
  if (strictness.openApiSchema) return missing.map(({ i }) => required(at(i)));
  if (spec.preserveUnknownFields) return [];
  return missing
    .filter(({ v }) => v.served)
    .map(({ i }) => required(at(i), 'because otherwise all fields are pruned'));
}

function validateDefaultsAllowed(spec: HoistedSpec): FieldError[] {
  if (!spec.preserveUnknownFields || !someSchema(spec, (s) => s['default'] !== undefined)) return [];
  const text = 'must be false in order to use defaults in the schema';
  return [invalid('spec.preserveUnknownFields', true, text)];
}

function validateConversionAllowed(spec: HoistedSpec): FieldError[] {
  const strategy = textAt(spec.conversion ?? {}, 'strategy');
  if (!spec.conversion || strategy === 'None' || !spec.preserveUnknownFields) return [];
  return [
    invalid('spec.conversion.strategy', strategy, 'must be None if spec.preserveUnknownFields is true'),
  ];
}

function validateVersion(
  spec: HoistedSpec,
  version: Version,
  path: string,
  strictness: Strictness,
): FieldError[] {
  const complaints = label1035Name(version.name);
  const subresources = spec.versions.some((v) => v.subresources) ? version.subresources : spec.subresources;
  const context: SchemaContext = { status: subresources?.status ?? false, version: version.name };
  return [
    ...(complaints.length > 0 ? [invalid(`${path}.name`, version.name, complaints.join(','))] : []),
    ...validateDeprecation(version).map((text) =>
      invalid(`${path}.deprecationWarning`, version.deprecationWarning, text),
    ),
    ...validateValidation(version.schema, `${path}.schema`, context, strictness),
    ...validateSubresources(version.subresources, `${path}.subresources`),
    ...version.columns.flatMap((c, i) => validateColumn(c, `${path}.additionalPrinterColumns[${i}]`)),
    ...validateOwnSelectableFields(version, path, strictness),
  ];
}

function validateDeprecation({ deprecated, deprecationWarning }: Version): string[] {
  if (deprecationWarning === undefined) return [];
  if (!deprecated) return ['can only be set for deprecated versions'];
  const errors: string[] = [];
  if (Buffer.byteLength(deprecationWarning) > 256) errors.push('must be <= 256 characters long');
  if (deprecationWarning === '') errors.push('must not be an empty string');
  let index = 0;
  for (const ch of deprecationWarning) {
    if (ch !== ' ' && !/[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(ch)) {
      errors.push(
        `must only contain printable UTF-8 characters; non-printable character found at index ${index}`,
      );
      break;
    }
    index += Buffer.byteLength(ch);
  }
  return errors;
}

function validateOwnSelectableFields(version: Version, path: string, strictness: Strictness): FieldError[] {
  if (version.selectableFields.length === 0) return [];
  const schema = version.schema?.openAPIV3Schema;
  const at = `${path}.selectableFields`;
  if (!schema)
    return [invalid(at, '', 'may only be set when `version.schema.openAPIV3Schema` is not included')];
  const anyNumber = strictness.anyNumberOfFields.has(version.name);
  return [
    ...unreadable(schema, `${path}.schema.openAPIV3Schema`),
    ...validateSelectableFields(version.selectableFields, schema, at, anyNumber),
  ];
}

/** Fields are resolved in the structural form of a schema, which may not exist. */
function unreadable(schema: JsonObject, path: string): FieldError[] {
  const problem = findUnsupported(schema);
  return problem === undefined ? [] : [invalid(path, '', problem)];
}

/** Constraints across all versions. */
function validateVersionsTogether(spec: HoistedSpec): FieldError[] {
  const { versions } = spec;
  const errors: FieldError[] = [];
  const shown = spec.hasVersions ? goVersions(versions) : null;
  const complain = (text: string) => errors.push(invalid('spec.versions', shown, text));
  const exclusive = (field: string, what: string) =>
    errors.push(forbidden(`spec.${field}`, `top-level and per-version ${what} are mutually exclusive`));
  if (spec.validation && versions.some((v) => v.schema)) exclusive('validation', 'schemas');
  if (spec.subresources && versions.some((v) => v.subresources)) exclusive('subresources', 'subresources');
  if (spec.columns.length > 0 && versions.some((v) => v.columns.length > 0))
    exclusive('additionalPrinterColumns', 'additionalPrinterColumns');
  if (new Set(versions.map((v) => v.name)).size < versions.length) {
    complain('must contain unique version names');
  }
  if (versions.filter((v) => v.storage).length !== 1) {
    complain('must have exactly one version marked as storage version');
  }
  // The internal type has a separate field for the first version.
  const first = versions[0]?.name ?? '';
  const complaints = first === '' ? [] : label1035Name(first);
  if (complaints.length > 0) errors.push(invalid('spec.version', first, complaints.join(',')));
  return errors;
}

/** Validates the values shared by all versions, which are above them. */
function validateShared(spec: HoistedSpec, strictness: Strictness): FieldError[] {
  const status = [spec.subresources, ...spec.versions.map((v) => v.subresources)].some((s) => s?.status);
  const context: SchemaContext = { status, version: spec.versions[0]?.name ?? '' };
  const errors = [
    ...validateValidation(spec.validation, 'spec.validation', context, strictness),
    ...validateSubresources(spec.subresources, 'spec.subresources'),
    ...spec.columns.flatMap((c, i) => validateColumn(c, `spec.additionalPrinterColumns[${i}]`)),
  ];
  if (spec.selectableFields.length === 0) return errors;
  if (!spec.validation) {
    const text = 'may only be set when validations.schema is included';
    return [...errors, invalid('spec.selectableFields', '', text)];
  }
  const schema = spec.validation.openAPIV3Schema ?? {};
  const anyNumber = strictness.anyNumberOfFields.has('');
  return [
    ...errors,
    ...unreadable(schema, 'spec.schema.openAPIV3Schema'),
    ...validateSelectableFields(spec.selectableFields, schema, 'spec.selectableFields', anyNumber),
  ];
}
