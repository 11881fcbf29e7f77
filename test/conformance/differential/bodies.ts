// Bodies of writes: objects with changes, and patches of every type made from them.

import { clone, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import { Picker } from '../apply/histories.ts';
import { replacesAll } from './exceptions.ts';
import { editMetadata, placesOf } from './malformed.ts';
import type { Demand, Memory, Step, Subject } from './types.ts';

const META_SHARE = 0.25;
const NEVER_VERSION = '999999999';
const NEVER_UID = '00000000-0000-0000-0000-000000000000';

export function nameOf({ existing, cluster }: Subject, name: string): string {
  if (existing !== undefined) return name === 'a' ? existing : `${name}.${existing}`;
  return cluster ? `{ns}-${name}` : name;
}

/** The object of a name as its creator would send it. */
export function fresh(subject: Subject, name: string): JsonObject {
  const labels = { run: '{ns}' };
  const { apiVersion, kind } = subject;
  return { apiVersion, kind, metadata: { name: nameOf(subject, name), labels }, ...subject.base() };
}

export function edited(subject: Subject, object: JsonObject, edits: readonly number[]): JsonObject {
  for (const seed of edits) {
    const pick = new Picker(seed);
    if (pick.chance(META_SHARE)) editMetadata(object, pick);
    else subject.edit(object, pick);
  }
  return object;
}

export function withStatus(subject: Subject, object: JsonObject, edits: readonly number[]): JsonObject {
  const all = edits.length === 0 ? [1] : edits;
  for (const seed of all) subject.editStatus(object, new Picker(seed));
  return object;
}

/** The value that a demand means on this server. */
export function versionFor(demand: Demand, name: string, memory: Memory): string | undefined {
  const versions = memory.versions.get(name) ?? [];
  if (demand === 'right') return versions.at(-1) ?? NEVER_VERSION;
  if (demand === 'stale') return versions.at(-2) ?? '1';
  return demand === 'wrong' ? NEVER_VERSION : undefined;
}

export function uidFor(demand: Demand, name: string, memory: Memory): string | undefined {
  if (demand === 'none') return undefined;
  const metadata = memory.objects.get(name)?.['metadata'];
  const uid = isObject(metadata) ? metadata['uid'] : undefined;
  return demand === 'right' && typeof uid === 'string' ? uid : NEVER_UID;
}

export const demand = (pick: Picker): Demand =>
  pick.one(['none', 'none', 'none', 'right', 'right', 'stale', 'wrong']);

/** The object read last, with the demanded version, or a new object. */
export function replacement(subject: Subject, step: Step, pick: Picker, memory: Memory): JsonObject {
  const seen = memory.objects.get(step.name);
  const object = seen && pick.chance(0.65) ? (clone(seen) as JsonObject) : fresh(subject, step.name);
  return demanding(object, step.name, pick, memory);
}

/** The same object with a version and a uid in its metadata, or without. */
export function demanding(object: JsonObject, name: string, pick: Picker, memory: Memory): JsonObject {
  const { resourceVersion: _, uid, ...metadata } = (object['metadata'] ?? {}) as JsonObject;
  const version = versionFor(demand(pick), name, memory);
  const wantsUid = pick.chance(0.1) ? uidFor(pick.one(['right', 'wrong']), name, memory) : uid;
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(version === undefined ? {} : { resourceVersion: version }),
      ...(wantsUid === undefined ? {} : { uid: wantsUid }),
    },
  };
}

const POINTERS = [
  '/metadata/labels/run',
  '/metadata/annotations/x',
  '/nowhere/at/all',
  '',
  '/',
  'metadata',
  '/spec/-',
];

/** Operations on the places of an edited object. */
export function jsonPatch(object: JsonObject, pick: Picker): Json {
  if (pick.chance(0.04)) return pick.one<Json>([{}, [{}], [{ op: 'odd', path: '/x' }], 'text', [null], []]);
  const places = pointersOf(object).filter(([pointer]) => !/^\/(apiVersion|kind)$/.test(pointer));
  const patch = Array.from({ length: pick.one([1, 1, 2, 3]) }, () => operation(places, pick));
  return replacesAll(patch) ? [] : patch;
}

function operation(places: readonly [string, Json][], pick: Picker): Json {
  const [pointer, value] = pick.one(places);
  const path = pick.chance(0.15) ? pick.one(POINTERS) : pointer;
  const op = pick.one(['add', 'add', 'add', 'replace', 'replace', 'remove', 'test', 'move', 'copy']);
  if (op === 'remove') return { op, path };
  if (op === 'move' || op === 'copy') return { op, path, from: pick.one(places)[0] };
  return { op, path, value };
}

function pointersOf(value: Json, at = ''): [string, Json][] {
  const step = (key: string) => `${at}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
  const entries: [string, Json][] = Array.isArray(value)
    ? value.map((item, i) => [step(String(i)), item])
    : isObject(value)
      ? Object.keys(value)
          .sort()
          .map((key) => [step(key), value[key]!])
      : [];
  return entries.flatMap(([pointer, item]) => [
    [pointer, item] as [string, Json],
    ...pointersOf(item, pointer),
  ]);
}

/** A part of an edited object, with some values null. */
export function mergePatch(object: JsonObject, pick: Picker): JsonObject {
  const { apiVersion, kind, metadata, ...fields } = object;
  const { name: _, ...meta } = (isObject(metadata) ? metadata : {}) as JsonObject;
  const patch: JsonObject = { ...fields, ...(pick.chance(0.5) ? { metadata: meta } : {}) };
  if (pick.chance(0.1)) Object.assign(patch, { apiVersion, kind });
  for (let n = pick.one([0, 0, 1, 2]); n > 0; n--) {
    const places = placesOf(patch);
    if (places.length === 0) break;
    const [holder, key] = pick.one(places);
    if (isObject(holder)) holder[key] = pick.chance(0.6) ? null : holder[key]!;
  }
  return patch;
}

const DIRECTIVES: readonly JsonObject[] = [
  { $patch: 'replace' },
  { $patch: 'delete' },
  { $patch: 'merge' },
  { $patch: 'odd' },
  { $retainKeys: ['name'] },
];

/** A merge patch with directives of strategic merge in some of its objects. */
export function strategicPatch(object: JsonObject, pick: Picker): JsonObject {
  const patch = mergePatch(object, pick);
  const objects = [
    patch,
    ...placesOf(patch).map(([holder, key]) => (isObject(holder) ? holder[key] : undefined)),
  ];
  const chosen = pick.one(objects.filter(isObject));
  const roll = pick.int(10);
  if (roll < 3) Object.assign(chosen, clone(pick.one(DIRECTIVES)));
  if (roll === 3) patch['metadata'] = { '$deleteFromPrimitiveList/finalizers': ['example.com/one'] };
  if (roll === 4) patch['metadata'] = { $patch: pick.one(['replace', 'delete']) };
  if (roll === 5) patch['metadata'] = { ownerReferences: [{ $patch: 'delete', uid: 'u-1' }] };
  return patch;
}
