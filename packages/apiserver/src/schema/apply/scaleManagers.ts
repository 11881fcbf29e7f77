// Owners of the replicas of an object for its /scale. A Scale has one field of the object, so the managers of that
// field become managers of the Scale for a write through /scale, and are transferred back afterwards.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import { FieldSet } from './fieldSet.ts';
import { decodeManagedFields, encodeManagedFields, type Manager, NO_MANAGERS } from './managedFields.ts';
import { fieldElement, type PathElement } from './pathElement.ts';

export const SCALE_VERSION = 'autoscaling/v1';

/** The path of the replicas in each apiVersion of a kind; undefined in a version without /scale. */
export type ReplicasPaths = ReadonlyMap<string, readonly PathElement[] | undefined>;

const IN_SCALE = [fieldElement('spec'), fieldElement('replicas')];

const decode = (entries: Json | undefined) => decodeManagedFields(entries) ?? NO_MANAGERS;

/** The managedFields of the Scale for an object with these entries. */
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
  /** managedFields of the object before the write. */
  readonly before: Json | undefined;
  /** managedFields of the Scale after the write. */
  readonly scale: Json | undefined;
  /** The version of the written object. */
  readonly apiVersion: string;
}

/**
 * The managedFields of an object after a write to its Scale. An updater has another identity in the Scale, because
 * its version differs: it gets its own entry, without a time, and loses the field in its old entry.
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
