// PartialObjectMetadata: objects reduced to their metadata, and lists of them.

import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Representation } from '../http/negotiate.ts';
import type { Resource } from '../resources/resource.ts';

type Partial = Extract<Representation, { as: 'PartialObjectMetadata' }>;

export const partialMetadata = (object: KubeObject, version = 'v1'): KubeObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${version}`,
  metadata: object.metadata,
});

/** The requested kind must match the response: an object or a list. */
export function checkPartialFits(resource: Resource, { list }: Partial, isList: boolean): void {
  if (list === isList) return;
  // A custom resource could be a list; kube-apiserver finds out when it reads it as one.
  if (resource.custom && list) throw new ApiError(500, undefined, 'content is not a list');
  const asked = list ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  const got = `${isList ? 'a' : 'not a'} list (${goType(resource, isList)})`;
  throw new ApiError(406, 'NotAcceptable', `you requested ${asked}, but the requested object is ${got}`);
}

/** The internal Go type, which the message of kube-apiserver names. */
function goType({ custom, group, kind, listKind }: Resource, isList: boolean): string {
  if (custom) return isList ? '*unstructured.UnstructuredList' : '*unstructured.Unstructured';
  const name = group === '' || group === 'events.k8s.io' ? 'core' : group.split('.', 1)[0];
  return `*${name}.${isList ? listKind : kind}`;
}
