// Objects that are deleted without being saved: `trash.exclude`.

import type { Kind } from '@lapse/kube/api/kind';

/** Whether objects of the kind are not saved. */
export type Exclusion = (kind: Pick<Kind, 'group' | 'resource'>) => boolean;

/** `configmaps`, `deployments.apps`. */
const nameOf = ({ group, resource }: Pick<Kind, 'group' | 'resource'>): string =>
  group === '' ? resource : `${resource}.${group}`;

/** `resources`: names as in RBAC messages. */
export function excluding(resources: readonly string[]): Exclusion {
  const names = new Set(resources);
  return (kind) => names.has(nameOf(kind));
}
