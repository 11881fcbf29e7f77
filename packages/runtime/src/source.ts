// What to watch: a kind, a namespace, selectors, and the projection that is cached. Plain data: equal sources share one
// watch and one store.

import type { Kind } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { Shape } from '@lapse/kube/api/shape';
import type { IndexFunction } from './index.ts';

/**
 * Reduces an object to the fields its readers need before it is cached. Pure. It must keep name, namespace, uid and
 * resourceVersion. Sources with the same kind share a store if their projections are the same object (by identity).
 */
export interface Projection<T extends KubeObject> {
  readonly name: string;
  /** For built-in kinds: the fields that `project` reads. Other fields may be missing. */
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
  /** Indexes by name. All users of a shared source must use the same function for the same name. */
  readonly indexes?: Readonly<Record<string, IndexFunction<T>>>;
}

/** Keeps everything but managedFields. */
export const whole: Projection<KubeObject> = {
  name: 'whole',
  project(object) {
    if (object.metadata.managedFields === undefined) return object;
    const { managedFields: _, ...metadata } = object.metadata;
    return { ...object, metadata };
  },
};

/** A readable name. Sources that share a watch have the same name; projections with equal names may still differ. */
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
