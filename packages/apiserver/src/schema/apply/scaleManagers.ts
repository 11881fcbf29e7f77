// Who owns the replicas of an object, as its /scale sees it. A Scale has one field of the object, so the managers of that
// field are shown to a write through /scale as managers of the Scale, and taken back from it afterwards.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { FieldSet } from './fieldSet.ts';
import { decodeManagedFields, encodeManagedFields, type Manager, NOBODY } from './managedFields.ts';
import { fieldElement, type PathElement } from './pathElement.ts';

export const SCALE_VERSION = 'autoscaling/v1';

/** Where each apiVersion of a kind keeps its replicas; undefined in a version without /scale. */
export type ReplicasPaths = ReadonlyMap<string, readonly PathElement[] | undefined>;

const IN_SCALE = [fieldElement('spec'), fieldElement('replicas')];

const decode = (entries: Json | undefined) => decodeManagedFields(entries) ?? NOBODY;

/** The managedFields of the Scale of an object with these. */
export function managersOfScale(entries: Json | undefined, paths: ReplicasPaths): JsonObject[] | undefined {
  const { fields, managers, times } = decode(entries);
  const scale = new Map<string, FieldSet>();
  const as = new Map<string, Manager>();
  for (const [id, set] of fields) {
    const manager = managers.get(id)!;
    const path = paths.get(manager.apiVersion);
    if (path === undefined || !set.has(path)) continue;
    scale.set(id, FieldSet.of(IN_SCALE));
    as.set(id, { ...manager, apiVersion: SCALE_VERSION });
  }
  return encodeManagedFields({ fields: scale, managers: as, times });
}

export interface ScaleWrite {
  /** managedFields of the object before. */
  readonly before: Json | undefined;
  /** managedFields of the Scale after. */
  readonly scale: Json | undefined;
  /** In which the object is written. */
  readonly apiVersion: string;
}

/**
 * The managedFields of an object whose Scale was written. An updater is another one in the Scale, because its version
 * is: it gets an entry of its own, without a time, and loses the field where it had it.
 */
export function managersOfScaled(write: ScaleWrite, paths: ReplicasPaths): JsonObject[] | undefined {
  const parent = decode(write.before);
  const scale = decode(write.scale);
  const left = new Set(scale.fields.keys());
  const fields = new Map<string, FieldSet>();
  const managers = new Map(parent.managers);
  for (const [id, set] of parent.fields) {
    const { apiVersion } = parent.managers.get(id)!;
    if (!paths.has(apiVersion)) continue;
    const path = paths.get(apiVersion);
    const keeps = path === undefined || !set.has(path) || left.delete(id);
    const kept = keeps ? set : set.difference(FieldSet.of(path));
    if (!kept.isEmpty) fields.set(id, kept);
  }
  const replicas = paths.get(write.apiVersion);
  for (const id of left) {
    if (replicas === undefined || !scale.fields.get(id)!.has(IN_SCALE)) continue;
    fields.set(id, FieldSet.of(replicas));
    managers.set(id, { ...scale.managers.get(id)!, apiVersion: write.apiVersion });
  }
  return encodeManagedFields({ fields, managers, times: parent.times });
}
