// Validation of access reviews.

import { type FieldError, invalid, required } from '@lapse/kube/api/fieldErrors';
import type { JsonObject } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { qualifiedName } from '../strategies/checks.ts';
import { validateOperator, validateValues } from '../strategies/labelSelector.ts';
import { child, objects, part, text, texts } from '../strategies/values.ts';

/** A review is about either a resource or a path, never both. `self`: a review of the caller. */
export function checkSpec(spec: JsonObject, { self }: { self: boolean }): FieldError[] {
  const resource = child(spec, 'resourceAttributes');
  const path = child(spec, 'nonResourceAttributes');
  const errors: FieldError[] = [];
  if (resource && path)
    errors.push(badPath(path, 'cannot be specified in combination with resourceAttributes'));
  if (!resource && !path) {
    const why = 'exactly one of nonResourceAttributes or resourceAttributes must be specified';
    errors.push(invalid('spec.resourceAttributes', null, why));
  }
  if (!self && text(spec, 'user') === '' && texts(spec, 'groups').length === 0)
    errors.push(invalid('spec.user', '', 'at least one of user or group must be specified'));
  return [
    ...errors,
    ...checkSelector(resource, 'fieldSelector'),
    ...checkSelector(resource, 'labelSelector'),
  ];
}

/** A local review is about a resource of its namespace. */
export function checkLocal(spec: JsonObject, home: string | undefined): FieldError[] {
  const resource = child(spec, 'resourceAttributes');
  const path = child(spec, 'nonResourceAttributes');
  const namespace = text(resource, 'namespace');
  const errors: FieldError[] = [];
  if (resource && namespace !== home)
    errors.push(invalid('spec.resourceAttributes.namespace', namespace, 'must match metadata.namespace'));
  if (path) errors.push(badPath(path, 'disallowed on this kind of request'));
  return errors;
}

/** Reviews are not stored, so they have no metadata. */
export function checkEmptyMeta(review: KubeObject, { local }: { local: boolean }): FieldError[] {
  const { managedFields: _managers, ...metadata } = part(asJson(review), 'metadata');
  const { namespace: _namespace, ...rest } = metadata;
  if (Object.keys(local ? rest : metadata).length === 0) return [];
  return [invalid('metadata', metadata, local ? 'must be empty except for namespace' : 'must be empty')];
}

// kube-apiserver prints its internal struct, without the JSON field names.
const badPath = (path: JsonObject, why: string): FieldError =>
  invalid('spec.nonResourceAttributes', { Path: text(path, 'path'), Verb: text(path, 'verb') }, why);

/** Ignores unknown operators, which a newer client may send. */
function checkSelector(resource: JsonObject | undefined, name: string): FieldError[] {
  const selector = child(resource, name);
  if (!selector) return [];
  const path = `spec.resourceAttributes.${name}`;
  const raw = text(selector, 'rawSelector');
  const requirements = objects(selector, 'requirements');
  const errors: FieldError[] = [];
  if (raw !== '' && requirements.length > 0)
    errors.push(invalid(`${path}.rawSelector`, raw, 'may not specified at the same time as requirements'));
  if (raw === '' && requirements.length === 0) {
    const why = `when ${path} is specified, requirements or rawSelector is required`;
    errors.push(required(`${path}.requirements`, why));
  }
  requirements.forEach((requirement, i) => {
    const at = `${path}.requirements[${i}]`;
    errors.push(...(name === 'fieldSelector' ? checkField(requirement, at) : checkLabel(requirement, at)));
  });
  return errors;
}

const checkField = (requirement: JsonObject, at: string): FieldError[] => [
  ...(text(requirement, 'key') === '' ? [required(`${at}.key`, 'must be specified')] : []),
  ...validateOperator(requirement, at),
];

const checkLabel = (requirement: JsonObject, at: string): FieldError[] => [
  ...validateOperator(requirement, at),
  ...qualifiedName(text(requirement, 'key'), `${at}.key`),
  ...validateValues(requirement, at),
];
