// Validation of metadata for every kind: on create, and on update against the stored object.

import { type FieldError, forbidden, invalid, required, tooLong } from '@lapse/kube/api/fieldErrors';
import type { Json } from '@lapse/kube/api/json';
import { checkLabelValue, checkQualifiedName } from '@lapse/kube/api/names';
import { type ObjectMeta, type OwnerReference, parseApiVersion } from '@lapse/kube/api/object';

/** Validation errors of a name; empty when it is valid. */
export type NameRule = (name: string) => string[];

const ANNOTATION_BYTES = 256 * 1024;

export function validateMeta(
  meta: ObjectMeta,
  namespaced: boolean,
  nameRule: NameRule,
  path = 'metadata',
): FieldError[] {
  const errors: FieldError[] = [];
  if (meta.generateName) {
    // A trailing dash is valid, since a suffix follows.
    for (const c of nameRule(maskTrailing(meta.generateName))) {
      errors.push(invalid(`${path}.generateName`, meta.generateName, c));
    }
  }
  if (!meta.name) errors.push(required(`${path}.name`, 'name or generateName is required'));
  else for (const c of nameRule(meta.name)) errors.push(invalid(`${path}.name`, meta.name, c));
  if (namespaced && !meta.namespace) errors.push(required(`${path}.namespace`));
  if (!namespaced && meta.namespace) errors.push(forbidden(`${path}.namespace`, 'not allowed on this type'));
  if ((meta.generation ?? 0) < 0) {
    errors.push(invalid(`${path}.generation`, meta.generation, 'must be greater than or equal to 0'));
  }
  errors.push(...validateLabels(meta.labels, `${path}.labels`));
  errors.push(...validateAnnotations(meta.annotations, `${path}.annotations`));
  errors.push(...validateOwners(meta.ownerReferences, `${path}.ownerReferences`));
  errors.push(...validateFinalizers(meta.finalizers, `${path}.finalizers`));
  return errors;
}

const maskTrailing = (prefix: string) =>
  prefix.length > 1 && prefix.endsWith('-') ? `${prefix.slice(0, -2)}a` : prefix;

export function validateLabels(labels: Record<string, string> | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  if (labels === undefined || areFine(labels)) return errors;
  for (const key of Object.keys(labels).sort()) {
    for (const c of checkQualifiedName(key)) errors.push(invalid(path, key, c));
    for (const c of checkLabelValue(labels[key]!)) errors.push(invalid(path, labels[key], c));
  }
  return errors;
}

/** Fast path: valid labels need no sorting. */
function areFine(labels: Record<string, string>): boolean {
  for (const key of Object.keys(labels))
    if (checkQualifiedName(key).length > 0 || checkLabelValue(labels[key]!).length > 0) return false;
  return true;
}

export function validateAnnotations(
  annotations: Record<string, string> | undefined,
  path: string,
): FieldError[] {
  const errors: FieldError[] = [];
  let total = 0;
  for (const [key, value] of Object.entries(annotations ?? {})) {
    for (const c of checkQualifiedName(key.toLowerCase())) errors.push(invalid(path, key, c));
    total += Buffer.byteLength(key) + Buffer.byteLength(value);
  }
  if (total > ANNOTATION_BYTES) errors.push(tooLong(path, ANNOTATION_BYTES));
  return errors;
}

function validateOwners(owners: OwnerReference[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  let controller: OwnerReference | undefined;
  for (const owner of owners ?? []) {
    errors.push(...validateOwner(owner, path));
    if (owner.controller !== true) continue;
    if (controller) {
      const detail = `Only one reference can have Controller set to true. Found "true" in references for ${nameOf(controller)} and ${nameOf(owner)}`;
      errors.push(invalid(path, owners as unknown as Json, detail));
    } else controller = owner;
  }
  return errors;
}

const nameOf = (owner: OwnerReference) => `${owner.kind}/${owner.name}`;

function validateOwner(owner: OwnerReference, path: string): FieldError[] {
  const errors: FieldError[] = [];
  const gv = parseApiVersion(owner.apiVersion);
  if (!gv || gv.version === '')
    errors.push(invalid(`${path}.apiVersion`, owner.apiVersion, 'version must not be empty'));
  if (!owner.kind) errors.push(invalid(`${path}.kind`, owner.kind, 'must not be empty'));
  if (!owner.name) errors.push(invalid(`${path}.name`, owner.name, 'must not be empty'));
  if (!owner.uid) errors.push(invalid(`${path}.uid`, owner.uid, 'must not be empty'));
  if (owner.apiVersion === 'v1' && owner.kind === 'Event') {
    const detail = '/v1, Kind=Event is disallowed from being an owner';
    errors.push(invalid(path, owner as unknown as Json, detail));
  }
  return errors;
}

function validateFinalizers(finalizers: string[] | undefined, path: string): FieldError[] {
  const errors: FieldError[] = [];
  for (const f of finalizers ?? []) {
    for (const c of checkQualifiedName(f)) errors.push(invalid(path, f, c));
  }
  if (finalizers?.includes('orphan') && finalizers.includes('foregroundDeletion')) {
    errors.push(invalid(path, finalizers, 'finalizer orphan and foregroundDeletion cannot be both set'));
  }
  return errors;
}

const STANDARD_FINALIZERS = new Set(['foregroundDeletion', 'orphan', 'kubernetes']);

/** Finalizers without a domain: accepted, with a warning. */
export function finalizerWarnings(finalizers: string[] | undefined): string[] {
  return [...new Set(finalizers)]
    .filter((f) => !f.includes('/') && !STANDARD_FINALIZERS.has(f))
    .sort()
    .map((f) => {
      const wish = f.includes('.') ? ' including a path (/)' : '';
      return `metadata.finalizers: "${f}": prefer a domain-qualified finalizer name${wish} to avoid accidental conflicts with other finalizer writers`;
    });
}

/** Finalizers of built-in kinds must have a domain or be one of Kubernetes' own. */
export function validateKubeFinalizers(finalizers: string[] | undefined, path: string): FieldError[] {
  const text = 'name is neither a standard finalizer name nor is it fully qualified';
  return (finalizers ?? []).flatMap((f, i) =>
    f.includes('/') || STANDARD_FINALIZERS.has(f) ? [] : [invalid(`${path}[${i}]`, f, text)],
  );
}

const IMMUTABLE = [
  'name',
  'namespace',
  'uid',
  'creationTimestamp',
  'deletionTimestamp',
  'deletionGracePeriodSeconds',
] as const;

export function validateMetaUpdate(next: ObjectMeta, old: ObjectMeta, path = 'metadata'): FieldError[] {
  const errors: FieldError[] = [];
  if (old.deletionTimestamp) {
    const added = (next.finalizers ?? []).filter((f) => !old.finalizers?.includes(f));
    if (added.length > 0) {
      const list = `[]string{${added.map((f) => `"${f}"`).join(', ')}}`;
      const text = 'no new finalizers can be added if the object is being deleted, found new finalizers';
      errors.push(forbidden(`${path}.finalizers`, `${text} ${list}`));
    }
  }
  if (!next.resourceVersion) {
    errors.push(
      invalid(`${path}.resourceVersion`, next.resourceVersion ?? '', 'must be specified for an update'),
    );
  }
  if ((next.generation ?? 0) < (old.generation ?? 0)) {
    errors.push(invalid(`${path}.generation`, next.generation, 'must not be decremented'));
  }
  for (const field of IMMUTABLE) {
    if ((next[field] ?? undefined) !== (old[field] ?? undefined)) {
      errors.push(invalid(`${path}.${field}`, next[field] ?? null, 'field is immutable'));
    }
  }
  errors.push(...validateLabels(next.labels, `${path}.labels`));
  errors.push(...validateAnnotations(next.annotations, `${path}.annotations`));
  errors.push(...validateOwners(next.ownerReferences, `${path}.ownerReferences`));
  return errors;
}
