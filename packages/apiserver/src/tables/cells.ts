// Reads fields of any object for a cell: a missing field or one of another type has Go's zero value.

import { type Instant, parseTime } from '@lapse/base/instant';
import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import { formatAge } from './age.ts';

export const NONE = '<none>';
export const UNSET = '<unset>';
export const UNKNOWN = '<unknown>';

type Value = Json | undefined;

/** The value at a path of field names; undefined when a field on the path is missing. */
export function at(value: Value, ...path: string[]): Value {
  let here = value;
  for (const name of path) {
    if (!isObject(here)) return undefined;
    here = getOwn(here, name);
  }
  return here;
}

/** The same for an object. */
export const get = (object: KubeObject, ...path: string[]): Value => at(asJson(object), ...path);

export const text = (value: Value): string => (typeof value === 'string' ? value : '');
/** The text, or `absent`. */
export const textOr = (value: Value, absent: string): string => (typeof value === 'string' ? value : absent);
/** The text, or `empty`. */
export const nonEmpty = (value: Value, empty: string): string => text(value) || empty;
export const flag = (value: Value, absent = false): boolean => (typeof value === 'boolean' ? value : absent);
export const int = (value: Value): number | bigint =>
  typeof value === 'number' || typeof value === 'bigint' ? value : 0;
export const list = (value: Value): Json[] => (Array.isArray(value) ? value : []);
export const objects = (value: Value): JsonObject[] => list(value).filter(isObject);
export const texts = (value: Value): string[] => list(value).map(text);
export const count = (value: Value): number => (isObject(value) ? Object.keys(value).length : 0);
/** A quantity as it is stored; a missing one is zero. */
export const quantity = (value: Value): string =>
  typeof value === 'number' || typeof value === 'bigint' ? String(value) : textOr(value, '0');
/** IntOrString. */
export const intOrText = (value: Value, absent: string): string =>
  value === undefined || value === null ? absent : String(value);

export const nameOf = (object: KubeObject): string => object.metadata.name ?? '';
export const isDeleted = (object: KubeObject): boolean => object.metadata.deletionTimestamp !== undefined;

/** The age of a timestamp, as printed by kubectl. */
export function since(timestamp: Value, now: Instant): string {
  const when = parseTime(text(timestamp));
  return Number.isNaN(when) ? UNKNOWN : formatAge(when, now);
}

export const ageOf = (object: KubeObject, now: Instant): string =>
  since(object.metadata.creationTimestamp ?? undefined, now);

/** The first condition of a type. */
export const condition = (object: KubeObject, type: string): JsonObject | undefined =>
  objects(get(object, 'status', 'conditions')).find((c) => c['type'] === type);

/** Whether the first condition of a type is True. */
export const isTrue = (object: KubeObject, type: string): boolean =>
  condition(object, type)?.['status'] === 'True';

/** Names and images of containers, each on one line. */
export function containerCells(podSpec: Value): [string, string] {
  const containers = objects(at(podSpec, 'containers'));
  const join = (field: string) => containers.map((c) => text(c[field])).join(',');
  return [join('name'), join('image')];
}

/** Up to three entries, then the number of the others. */
export function firstThree(entries: readonly string[]): string {
  const shown = entries.slice(0, 3).join(',');
  return entries.length > 3 ? `${shown} + ${entries.length - 3} more...` : shown;
}
