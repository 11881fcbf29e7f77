// Which kinds take part: everything that is served and can be listed, watched and deleted, each in one version. Events
// neither own nor are owned in practice, and are many: they are left out, as upstream does.

import { type Kind, metadataOf, type ObjectKey, type PartialObject } from '@lapse/kube/api/kind';
import type { ObjectMeta } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Projection, Source } from '@lapse/runtime/source';

const VERBS = ['delete', 'list', 'watch'];
const isEvent = ({ group, resource }: Kind): boolean =>
  resource === 'events' && (group === '' || group === 'events.k8s.io');

/** `configmaps`, `jobs.batch`: a kind whatever its version. */
export const resourceId = ({ group, resource }: { group: string; resource: string }): string =>
  group === '' ? resource : `${resource}.${group}`;

/** Of what discovery lists (preferred versions first), the kinds that take part. */
export function computeCollected(served: readonly ServedKind[]): Kind<PartialObject>[] {
  const chosen = new Map<string, Kind<PartialObject>>();
  for (const { group, version, kind, resource, namespaced, verbs } of served) {
    const plain: Kind = { group, version, kind, resource, namespaced };
    const id = resourceId(plain);
    if (chosen.has(id) || isEvent(plain) || !VERBS.every((verb) => verbs.includes(verb))) continue;
    chosen.set(id, metadataOf(plain));
  }
  return [...chosen.values()];
}

/** What decisions read, and no more: labels and annotations of a whole cluster are most of its metadata. */
const skeleton: Projection<PartialObject> = {
  name: 'ownership',
  project: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata: bones(metadata) }),
};

const KEPT = [
  'name',
  'namespace',
  'uid',
  'resourceVersion',
  'deletionTimestamp',
  'finalizers',
  'ownerReferences',
] as const satisfies readonly (keyof ObjectMeta)[];

const bones = (metadata: ObjectMeta): ObjectMeta =>
  Object.fromEntries(
    KEPT.filter((field) => metadata[field] !== undefined).map((field) => [field, metadata[field]]),
  );

/** `batch/Job`, as owner references name kinds, whatever the version. */
export const groupKindOf = (apiVersion: string, kind: string): string =>
  `${apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''}/${kind}`;

const indexes = {
  uid: ({ metadata }: PartialObject) => (metadata.uid === undefined ? [] : [metadata.uid]),
  owner: ({ metadata }: PartialObject) => (metadata.ownerReferences ?? []).map(({ uid }) => uid),
  ownerKind: ({ metadata }: PartialObject) =>
    (metadata.ownerReferences ?? []).map(({ apiVersion, kind }) => groupKindOf(apiVersion, kind)),
};

export const sourceOf = (kind: Kind<PartialObject>): Source =>
  ({ kind, projection: skeleton, indexes }) as unknown as Source;

/**
 * Keys of this controller name objects of every kind: `namespace/resource.group/name`, and `resource.group/name` for
 * cluster-scoped ones. Names never contain a slash.
 */
export function keyOfObject(kind: Kind, metadata: ObjectMeta): ObjectKey {
  const { namespace, name } = metadata;
  const id = resourceId(kind);
  return kind.namespaced ? { namespace: namespace!, name: `${id}/${name}` } : { namespace: id, name: name! };
}

export interface ObjectAddress {
  readonly resource: string;
  readonly key: ObjectKey;
}

/** The object a key names; undefined for the key of the cluster itself. */
export function addressOf({ namespace, name }: ObjectKey): ObjectAddress | undefined {
  if (namespace === undefined) return undefined;
  const slash = name.indexOf('/');
  if (slash === -1) return { resource: namespace, key: { name } };
  return { resource: name.slice(0, slash), key: { namespace, name: name.slice(slash + 1) } };
}
