// Validates selectableFields of a version: paths to scalars outside metadata, at most eight different ones.

import { duplicate, type FieldError, invalid, required, tooMany } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { FieldPathError, findField } from './fieldPath.ts';

export const MAX_SELECTABLE_FIELDS = 8;

const SCALARS = ['string', 'boolean', 'integer'];
const WRONG_TYPE =
  'must point to a field of type string, boolean or integer. Enum string fields and strings with formats are allowed.';

export function validateSelectableFields(
  fields: readonly string[],
  schema: JsonObject,
  path: string,
  /** A CRD that already has too many may keep them. */
  anyNumber: boolean,
): FieldError[] {
  const errors: FieldError[] = [];
  const seen = new Set<string>();
  for (const [i, jsonPath] of fields.entries()) {
    const at = `${path}[${i}].jsonPath`;
    try {
      errors.push(
        ...(jsonPath === '' ? [required(at)] : validateSelectableField(jsonPath, schema, at, seen)),
      );
    } catch (cause) {
      if (!(cause instanceof FieldPathError)) throw cause;
      errors.push(invalid(at, jsonPath, `is an invalid path: ${cause.message}`));
    }
  }
  if (seen.size > MAX_SELECTABLE_FIELDS && !anyNumber) {
    errors.push(tooMany(path, seen.size, MAX_SELECTABLE_FIELDS));
  }
  return errors;
}

/** Adds the path to `seen`. Throws FieldPathError when the schema does not have the field. */
function validateSelectableField(
  jsonPath: string,
  schema: JsonObject,
  at: string,
  seen: Set<string>,
): FieldError[] {
  const errors: FieldError[] = [];
  const found = findField(jsonPath, schema, { brackets: false });
  if (found.path === 'metadata' || found.path.startsWith('metadata.'))
    errors.push(invalid(at, jsonPath, 'must not point to fields in metadata'));
  const type = found.schema?.['type'];
  if (typeof type !== 'string' || !SCALARS.includes(type)) errors.push(invalid(at, jsonPath, WRONG_TYPE));
  if (seen.has(found.path)) errors.push(duplicate(at, jsonPath));
  seen.add(found.path);
  return errors;
}
