// Validation shared by many kinds; each check returns the field errors of Kubernetes.

import { type FieldError, invalid, notSupported, required } from '@lapse/kube/api/fieldErrors';
import { equal, type Json } from '@lapse/kube/api/json';
import { checkLabelValue, checkQualifiedName } from '@lapse/kube/api/names';
import type { KubeObject } from '@lapse/kube/api/object';
import {
  type NameRule,
  validateKubeFinalizers,
  validateMeta,
  validateMetaUpdate,
} from '../metadata/validateMeta.ts';
import { labelName, subdomainName } from './names.ts';

/** field.Invalid without a value: `Invalid value: <text>`. */
export const invalidWithout = (field: string, detail: string): FieldError => ({
  reason: 'FieldValueInvalid',
  field,
  message: `Invalid value: ${detail}`,
});

export const NEGATIVE = 'must be greater than or equal to 0';
export const NOT_POSITIVE = 'must be greater than zero';
export const IMMUTABLE = 'field is immutable';

export const nonNegative = (value: number | undefined, path: string): FieldError[] =>
  value !== undefined && value < 0 ? [invalid(path, value, NEGATIVE)] : [];

export const immutable = (next: Json | undefined, old: Json | undefined, path: string): FieldError[] =>
  equal(next, old) ? [] : [invalid(path, next ?? null, IMMUTABLE)];

export const oneOf = (value: string, supported: readonly string[], path: string): FieldError[] =>
  supported.includes(value) ? [] : [notSupported(path, value, supported)];

/** Each problem that a rule finds, as a field error. */
export const check = (rule: NameRule, value: string, path: string): FieldError[] =>
  rule(value).map((complaint) => invalid(path, value, complaint));

export const dnsLabel = (value: string, path: string) => check(labelName, value, path);
export const dnsSubdomain = (value: string, path: string) => check(subdomainName, value, path);
export const qualifiedName = (value: string, path: string) => check(checkQualifiedName, value, path);
export const labelValue = (value: string, path: string) => check(checkLabelValue, value, path);

export const inRange = (low: number, high: number) => `must be between ${low} and ${high}, inclusive`;

export const portNumber = (port: number, path: string): FieldError[] =>
  port < 1 || port > 65_535 ? [invalid(path, port, inRange(1, 65_535))] : [];

/** `example.com/name`: a domain, a slash and a path. */
export function domainPrefixedPath(value: string, path: string): FieldError[] {
  if (value === '') return [required(path)];
  const slash = value.indexOf('/');
  if (slash <= 0 || slash === value.length - 1)
    return [invalid(path, value, 'must be a domain-prefixed path (such as "acme.io/foo")')];
  const rest = value.slice(slash + 1);
  const odd = new RegExp(`^${HTTP_PATH}$`).test(rest)
    ? []
    : [invalid(path, rest, `Invalid path (regex used for validation is '${HTTP_PATH}')`)];
  return [...dnsSubdomain(value.slice(0, slash), path), ...odd];
}

const HTTP_PATH = "[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+";

/** ValidateObjectMeta, for strategies that validate metadata themselves on update. */
export const metaOf = (object: KubeObject, namespaced: boolean, rule: NameRule): FieldError[] => [
  ...validateMeta(object.metadata, namespaced, rule),
  ...validateKubeFinalizers(object.metadata.finalizers, 'metadata.finalizers'),
];

/** ValidateObjectMetaUpdate. */
export const metaUpdate = (next: KubeObject, old: KubeObject): FieldError[] => [
  ...validateMetaUpdate(next.metadata, old.metadata),
  ...validateKubeFinalizers(next.metadata.finalizers, 'metadata.finalizers'),
];
