// The class of objects that name none: of a StorageClass, an IngressClass.

import type { KubeObject } from '@lapse/kube/api/object';

/** The name of the newest class with one of the annotations set to `true`. */
export function defaultClass(
  classes: Iterable<KubeObject>,
  isDefault: readonly string[],
): string | undefined {
  let best: KubeObject | undefined;
  for (const candidate of classes) {
    const { annotations = {} } = candidate.metadata;
    if (!isDefault.some((key) => annotations[key] === 'true')) continue;
    if (!best || isBefore(candidate, best)) best = candidate;
  }
  return best?.metadata.name;
}

/** Newest first; created in the same second, by name. */
function isBefore(a: KubeObject, b: KubeObject): boolean {
  const [made, other] = [a.metadata.creationTimestamp ?? '', b.metadata.creationTimestamp ?? ''];
  return made === other ? (a.metadata.name ?? '') < (b.metadata.name ?? '') : made > other;
}
