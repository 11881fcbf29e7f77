// The metadata that every projection of this controller keeps, in as few bytes as possible: equal strings are stored
// once.

import { stringInterner } from '@lapse/base/stringInterner';
import type { ObjectMeta } from '@lapse/kube/api/object';
import { annotations, DELETION, IDENTITY, type Shape } from '@lapse/kube/api/shape';

/** Returns the first copy of an equal string. Namespaces and annotation values repeat across objects. */
export const share = stringInterner();

/** The fields that `identityOf` reads. */
export const metadataShape = (names: readonly string[]): Shape => ({
  ...IDENTITY,
  ...DELETION,
  ...annotations(names),
});

/** Keeps the identity, the deletion fields and the given annotations (including the opt-out). */
export function identityOf(metadata: ObjectMeta, annotations: readonly string[]): ObjectMeta {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, finalizers } = metadata;
  const kept: ObjectMeta = { name, namespace: share(namespace ?? ''), uid, resourceVersion } as ObjectMeta;
  const notes = annotationsOf(metadata, annotations);
  if (notes !== undefined) kept.annotations = notes;
  if (deletionTimestamp !== undefined) {
    kept.deletionTimestamp = deletionTimestamp;
    // Finalizers are only read of terminating objects.
    if (finalizers !== undefined) kept.finalizers = finalizers;
  }
  return kept;
}

function annotationsOf(
  { annotations }: ObjectMeta,
  names: readonly string[],
): Record<string, string> | undefined {
  if (annotations === undefined) return undefined;
  let kept: Record<string, string> | undefined;
  for (const name of names) {
    const value = annotations[name];
    if (value !== undefined) kept = { ...kept, [name]: share(value) };
  }
  return kept;
}
