// A version's schema, ready to make objects fit and to judge them.

import type { JsonObject } from '@lapse/kube/api/json';
import { type CompiledStructural, compileStructural } from '#schema/structural/structural';
import { metadataRules } from './metadata.ts';

export type Structure = CompiledStructural;

/** `preserve`: spec.preserveUnknownFields of definitions from before v1, which keep what their schema does not know. */
export const compileStructure = (schema: JsonObject | undefined, preserve: boolean): Structure =>
  compileStructural(schema, { metadata: metadataRules, preserveUnknownFields: preserve });
