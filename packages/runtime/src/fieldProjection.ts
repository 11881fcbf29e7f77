// A projection to some fields of an object: identity, deletion fields, labels, some annotations, and paths.

import { stringInterner } from '@lapse/base/stringInterner';
import { getOwn, isObject, type Json, type JsonObject, setOwn } from '@lapse/kube/api/json';
import { asJson, asObject, type KubeObject, type ObjectMeta } from '@lapse/kube/api/object';

type FieldPath = readonly string[];

const KEPT_META = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'deletionTimestamp',
  'finalizers',
] as const satisfies (keyof ObjectMeta)[];

/** Keeps these annotations and the values at these paths. Does not modify the object. */
export function projectFields(
  object: KubeObject,
  annotations: readonly string[],
  paths: readonly FieldPath[],
): KubeObject {
  const from = asJson(object);
  const kept: JsonObject = {
    apiVersion: object.apiVersion,
    kind: object.kind,
    metadata: keptMetadata(object, annotations),
  };
  for (const path of paths) copyPath(from, kept, path);
  return asObject(kept);
}

function keptMetadata({ metadata }: KubeObject, names: readonly string[]): JsonObject {
  const kept: JsonObject = {};
  for (const field of KEPT_META) if (metadata[field] !== undefined) kept[field] = metadata[field] as Json;
  const { annotations = {} } = metadata;
  const own = names.filter((key) => Object.hasOwn(annotations, key));
  if (own.length > 0) kept['annotations'] = Object.fromEntries(own.map((key) => [key, annotations[key]]));
  if (metadata.labels !== undefined) kept['labels'] = sharedLabels(metadata.labels);
  return kept;
}

const share = stringInterner();

/** All labels are kept, because other readers may select by them. */
function sharedLabels(labels: Readonly<Record<string, string>>): JsonObject {
  const kept: JsonObject = {};
  for (const [key, value] of Object.entries(labels)) setOwn(kept, share(key), share(value));
  return kept;
}

/** Copies the value at the path. Of the parents, only their existence is kept. */
function copyPath(from: JsonObject, to: JsonObject, path: FieldPath): void {
  let source = from;
  let target = to;
  for (const [i, field] of path.entries()) {
    const value = getOwn(source, field);
    if (value === undefined) return;
    if (i === path.length - 1 || !isObject(value)) {
      setOwn(target, field, value);
      return;
    }
    const known = getOwn(target, field);
    // A shorter path already copied the whole value.
    if (known === value) return;
    const next: JsonObject = isObject(known) ? known : {};
    if (next !== known) setOwn(target, field, next);
    source = value;
    target = next;
  }
}
