// PartialObjectMetadata: an object reduced to its metadata, and lists of such.

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

/** The kind asked for must fit the answer: an object or a list. */
export function checkPartialFits(resource: Resource, { list }: Partial, isList: boolean): void {
  if (list === isList) return;
  // An object of a custom resource could be a list; whether it is, is seen when it is read as one.
  if (resource.custom && list) throw new ApiError(500, undefined, 'content is not a list');
  const asked = list ? 'PartialObjectMetadataList' : 'PartialObjectMetadata';
  const got = `${isList ? 'a' : 'not a'} list (${goType(resource, isList)})`;
  throw new ApiError(406, 'NotAcceptable', `you requested ${asked}, but the requested object is ${got}`);
}

/** The Go type that the real server holds in its hands at this point, which its message names. */
function goType({ custom, group, kind, listKind }: Resource, isList: boolean): string {
  if (custom) return isList ? '*unstructured.UnstructuredList' : '*unstructured.Unstructured';
  const name = group === '' || group === 'events.k8s.io' ? 'core' : group.split('.', 1)[0];
  return `*${name}.${isList ? listKind : kind}`;
}
