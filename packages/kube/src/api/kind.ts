// Kind descriptors: group, version, plural and scope of a kind, and (for the compiler only) the type of its objects.
// They are plain data; discovery returns unknown kinds in the same shape.

import { apiVersionOf, type KubeObject, type ObjectMeta } from './object.ts';

export interface Kind<T extends KubeObject = KubeObject> {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** The plural, as in paths: `jobs`. */
  readonly resource: string;
  readonly namespaced: boolean;
  /** Request metadata only. The objects are then PartialObjectMetadata, for any kind. */
  readonly representation?: 'metadata';
  /** Never set. Carries the object type. */
  readonly __object?: T;
}

/** The object type of a kind: `ObjectOf<typeof Job>`. */
export type ObjectOf<K> = K extends Kind<infer T> ? T : never;

export interface PartialObject extends KubeObject {
  metadata: ObjectMeta;
}

/** Identifies an object of a kind. Cluster-scoped objects have no namespace. */
export interface ObjectKey {
  readonly namespace?: string;
  readonly name: string;
}

/** A typed descriptor: `defineKind<Job>({ group: 'batch', version: 'v1', … })`. */
export const defineKind = <T extends KubeObject = KubeObject>(kind: Omit<Kind<T>, '__object'>): Kind<T> =>
  kind;

/** The descriptor alone, without the other fields of a discovered kind. */
export const plainKind = ({ group, version, kind, resource, namespaced }: Kind): Kind => ({
  group,
  version,
  kind,
  resource,
  namespaced,
});

/** The same kind as PartialObjectMetadata: a tenth of the bytes of most objects. */
export const metadataOf = (kind: Kind): Kind<PartialObject> => ({ ...kind, representation: 'metadata' });

/** `batch/v1`, or `v1` for the core group. */
export const apiVersionOfKind = (kind: Kind): string => apiVersionOf(kind);

/** The key of an object that has a name. */
export function keyOf(object: { metadata: ObjectMeta }): ObjectKey {
  const { namespace, name } = object.metadata;
  if (name === undefined || name === '') throw new Error('the object has no name');
  return namespace === undefined || namespace === '' ? { name } : { namespace, name };
}

/** `batch/v1 Job`, for messages. */
export const describeKind = (kind: { group: string; version: string; kind: string }): string =>
  `${apiVersionOf(kind)} ${kind.kind}`;
