// An object as it is stored in a checkpoint: without managedFields and without the finalizer that a running volume
// snapshot sets on claims.

import type { KubeObject } from '@lapse/kube/api/object';
import { SNAPSHOT_FINALIZER } from '#api/stateSnapshotter/conditions';

/** Does not modify the object. */
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
