// Detects type errors in objects of Lapse's kinds before a rule is evaluated: a list instead of a string, or a
// missing required field. An API server would reject them, but a file is not validated. Values that a rule itself
// reports (such as an invalid TTL) are left to the rule.

import { type CompiledStructural, compileStructural } from '@lapse/apiserver/schema/structural/structural';
import type { FieldError } from '@lapse/kube/api/fieldErrors';
import { clone, isObject, type JsonObject } from '@lapse/kube/api/json';
import { asJson, type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { FAMILIES } from '#controllers/registry';
import { kindsOf } from '#manager/crds';

// None of Lapse's kinds has embedded objects.
const NO_EMBEDDED = {
  decode: (value: unknown) => ({ value: value as JsonObject, unknown: [] }),
  validate: () => [],
};
const REASONS: ReadonlySet<FieldError['reason']> = new Set(['FieldValueTypeInvalid', 'FieldValueRequired']);

const compiled = new Map<string, CompiledStructural | undefined>();

/** The message with the field. Undefined: valid, or not a kind of Lapse. */
export function describeMistype(object: KubeObject): string | undefined {
  const id = `${parseApiVersion(object.apiVersion)?.group} ${object.kind}`;
  if (!compiled.has(id)) compiled.set(id, schemaFor(object));
  const schema = compiled.get(id);
  if (schema === undefined) return undefined;
  const json: JsonObject = clone(asJson(object));
  schema.applyDefaults(json);
  const error = schema.validate(json).find(({ reason }) => REASONS.has(reason));
  return error && `${error.field}: ${error.message}`;
}

function schemaFor({ apiVersion, kind }: KubeObject): CompiledStructural | undefined {
  const { group, version } = parseApiVersion(apiVersion) ?? {};
  const ours = kindsOf(FAMILIES).find(({ kind: one }) => one.group === group && one.kind === kind);
  const { versions = [] } = (ours?.crd as { spec?: { versions?: Version[] } } | undefined)?.spec ?? {};
  const schema = versions.find(({ name }) => name === version)?.schema?.openAPIV3Schema;
  return isObject(schema) ? compileStructural(clone(schema), { metadata: NO_EMBEDDED }) : undefined;
}

interface Version {
  readonly name: string;
  readonly schema?: { readonly openAPIV3Schema?: JsonObject };
}
