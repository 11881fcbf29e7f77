// The compiled schema of a version: prunes, applies defaults and validates.

import type { JsonObject } from '@lapse/kube/api/json';
import { type CompiledStructural, compileStructural } from '#schema/structural/structural';
import { metadataRules } from './metadata.ts';

export type Structure = CompiledStructural;

/** `preserve`: spec.preserveUnknownFields of CRDs from before v1, which keep fields that are not in the schema. */
export const compileStructure = (schema: JsonObject | undefined, preserve: boolean): Structure =>
  compileStructural(schema, { metadata: metadataRules, preserveUnknownFields: preserve });
