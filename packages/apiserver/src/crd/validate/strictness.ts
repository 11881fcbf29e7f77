// What an update must keep valid: a rule that the stored CRD already violates is not enforced on the update, so that
// old CRDs stay editable.

import { equal, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { isConditionTrue } from '../conditions.ts';
import type { Crd, Version } from '../crd.ts';
import { type ConversionStrictness, isCaBundle, speaksKnownReview } from './conversion.ts';
import { type HoistedSpec, hoist } from './hoist.ts';
import { hasNonAtomicSet, validateKeysAndItems } from './listTypes.ts';
import type { SchemaStrictness } from './openapi.ts';
import { rootSchemas, someSchema } from './schemaWalk.ts';
import { MAX_SELECTABLE_FIELDS } from './selectableFields.ts';
import { hasUnprunedDefaults, isStructural } from './structure.ts';

export interface Strictness extends SchemaStrictness, ConversionStrictness {
  /** Every version needs a schema. */
  readonly openApiSchema: boolean;
  readonly structural: boolean;
  /** Defaults may not have fields that pruning would remove. */
  readonly prunedDefaults: boolean;
  readonly immutableNames: boolean;
  /** Versions that may keep more selectable fields than allowed; '' for those shared by all versions. */
  readonly anyNumberOfFields: ReadonlySet<string>;
  /** Versions whose schema did not change. */
  readonly unchangedVersions: ReadonlySet<string>;
}

export const ON_CREATE: Strictness = {
  recognizedReviewVersion: true,
  // The client may create the CRD before the certificate is available.
  validCaBundle: false,
  openApiSchema: true,
  validPropertyType: true,
  structural: true,
  prunedDefaults: true,
  atomicSetType: true,
  mapListKeys: true,
  immutableNames: false,
  anyNumberOfFields: new Set(),
  unchangedVersions: new Set(),
};

const TYPES = ['array', 'boolean', 'integer', 'number', 'object', 'string'];

export function onUpdate(next: Crd, old: Crd, oldObject: KubeObject): Strictness {
  const before = hoist(old.spec);
  const established = isConditionTrue(oldObject, 'Established');
  const never = (is: (schema: JsonObject) => boolean) => !someSchema(before, is);
  return {
    recognizedReviewVersion: speaksKnownReview(old.spec.conversion),
    validCaBundle: established && hadValidBundle(old.spec.conversion),
    openApiSchema: everyVersionHasSchema(before),
    validPropertyType: never((s) => typeof s['type'] === 'string' && !TYPES.includes(s['type'])),
    structural: rootSchemas(before).every(isStructural),
    prunedDefaults: !rootSchemas(before).some(hasUnprunedDefaults),
    atomicSetType: never(hasNonAtomicSet),
    mapListKeys: never((s) => validateKeysAndItems(s, '').length > 0),
    immutableNames: established,
    anyNumberOfFields: tooManyBefore(hoist(next.spec), before),
    unchangedVersions: unchanged(next.spec.versions, old.spec.versions),
  };
}

/** A bundle that was absent or valid must be valid now. */
function hadValidBundle(conversion: JsonObject | undefined): boolean {
  const webhook = conversion?.['webhook'] as JsonObject | undefined;
  const config = webhook?.['clientConfig'] as JsonObject | undefined;
  const bundle = config?.['caBundle'];
  return typeof bundle !== 'string' || bundle === '' || isCaBundle(bundle);
}

const everyVersionHasSchema = (spec: HoistedSpec): boolean =>
  spec.validation?.openAPIV3Schema !== undefined || spec.versions.every((v) => v.schema?.openAPIV3Schema);

function tooManyBefore(next: HoistedSpec, old: HoistedSpec): Set<string> {
  const allowed = new Set<string>();
  const keeps = (now: readonly string[], then: readonly string[]) =>
    then.length > MAX_SELECTABLE_FIELDS && equal([...now], [...then]);
  if (keeps(next.selectableFields, old.selectableFields)) allowed.add('');
  for (const v of next.versions) {
    const before = old.versions.find((o) => o.name === v.name);
    if (before && keeps(v.selectableFields, before.selectableFields)) allowed.add(v.name);
  }
  return allowed;
}

function unchanged(next: readonly Version[], old: readonly Version[]): Set<string> {
  const same = next.filter((v) => {
    const before = old.find((o) => o.name === v.name);
    return before && equal(v.schema as unknown as Json, before.schema as unknown as Json);
  });
  return new Set(same.map((v) => v.name));
}
