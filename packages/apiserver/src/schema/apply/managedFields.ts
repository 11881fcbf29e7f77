// metadata.managedFields in JSON: manager, operation, time and fields.

import { parseTime } from '@lapse/base/instant';
import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { type FieldSet, parseFieldSet } from './fieldSet.ts';
import type { Managers } from './managers.ts';

export interface Manager {
  readonly manager: string;
  readonly operation: 'Apply' | 'Update';
  readonly apiVersion: string;
  readonly subresource: string;
}

export interface Managed {
  readonly fields: Managers;
  readonly managers: ReadonlyMap<string, Manager>;
  /** Time of the last change of each manager, RFC 3339. */
  readonly times: ReadonlyMap<string, string>;
}

export const NO_MANAGERS: Managed = { fields: new Map(), managers: new Map(), times: new Map() };

/** Entries with the same identity are one manager. An applier is the same in every version. */
export function identityOf({ manager, operation, apiVersion, subresource }: Manager): string {
  return JSON.stringify([manager, operation, operation === 'Apply' ? '' : apiVersion, subresource]);
}

// The sets of JSON values that this module encoded.
const decoded = new WeakMap<object, FieldSet>();

/** Undefined when any entry is invalid. */
export function decodeManagedFields(entries: Json | undefined): Managed | undefined {
  if (entries === undefined || entries === null) return NO_MANAGERS;
  if (!Array.isArray(entries)) return undefined;
  const fields = new Map<string, FieldSet>();
  const managers = new Map<string, Manager>();
  const times = new Map<string, string>();
  for (const entry of entries) {
    const manager = isObject(entry) ? managerOf(entry) : undefined;
    const set = manager && decodeSet((entry as JsonObject)['fieldsV1']);
    if (manager === undefined || set === undefined) return undefined;
    const id = identityOf(manager);
    fields.set(id, set);
    managers.set(id, manager);
    const { time } = entry as JsonObject;
    if (typeof time === 'string') times.set(id, time);
  }
  return { fields, managers, times };
}

function managerOf(entry: JsonObject): Manager | undefined {
  const text = (name: string) => (typeof entry[name] === 'string' ? entry[name] : '');
  const operation = text('operation');
  if (operation !== 'Apply' && operation !== 'Update') return undefined;
  if (text('apiVersion') === '' || text('fieldsType') !== 'FieldsV1') return undefined;
  return {
    manager: text('manager'),
    operation,
    apiVersion: text('apiVersion'),
    subresource: text('subresource'),
  };
}

function decodeSet(json: Json | undefined): FieldSet | undefined {
  const content = json ?? {};
  if (!isObject(content)) return undefined;
  return decoded.get(content) ?? parseKnown(content);
}

// Cache: objects of one kind and manager have the same fields, and clients send back what they read.
const parsed = new Map<string, FieldSet>();
const MAX_CACHED = 500;
const MAX_CACHED_LENGTH = 16_384;

function parseKnown(content: JsonObject): FieldSet | undefined {
  const text = JSON.stringify(content);
  const known = parsed.get(text);
  if (known !== undefined) return known;
  const set = parseFieldSet(content);
  if (set === undefined || text.length > MAX_CACHED_LENGTH) return set;
  if (parsed.size >= MAX_CACHED) parsed.clear();
  parsed.set(text, set);
  return set;
}

/** Undefined without managers. Appliers first, then by time (seconds), name, version and subresource. */
export function encodeManagedFields({ fields, managers, times }: Managed): JsonObject[] | undefined {
  if (fields.size === 0) return undefined;
  const entries = [...fields].map(([id, set]) => ({ ...managers.get(id)!, set, time: times.get(id) }));
  entries.sort(
    (a, b) =>
      compare(a.operation, b.operation) ||
      secondsOf(a.time) - secondsOf(b.time) ||
      compare(a.manager, b.manager) ||
      compare(a.apiVersion, b.apiVersion) ||
      compare(a.subresource, b.subresource),
  );
  return entries.map(({ manager, operation, apiVersion, subresource, set, time }) => ({
    ...(manager === '' ? {} : { manager }),
    operation,
    apiVersion,
    ...(time === undefined ? {} : { time }),
    fieldsType: 'FieldsV1',
    fieldsV1: encodeSet(set),
    ...(subresource === '' ? {} : { subresource }),
  }));
}

const encoded = new WeakMap<FieldSet, JsonObject>();

/** Returns the identical object for the same set: versions of an object share it, and it is never modified. */
function encodeSet(set: FieldSet): JsonObject {
  let json = encoded.get(set);
  if (json === undefined) {
    json = set.toJson();
    encoded.set(set, json);
    decoded.set(json, set);
  }
  return json;
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
const secondsOf = (time: string | undefined): number =>
  time === undefined ? 0 : Math.floor(parseTime(time) / 1000);

/** A client resets managedFields with an empty list or one empty entry. */
export function isReset(entries: Json | undefined): boolean {
  if (!Array.isArray(entries)) return false;
  const [first] = entries;
  return entries.length === 0 || (entries.length === 1 && isObject(first!) && isBare(first));
}

// A decoded entry is empty or has only the fields of every entry.
const isBare = (entry: JsonObject): boolean =>
  Object.values(entry).every((value) => value === undefined || value === '' || value === null);
