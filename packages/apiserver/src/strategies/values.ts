// Reads and modifies decoded objects. Decoding has checked the types, so a wrong type can only come from an admission
// function; it reads as absent.

import { isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';

type Source = { readonly [key: string]: unknown } | undefined;

const read = (from: Source, key: string): unknown =>
  from !== undefined && Object.hasOwn(from, key) ? from[key] : undefined;

export function child(from: Source, key: string): JsonObject | undefined {
  const value = read(from, key);
  return isObject(value) ? value : undefined;
}

/** The struct under `key`, or an empty one that is not part of the object. */
export const part = (from: Source, key: string): JsonObject => child(from, key) ?? {};

/** The struct under `key`; created when it is missing. */
export function ensure(from: { [key: string]: unknown }, key: string): JsonObject {
  const present = child(from, key);
  if (present) return present;
  const made: JsonObject = {};
  from[key] = made;
  return made;
}

export function list(from: Source, key: string): Json[] {
  const value = read(from, key);
  return Array.isArray(value) ? (value as Json[]) : [];
}

export const objects = (from: Source, key: string): JsonObject[] => list(from, key).filter(isObject);

export const texts = (from: Source, key: string): string[] =>
  list(from, key).filter((v): v is string => typeof v === 'string');

export function text(from: Source, key: string): string {
  const value = read(from, key);
  return typeof value === 'string' ? value : '';
}

/** Integers above 2^53 are bigint; comparing them as numbers is exact enough for limits. */
export function number(from: Source, key: string): number | undefined {
  const value = read(from, key);
  if (typeof value === 'bigint') return Number(value);
  return typeof value === 'number' ? value : undefined;
}

export function flag(from: Source, key: string): boolean | undefined {
  const value = read(from, key);
  return typeof value === 'boolean' ? value : undefined;
}

/** Whether the field is present; null is Go's nil. */
export const has = (from: Source, key: string): boolean => (read(from, key) ?? undefined) !== undefined;

export const value = (from: Source, key: string): Json | undefined => read(from, key) as Json | undefined;

/** Entries of a map, in the order of Go's JSON, so that errors have a fixed order. */
export function entries(from: JsonObject | undefined): [string, Json][] {
  const out: [string, Json][] = [];
  for (const key of Object.keys(from ?? {}).sort()) {
    const v = from![key];
    if (v !== undefined) out.push([key, v]);
  }
  return out;
}

/** A map of strings (labels, annotations). */
export const stringMap = (from: Source, key: string): Record<string, string> =>
  part(from, key) as Record<string, string>;

export function assign(to: { [key: string]: unknown }, key: string, v: Json | undefined): void {
  if (v === undefined) delete to[key];
  else setOwn(to as JsonObject, key, v);
}

/** Copies a field from `from`; deletes it when it is absent there. */
export function copyField(to: { [key: string]: unknown }, from: Source, key: string): void {
  assign(to, key, value(from, key));
}

/** Sets a default when the field is absent. */
export function defaultTo(to: { [key: string]: unknown }, key: string, v: Json): void {
  if (to[key] === undefined) setOwn(to as JsonObject, key, v);
}

/** A map with sorted keys, as Go writes it; an empty one is nil. */
export const sortedMap = (map: Readonly<Record<string, string>>): JsonObject | null =>
  Object.keys(map).length === 0
    ? null
    : Object.fromEntries(Object.entries(map).sort(([a], [b]) => (a < b ? -1 : 1)));
