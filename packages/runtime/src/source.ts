// What to watch: a kind, where and which objects of it, and how much of each is worth keeping. Plain data: two users who
// want the same source share one watch and one store.

import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { Shape } from '@lapse/kube/api/shape';
import type { IndexFunction } from './index.ts';

/**
 * The part of an object that its readers need; everything else is dropped before it is stored. Pure. It must keep the
 * name, namespace, uid and resourceVersion. Sources with the same kind share a store when their projections are the same
 * object.
 */
export interface Projection<T extends KubeObject> {
  readonly name: string;
  /** Of kinds that are built in: the fields that `project` looks at. Others may be missing. */
  readonly shape?: Shape;
  project(object: T): T;
}

export interface Source<T extends KubeObject = KubeObject> {
  readonly kind: Kind<T>;
  /** Unset: all namespaces. */
  readonly namespace?: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  /** Unset: everything but managedFields. */
  readonly projection?: Projection<T>;
  /** Ways to find objects by something else than their key. A name means the same function to all who share a source. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
}

/** For kinds whose readers need most of the object. */
export const whole: Projection<KubeObject> = {
  name: 'whole',
  project(object) {
    if (object.metadata.managedFields === undefined) return object;
    const { managedFields: _, ...metadata } = object.metadata;
    return { ...object, metadata };
  },
};

/** A source in words. Sources that share a watch have the same; projections of one name may still differ. */
export function describeSource(source: Source): string {
  const { kind, namespace, labelSelector, fieldSelector, projection } = source;
  const parts = [`${apiVersionOf(kind)}/${kind.resource}`];
  if (kind.representation === 'metadata') parts.push('(metadata)');
  if (namespace !== undefined && namespace !== '') parts.push(`in ${namespace}`);
  if (labelSelector) parts.push(`where labels ${labelSelector}`);
  if (fieldSelector) parts.push(`where fields ${fieldSelector}`);
  if (projection !== undefined) parts.push(`as ${projection.name}`);
  return parts.join(' ');
}
