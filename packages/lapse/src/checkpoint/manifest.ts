// An object as a checkpoint keeps it: as it was read, but for who wrote which field, and for a finalizer that a volume
// snapshot puts on claims while it runs.

import type { KubeObject } from '@lapse/kube/api/object';
import { SNAPSHOT_FINALIZER } from '#api/stateSnapshotter/conditions';

/** The object itself is left alone. */
export function buildManifest(object: KubeObject): KubeObject {
  const { managedFields: _, ...metadata } = object.metadata;
  const { finalizers } = metadata;
  if (finalizers?.includes(SNAPSHOT_FINALIZER)) {
    const others = finalizers.filter((name) => name !== SNAPSHOT_FINALIZER);
    if (others.length === 0) delete metadata.finalizers;
    else metadata.finalizers = others;
  }
  return { ...object, metadata };
}
