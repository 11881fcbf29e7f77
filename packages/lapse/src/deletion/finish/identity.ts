// What every projection of this controller keeps of an object's metadata, in as few bytes as possible: texts that many
// objects share are kept once.

import { sharedTexts } from '@lapse/base/sharedTexts';
import type { ObjectMeta } from '@lapse/kube/api/object';
import { annotations, DELETION, IDENTITY, type Shape } from '@lapse/kube/api/shape';

/** The same text, the first copy of it: namespaces and annotation values repeat. */
export const share = sharedTexts();

/** What `identityOf` looks at. */
export const metadataShape = (names: readonly string[]): Shape => ({
  ...IDENTITY,
  ...DELETION,
  ...annotations(names),
});

/** Identity, the marks of deletion, and the annotations that are named (the opt-out among them). */
export function identityOf(metadata: ObjectMeta, annotations: readonly string[]): ObjectMeta {
  const { name, namespace, uid, resourceVersion, deletionTimestamp, finalizers } = metadata;
  const kept: ObjectMeta = { name, namespace: share(namespace ?? ''), uid, resourceVersion } as ObjectMeta;
  const notes = annotationsOf(metadata, annotations);
  if (notes !== undefined) kept.annotations = notes;
  if (deletionTimestamp !== undefined) {
    kept.deletionTimestamp = deletionTimestamp;
    // Who keeps it is asked only of what is being deleted.
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
