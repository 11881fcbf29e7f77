// Strategy of ConfigMap: keys are file names and unique across both maps, data has at most 1 MiB, and `immutable`
// cannot be reverted.

import { type FieldError, forbidden, invalid, tooLong } from '@lapse/kube/api/fieldErrors';
import { equal, type JsonObject } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import type { Strategy } from '../../resources/resource.ts';
import { check, metaOf, metaUpdate } from '../checks.ts';
import { configKey, subdomainName } from '../names.ts';
import { entries, flag, part, value } from '../values.ts';

/** Maximum total size of data in bytes; also for Secrets. */
export const MAX_DATA = 1024 * 1024;

export function validateConfigMap(configMap: KubeObject): FieldError[] {
  const data = part(configMap, 'data');
  const binary = part(configMap, 'binaryData');
  const errors: FieldError[] = [];
  for (const [key] of entries(data)) {
    errors.push(...check(configKey, key, `data[${key}]`));
    if (Object.hasOwn(binary, key))
      errors.push(invalid(`data[${key}]`, key, 'duplicate of key present in binaryData'));
  }
  for (const [key] of entries(binary)) errors.push(...check(configKey, key, `binaryData[${key}]`));
  if (textBytes(data) + decodedBytes(binary) > MAX_DATA) errors.push(tooLong('[]', MAX_DATA));
  return errors;
}

const textBytes = (data: JsonObject): number =>
  entries(data).reduce((sum, [, v]) => sum + Buffer.byteLength(String(v)), 0);

/** The size of base64 values after decoding. */
export const decodedBytes = (data: JsonObject): number =>
  entries(data).reduce((sum, [, v]) => sum + Buffer.from(String(v), 'base64').length, 0);

/** Errors for changes of the named fields when `immutable` is true. */
export function frozenErrors(next: KubeObject, old: KubeObject, fields: readonly string[]): FieldError[] {
  if (flag(old, 'immutable') !== true) return [];
  const text = 'field is immutable when `immutable` is set';
  const thawed = flag(next, 'immutable') === true ? [] : [forbidden('immutable', text)];
  const changed = fields.filter((f) => !equal(value(next, f) ?? {}, value(old, f) ?? {}));
  return [...thawed, ...changed.map((f) => forbidden(f, text))];
}

export const configMapStrategy: Strategy = {
  nameRule: subdomainName,
  validatesMeta: true,
  validate: validateConfigMap,
  validateUpdate: (next, old) => [
    ...metaUpdate(next, old),
    ...frozenErrors(next, old, ['data', 'binaryData']),
    ...metaOf(next, true, subdomainName),
    ...validateConfigMap(next),
  ],
};
