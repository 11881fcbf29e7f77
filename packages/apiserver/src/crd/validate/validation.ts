// Validates one schema of a CRD: its root, its structure, its defaults, and its OpenAPI keywords.

import { type FieldError, forbidden, invalid } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { textAt, type Validation } from '../crd.ts';
import { ruleEngine } from '../rules.ts';
import { goSchema, SCHEMA_FIELDS } from './goValues.ts';
import { validateOpenApi } from './openapi.ts';
import type { Strictness } from './strictness.ts';
import { validateStructure } from './structure.ts';

export interface SchemaContext {
  /** The status subresource is enabled, so the root may have little more than properties. */
  readonly status: boolean;
  /** The version (the first one, for a shared schema). */
  readonly version: string;
}

export function validateValidation(
  validation: Validation | undefined,
  path: string,
  context: SchemaContext,
  strictness: Strictness,
): FieldError[] {
  const schema = validation?.openAPIV3Schema;
  if (!schema) return [];
  const at = `${path}.openAPIV3Schema`;
  const errors = context.status ? validateRoot(schema, at) : [];
  if (schema['nullable'] === true) {
    errors.push(forbidden(`${at}.nullable`, 'nullable cannot be true at the root'));
  }
  const structure = strictness.structural ? validateStructure(schema, at, strictness) : NOTHING;
  errors.push(...structure.errors);
  const openApi = validateOpenApi(schema, at, strictness);
  errors.push(...openApi);
  if (structure.checked && structure.errors.length === 0) {
    const broken = openApi.map((e) => e.field);
    errors.push(
      ...ruleEngine.check({
        schema,
        path: at,
        sound: (inside) => !broken.some((field) => field.startsWith(inside)),
        unchanged: strictness.unchangedVersions.has(context.version),
      }),
    );
  }
  // For a schema without a structural form, the errors of the keywords are usually clearer.
  return errors.length === 0 ? structure.unreadable : errors;
}

const NOTHING = { errors: [], unreadable: [], checked: false };

const AT_ROOT = [
  'Description',
  'Type',
  'Format',
  'Title',
  'Maximum',
  'ExclusiveMaximum',
  'Minimum',
  'ExclusiveMinimum',
  'MaxLength',
  'MinLength',
  'Pattern',
  'MaxItems',
  'MinItems',
  'UniqueItems',
  'MultipleOf',
  'Required',
  'Items',
  'Properties',
  'ExternalDocs',
  'Example',
  'XPreserveUnknownFields',
  'XValidations',
];

/** The status is validated separately, so no keyword at the root may constrain it. */
function validateRoot(schema: JsonObject, at: string): FieldError[] {
  for (const [goName, name] of SCHEMA_FIELDS) {
    if (schema[name] === undefined) continue;
    if (goName === 'Type' && schema['type'] !== 'object') {
      const text =
        'only "object" is allowed as the type at the root of the schema if the status subresource is enabled';
      return [invalid(`${at}.type`, textAt(schema, 'type'), text)];
    }
    if (!AT_ROOT.includes(goName)) {
      const text = `only [${AT_ROOT.join(' ')}] fields are allowed at the root of the schema if the status subresource is enabled`;
      return [invalid(at, goSchema(schema), text)];
    }
  }
  return [];
}
