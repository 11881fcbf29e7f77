// Test helper: CRDs in the form that validation sees, and its errors in a short form.

import type { FieldError } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { asObject, type KubeObject } from '@lapse/kube/api/object';
import { crdStrategy } from '../crdStrategy.ts';
import { crd, object, version } from '../testkit.ts';
import { validateCrd } from './crd.ts';

/** Abbreviates common paths: `S` is the schema that all versions share, `A` the field spec.a in it. */
export const short = (errors: readonly FieldError[]): string[] =>
  errors.map((e) =>
    `${e.field}: ${e.message}`
      .replace('spec.validation.openAPIV3Schema.properties[spec].properties[a]', 'A')
      .replace('spec.validation.openAPIV3Schema', 'S'),
  );

/** With defaults, as after decoding. */
export function prepared(raw: object): KubeObject {
  const made = asObject(JSON.parse(JSON.stringify(raw)) as JsonObject);
  crdStrategy.applyDefaults!(made);
  return made;
}

export const refusals = (raw: object): string[] => short(validateCrd(prepared(raw)));

/** The field spec.a has this schema. */
export const withA = (schema: JsonObject) => crd({ spec: object({ a: schema }) });

/** The whole object has this schema. */
export const withRoot = (schema: JsonObject, v1: JsonObject = {}) =>
  crd({ versions: [version('v1', schema, { storage: true, ...v1 })] });
