// Whether a schema is structural, and whether its defaults fit it.

import type { FieldError } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { isStructural, type StructuralResult, validateStructural } from '#schema/structural/structural';
import { metadataRules } from '../metadata.ts';
import { ruleEngine } from '../rules.ts';

export { hasUnprunedDefaults, isStructural } from '#schema/structural/structural';

export const validateStructure = (
  schema: JsonObject,
  path: string,
  { prunedDefaults }: { readonly prunedDefaults: boolean },
): StructuralResult =>
  validateStructural(schema, path, {
    prunedDefaults,
    metadata: metadataRules,
    rules: ruleEngine.checkDefault,
  });

/** Why a schema is not structural, defaults excluded. */
export const structuralViolations = (schema: JsonObject, path: string): readonly FieldError[] =>
  isStructural(schema) ? [] : validateStructure(schema, path, { prunedDefaults: false }).errors;
