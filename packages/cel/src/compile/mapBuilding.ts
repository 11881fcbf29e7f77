// Builds map literals entry by entry and detects repeated keys.

import { describeKey } from '../describe.ts';
import { entriesOf } from '../equality.ts';
import { canonicalKey } from '../select.ts';
import { type CelKey, Failure, fail, isMap, type Value } from '../values.ts';

type Entries = Map<CelKey, readonly [Value, Value]>;

export function insert(map: Entries, key: Value, value: Value): Failure | undefined {
  if (value instanceof Failure) return value;
  const canonical = canonicalKey(key);
  if (canonical === undefined) return fail(`unsupported key type: ${describeKey(key)}`);
  if (map.has(canonical)) return fail(`insert failed: key ${describeKey(key)} already exists`);
  map.set(canonical, [key, value]);
  return undefined;
}

export function insertAll(map: Entries, entries: Value): Failure | undefined {
  if (entries instanceof Failure) return entries;
  if (!isMap(entries)) return fail('no such overload');
  for (const [key, value] of entriesOf(entries)) {
    const error = insert(map, key, value);
    if (error !== undefined) return error;
  }
  return undefined;
}
