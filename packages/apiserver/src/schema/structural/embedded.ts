// Embedded resources (x-kubernetes-embedded-resource): their metadata is decoded as ObjectMeta, and apiVersion, kind
// and metadata are validated separately.

import { type FieldError, invalid, quoteValue, required } from '@lapse/kube/api/fieldErrors';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { parseApiVersion } from '@lapse/kube/api/object';
import { DecodeError } from '../decodeError.ts';
import { byBytes } from '../goPrint.ts';
import { childPath, nodeOfKey, type SchemaNode } from './node.ts';

/** metav1.ObjectMeta of the server: decodes (throws DecodeError) and validates. */
export interface MetadataRules {
  decode(metadata: Json): { value: JsonObject; unknown: readonly string[] };
  validate(metadata: JsonObject, path: string): FieldError[];
}

/** Whether there is an embedded resource at or below the node; otherwise traversal can be skipped. */
export function hasEmbedded(node: SchemaNode | undefined): boolean {
  if (node === undefined) return false;
  if (node.embedded || hasEmbedded(node.items)) return true;
  if (typeof node.additional === 'object' && hasEmbedded(node.additional)) return true;
  return node.properties.values().some(hasEmbedded);
}

/**
 * Coerces metadata of embedded resources to ObjectMeta. Modifies `value`; returns the sorted paths of unknown fields.
 */
export function coerceEmbedded(value: Json, node: SchemaNode, rules: MetadataRules, path = ''): string[] {
  const unknown: string[] = [];
  coerce(value, node, path, { rules, unknown });
  return unknown.sort(byBytes);
}

interface Coercion {
  rules: MetadataRules;
  unknown: string[];
}

function coerce(value: Json, node: SchemaNode | undefined, path: string, run: Coercion): void {
  if (node === undefined || typeof value !== 'object' || value === null) return;
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) coerce(value[i]!, node.items, `${path}[${i}]`, run);
    return;
  }
  for (const key of Object.keys(value)) {
    if (node.embedded) coerceMeta(value, key, path, run);
    const declared = node.properties.has(key);
    coerce(value[key]!, nodeOfKey(node, key), declared ? childPath(path, key) : `${path}[${key}]`, run);
  }
}

function coerceMeta(value: JsonObject, key: string, path: string, run: Coercion): void {
  const at = childPath(path, key);
  if (key === 'apiVersion' || key === 'kind') {
    if (typeof value[key] !== 'string')
      throw new DecodeError(`${at}: Invalid value: ${quoteValue(value[key])}: must be a string`);
  } else if (key === 'metadata') {
    try {
      const { value: metadata, unknown } = run.rules.decode(value[key]!);
      value[key] = metadata;
      run.unknown.push(...unknown.map((field) => `${at}.${field}`));
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      throw new DecodeError(`${at}: Invalid value: ${quoteValue(value[key])}: ${error.message}`);
    }
  }
}

/** Validates that apiVersion and kind are present and valid, and that metadata is valid. */
export function validateEmbedded(
  value: Json,
  node: SchemaNode | undefined,
  path: string,
  rules: MetadataRules,
): FieldError[] {
  if (node === undefined || typeof value !== 'object' || value === null) return [];
  if (Array.isArray(value))
    return value.flatMap((v, i) => validateEmbedded(v, node.items, `${path}[${i}]`, rules));
  const errors = node.embedded ? validateResource(value, path, rules) : [];
  for (const key of Object.keys(value)) {
    const at = node.properties.has(key) ? childPath(path, key) : `${path}[${key}]`;
    errors.push(...validateEmbedded(value[key]!, nodeOfKey(node, key), at, rules));
  }
  return errors;
}

function validateResource(value: JsonObject, path: string, rules: MetadataRules): FieldError[] {
  const at = (key: string): string => childPath(path, key);
  const errors: FieldError[] = [];
  for (const key of ['apiVersion', 'kind']) if (!Object.hasOwn(value, key)) errors.push(required(at(key)));
  if (Object.hasOwn(value, 'apiVersion'))
    errors.push(...validateApiVersion(value.apiVersion, at('apiVersion')));
  if (Object.hasOwn(value, 'kind')) errors.push(...validateKind(value.kind, at('kind')));
  if (Object.hasOwn(value, 'metadata'))
    errors.push(...validateMetadata(value.metadata!, at('metadata'), rules));
  return errors;
}

function validateApiVersion(value: Json | undefined, at: string): FieldError[] {
  if (typeof value !== 'string') return [invalid(at, value, 'must be a string')];
  if (value === '') return [invalid(at, value, 'must not be empty')];
  if (parseApiVersion(value) !== undefined) return [];
  return [invalid(at, value, `unexpected GroupVersion string: ${value}`)];
}

const LABEL = /^[a-z]([-a-z0-9]*[a-z0-9])?$/;
const LABEL_TEXT =
  "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";

function validateKind(value: Json | undefined, at: string): FieldError[] {
  if (typeof value !== 'string') return [invalid(at, value, 'must be a string')];
  if (value === '') return [invalid(at, value, 'must not be empty')];
  const problems: string[] = [];
  const lower = value.toLowerCase();
  if (Buffer.byteLength(lower) > 63) problems.push('must be no more than 63 bytes');
  if (!LABEL.test(lower)) problems.push(LABEL_TEXT);
  if (problems.length === 0) return [];
  return [invalid(at, value, `may have mixed case, but should otherwise match: ${problems.join(',')}`)];
}

function validateMetadata(value: Json, at: string, rules: MetadataRules): FieldError[] {
  let metadata: JsonObject;
  try {
    metadata = rules.decode(value).value;
  } catch (error) {
    if (error instanceof DecodeError) return [invalid(at, value, error.message)];
    throw error;
  }
  return isObject(metadata) ? rules.validate(metadata, at) : [];
}
