// Values at dotted paths of an object, for the scale subresource (`.spec.replicas`): plain keys, no lists. Wrong
// types get the errors of apimachinery's accessors.

import { getOwn, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { goPrint } from '#schema/goPrint';

/** `.spec.replicas` → spec, replicas. */
export const splitPath = (path: string): string[] => path.replace(/^\./, '').split('.');

/** A value at or along the path has another type. */
export class AccessorError extends Error {}

/** The value at a path; undefined when it or a parent is missing. */
export function valueAt(object: JsonObject, path: readonly string[]): Json | undefined {
  let value: Json | undefined = object;
  for (const key of path) {
    if (value === undefined || value === null) return undefined;
    if (!isObject(value)) throw wrongType(path, value, 'map[string]interface{}');
    value = getOwn(value, key);
  }
  return value;
}

export function integerAt(object: JsonObject, path: readonly string[]): number | undefined {
  const value = valueAt(object, path);
  if (value === undefined) return undefined;
  if (typeof value === 'bigint') return Number(value);
  if (typeof value === 'number' && goType(value) === 'int64') return value;
  throw wrongType(path, value, 'int64');
}

export function stringAt(object: JsonObject, path: readonly string[]): string | undefined {
  const value = valueAt(object, path);
  if (value === undefined || typeof value === 'string') return value;
  throw wrongType(path, value, 'string');
}

/** Sets the value and creates missing parents. */
export function setAt(object: JsonObject, path: readonly string[], value: Json): void {
  let target = object;
  for (const [i, key] of path.slice(0, -1).entries()) {
    const present = getOwn(target, key);
    if (present !== undefined && !isObject(present)) {
      throw new AccessorError(
        `value cannot be set because .${path.slice(0, i + 1).join('.')} is not a map[string]interface{}`,
      );
    }
    const next: JsonObject = present ?? {};
    if (!present) setOwn(target, key, next);
    target = next;
  }
  setOwn(target, path.at(-1)!, value);
}

function wrongType(path: readonly string[], value: Json, want: string): AccessorError {
  const where = `.${path.join('.')} accessor error`;
  return new AccessorError(`${where}: ${goPrint(value)} is of the type ${goType(value)}, expected ${want}`);
}

function goType(value: Json): string {
  if (value === null) return '<nil>';
  if (Array.isArray(value)) return '[]interface {}';
  if (isObject(value)) return 'map[string]interface {}';
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'string') return 'string';
  const whole = typeof value === 'bigint' || (Number.isInteger(value) && Math.abs(value) < 2 ** 63);
  return whole ? 'int64' : 'float64';
}
