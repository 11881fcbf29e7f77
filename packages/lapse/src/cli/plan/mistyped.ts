// What is wrong with an object of one of our kinds before any rule can be asked about it: a list where a text should be,
// something that must be there and is not. A server would have refused it; out of a file it comes unseen. A value that a
// rule itself complains about (a TTL that is none) is left to the rule.

import { type CompiledStructural, compileStructural } from '@lapse/apiserver/schema/structural/structural';
import type { FieldError } from '@lapse/kube/api/fieldErrors';
import { clone, isObject, type JsonObject } from '@lapse/kube/api/json';
import { asJson, type KubeObject, parseApiVersion } from '@lapse/kube/api/object';
import { FAMILIES } from '#controllers/registry';
import { kindsOf } from '#manager/crds';

// None of our kinds has other objects in it.
const NO_EMBEDDED = {
  decode: (value: unknown) => ({ value: value as JsonObject, unknown: [] }),
  validate: () => [],
};
const REASONS: ReadonlySet<FieldError['reason']> = new Set(['FieldValueTypeInvalid', 'FieldValueRequired']);

const compiled = new Map<string, CompiledStructural | undefined>();

/** In words, with the field; undefined: nothing, or it is no kind of ours. */
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
