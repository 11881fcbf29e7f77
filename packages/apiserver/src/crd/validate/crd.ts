// Validation of a CRD on create, update and status update. Generic code validates the metadata.

import { type FieldError, invalid } from '@lapse/kube/api/fieldErrors';
import type { Json } from '@lapse/kube/api/json';
import { writeJson } from '@lapse/kube/api/jsonWrite';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { type Crd, readCrd } from '../crd.ts';
import { validateApproval } from './approval.ts';
import { hoist } from './hoist.ts';
import { validateNames } from './names.ts';
import { validateSpec } from './spec.ts';
import { ON_CREATE, onUpdate } from './strictness.ts';

export function validateCrd(object: KubeObject): FieldError[] {
  const crd = readCrd(object);
  return [
    ...validateName(object, crd),
    ...validateNewSpec(object, crd),
    ...validateStatus(crd),
    ...validateStoredVersions(crd),
    ...validateApproval(crd.spec.group, object),
    ...validatePreserve(crd),
  ];
}

// Specs that were found valid, by their JSON text. Validation compiles all schemas and rules, and all servers of a
// process (simulations, tests) get the same few CRDs.
const validSpecs = new Set<string>();
const MAX_VALID = 200;

function validateNewSpec(object: KubeObject, { spec }: Crd): FieldError[] {
  const text = writeJson((asJson(object).spec ?? null) as Json);
  if (validSpecs.has(text)) return [];
  const errors = validateSpec(hoist(spec), ON_CREATE);
  if (errors.length === 0 && validSpecs.size < MAX_VALID) validSpecs.add(text);
  return errors;
}

export function validateCrdUpdate(next: KubeObject, old: KubeObject): FieldError[] {
  const [now, before] = [readCrd(next), readCrd(old)];
  const strictness = onUpdate(now, before, old);
  const errors = validateSpec(hoist(now.spec), strictness);
  const immutable = (field: string, value: string, was: string) => {
    if (value !== was) errors.push(invalid(`spec.${field}`, value, 'field is immutable'));
  };
  if (strictness.immutableNames) {
    immutable('scope', now.spec.scope, before.spec.scope);
    immutable('names.kind', now.spec.names.kind, before.spec.names.kind);
  }
  immutable('group', now.spec.group, before.spec.group);
  immutable('names.plural', now.spec.names.plural, before.spec.names.plural);
  return [
    ...errors,
    ...validateStatus(now),
    ...validateStoredVersions(now),
    ...validateApproval(now.spec.group, next, old),
    ...(before.spec.preserveUnknownFields ? [] : validatePreserve(now)),
  ];
}

export const validateStatusUpdate = (next: KubeObject): FieldError[] => validateStatus(readCrd(next));

/** The name follows from the spec, so it cannot be generated. */
function validateName({ metadata }: KubeObject, { spec }: Crd): FieldError[] {
  const wanted = `${spec.names.plural}.${spec.group}`;
  return (['generateName', 'name'] as const)
    .filter((field) => metadata[field] && metadata[field] !== wanted)
    .map((field) =>
      invalid(`metadata.${field}`, metadata[field], 'must be spec.names.plural+"."+spec.group'),
    );
}

const validateStatus = ({ acceptedNames }: Crd): FieldError[] =>
  validateNames(acceptedNames, 'status.acceptedNames');

/** Objects may still be stored in these versions, so the versions must remain. */
function validateStoredVersions({ storedVersions, spec }: Crd): FieldError[] {
  const path = 'status.storedVersions';
  if (storedVersions.length === 0) return [invalid(path, null, 'must have at least one stored version')];
  const errors: FieldError[] = [];
  const missing = new Set(storedVersions);
  for (const v of spec.versions) {
    // Of two versions with the same name, the second one is reported.
    if (!missing.delete(v.name) && v.storage) {
      errors.push(invalid(path, [...storedVersions], `must have the storage version ${v.name}`));
    }
  }
  for (const [i, name] of storedVersions.entries()) {
    if (spec.versions.some((v) => v.name === name)) continue;
    const text = `missing from spec.versions; ${name} was previously a storage version, and must remain in spec.versions until a storage migration ensures no data remains persisted in ${name} and removes ${name} from status.storedVersions`;
    errors.push(invalid(`${path}[${i}]`, name, text));
  }
  return errors;
}

function validatePreserve({ spec }: Crd): FieldError[] {
  if (!spec.preserveUnknownFields) return [];
  const text =
    'cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead';
  return [invalid('spec.preserveUnknownFields', true, text)];
}
