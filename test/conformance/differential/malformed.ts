// Changes that ignore the schema: another type, an unknown field, null, unusual metadata.

import { clone, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import type { Picker } from '../apply/histories.ts';

/** The share of changes that follow the schema. */
export const VALID_CHANCE = 0.8;

const ODD: readonly Json[] = [null, 'text', '', 7, -1, 1.5, true, [], {}, ['x'], { x: 1 }, '7', [null], 1e30];

const oddValue = (pick: Picker): Json => clone(pick.one(ODD));

/** Replaces a value by one of another type, or adds an unknown field. */
export function malform(object: JsonObject, pick: Picker, under?: string): void {
  const places = placesOf(under === undefined ? withoutMeta(object) : { [under]: object[under] ?? {} });
  const [holder, key] = pick.one(places);
  if (isObject(holder) && pick.chance(0.35))
    setOwn(holder, pick.one(['odd', 'Spec', 'unknownField']), oddValue(pick));
  else if (Array.isArray(holder)) holder[Number(key)] = oddValue(pick);
  else if (isObject(holder)) setOwn(holder, key, oddValue(pick));
  if (under !== undefined) {
    const root = places[0]![0];
    if (isObject(root)) object[under] = root[under] ?? null;
  } else adopt(object, places[0]![0]);
}

const withoutMeta = (object: JsonObject): JsonObject => {
  const { apiVersion: _, kind: __, metadata: ___, ...rest } = object;
  return Object.keys(rest).length === 0 ? { spec: {} } : rest;
};

function adopt(object: JsonObject, changed: Json | undefined): void {
  if (!isObject(changed)) return;
  for (const [key, value] of Object.entries(changed)) object[key] = value!;
}

type Place = readonly [holder: Json, key: string];

/** All places that hold a value, the outermost first. */
export function placesOf(value: Json): Place[] {
  if (Array.isArray(value))
    return value.flatMap((item, i) => [[value, String(i)] as Place, ...placesOf(item)]);
  if (!isObject(value)) return [];
  const keys = Object.keys(value).sort();
  return keys.flatMap((key) => [[value, key] as Place, ...placesOf(value[key]!)]);
}

const OWNER = { apiVersion: 'v1', kind: 'ConfigMap', name: 'owner', uid: 'u-1' };
const LONG = 'x'.repeat(64);

/** Unusual and ordinary metadata. */
const META: readonly ((pick: Picker) => JsonObject)[] = [
  (pick) => ({ labels: { tier: pick.one(['gold', 'silver']) } }),
  (pick) => ({
    labels: { [pick.one(['ok', 'a b', 'x/y/z', 'Ex.com/ok', LONG])]: pick.one(['v', '-v', LONG, '']) },
  }),
  (pick) => ({ annotations: { [pick.one(['ok', 'a b', 'ex.com/ok', 'ex.com/'])]: 'any thing' } }),
  (pick) => ({ finalizers: pick.some(['example.com/one', 'example.com/two']) }),
  (pick) => ({ finalizers: [pick.one(['noslash', 'a b', 'foregroundDeletion', 'orphan', 'a/b/c', ''])] }),
  (pick) => ({ ownerReferences: [{ ...OWNER, ...(pick.chance(0.5) ? { controller: true } : {}) }] }),
  (pick) => ({ ownerReferences: [{ ...OWNER, [pick.one(['apiVersion', 'kind', 'name', 'uid'])]: '' }] }),
  () => ({
    ownerReferences: [
      { ...OWNER, controller: true },
      { ...OWNER, uid: 'u-2', controller: true },
    ],
  }),
  (pick) => ({ ownerReferences: [{ ...OWNER, blockOwnerDeletion: pick.chance(0.5) }, OWNER] }),
  () => ({ ownerReferences: [{ ...OWNER, kind: 'Event' }] }),
  (pick) => ({ name: pick.one(['A_b', 'a..b', '', 'x'.repeat(254), 'a b', '-a', 'a/b', '..']) }),
  () => ({ namespace: 'elsewhere' }),
  () => ({ uid: '11111111-2222-3333-4444-555555555555' }),
  (pick) => ({ generation: pick.int(9) }),
  () => ({ creationTimestamp: '2020-01-01T00:00:00Z' }),
  () => ({ deletionTimestamp: '2020-01-01T00:00:00Z', deletionGracePeriodSeconds: 5 }),
  () => ({ selfLink: '/x' }),
  (pick) => ({ labels: pick.one<Json>([[], 'x', { a: 1 }, { a: null }, null]) }),
  (pick) => ({ annotations: pick.one<Json>([[], 'x', { a: true }, null]) }),
  (pick) => ({ [pick.one(['finalizers', 'ownerReferences'])]: pick.one<Json>(['x', [1], {}, null]) }),
  (pick) => ({ unknownMeta: oddValue(pick) }),
];

export function editMetadata(object: JsonObject, pick: Picker): void {
  const before = isObject(object['metadata']) ? object['metadata'] : {};
  object['metadata'] = { ...before, ...(clone(pick.one(META)(pick)) as JsonObject) };
}
