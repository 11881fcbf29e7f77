// The schema of a LapseConfiguration: the general fields and the sections of the families.

import { compileStructural, validateStructural } from '@lapse/apiserver/schema/structural/structural';
import type { FieldError } from '@lapse/kube/api/fieldErrors';
import { clone, equal, getOwn, isObject, type JsonObject } from '@lapse/kube/api/json';
import type { Family } from '#controllers/family';
import { GENERAL } from './settings.ts';

export const CONFIGURATION = { apiVersion: 'lapse.dev/v1alpha1', kind: 'LapseConfiguration' } as const;

export interface ConfigurationSchema {
  readonly json: JsonObject;
  /** Names of the families' sections. */
  readonly sections: readonly string[];
  /** Errors of one source. Required fields may come from another source. */
  check(document: JsonObject): FieldError[];
  /** Applies the defaults and returns the errors that remain. */
  complete(document: JsonObject): { readonly document: JsonObject; readonly errors: FieldError[] };
}

// A configuration has no embedded resources.
const NO_METADATA = {
  decode: (value: unknown) => ({ value: value as JsonObject, unknown: [] }),
  validate: () => [],
};

/** Throws when two families define the same section differently, which is a programming error. */
export function compileConfiguration(families: readonly Family[]): ConfigurationSchema {
  const sections = new Map<string, JsonObject>();
  for (const { name, configuration } of families)
    for (const [section, schema] of Object.entries(configuration)) {
      const before = GENERAL[section] ?? sections.get(section);
      if (before !== undefined && !equal(before, schema))
        throw new Error(`family ${name}: the configuration section ${section} is taken`);
      sections.set(section, schema);
    }
  const properties = Object.fromEntries([...Object.entries(GENERAL), ...sections]);
  const json: JsonObject = { type: 'object', properties };
  refuseBadSchema(json);
  const compiled = compileStructural(clone(json), { metadata: NO_METADATA });
  return {
    json,
    sections: [...sections.keys()],
    check(document) {
      const pruned = clone(document);
      const unknown = compiled.prune(pruned).map(unknownField);
      const errors = compiled.validate(pruned).filter(({ reason }) => reason !== 'FieldValueRequired');
      return [...unknown, ...errors];
    },
    complete(given) {
      const document = clone(given);
      for (const section of sections.keys()) document[section] ??= {};
      compiled.applyDefaults(document);
      return { document, errors: compiled.validate(document) };
    },
  };
}

const unknownField = (field: string): FieldError => ({
  reason: 'FieldValueForbidden',
  field,
  message: 'there is no such field',
});

function refuseBadSchema(json: JsonObject): void {
  const options = { metadata: NO_METADATA, prunedDefaults: true };
  const { errors, unreadable } = validateStructural(clone(json), 'configuration', options);
  const problems = [...errors, ...unreadable].map(({ field, message }) => `${field}: ${message}`);
  if (problems.length > 0)
    throw new Error(`the schema of the configuration is wrong: ${problems.join('; ')}`);
}

/** The schema of a field by its path. Undefined if the field does not exist. */
export const schemaAt = (schema: JsonObject, field: string): JsonObject | undefined =>
  field.split('.').reduce<JsonObject | undefined>((at, name) => {
    const properties = at?.properties;
    const next = isObject(properties) ? getOwn(properties, name) : undefined;
    return isObject(next) ? next : undefined;
  }, schema);
