// PartialObjectMetadata: an object reduced to its metadata.

import type { KubeObject } from '#api/object';

export const partialMetadata = (object: KubeObject): KubeObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: object.metadata,
});
