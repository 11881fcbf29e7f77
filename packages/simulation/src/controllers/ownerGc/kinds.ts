// The kinds that the garbage collector handles: all served kinds that can be listed, watched and deleted, each in one
// version. Events are excluded, as in Kubernetes: they are many and have no owners or dependents in practice.

import { type Kind, metadataOf, type ObjectKey, type PartialObject, plainKind } from '@lapse/kube/api/kind';
import type { ObjectMeta } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Projection, Source } from '@lapse/runtime/source';

const VERBS = ['delete', 'list', 'watch'];
const isEvent = ({ group, resource }: Kind): boolean =>
  resource === 'events' && (group === '' || group === 'events.k8s.io');

/** `configmaps`, `jobs.batch`: a kind without its version. */
export const resourceId = ({ group, resource }: { group: string; resource: string }): string =>
  group === '' ? resource : `${resource}.${group}`;

/** Selects the collected kinds from discovery, which lists preferred versions first. */
export function computeCollected(served: readonly ServedKind[]): Kind<PartialObject>[] {
  const chosen = new Map<string, Kind<PartialObject>>();
  for (const one of served) {
    const plain = plainKind(one);
    const id = resourceId(plain);
    if (chosen.has(id) || isEvent(plain) || !VERBS.every((verb) => one.verbs.includes(verb))) continue;
    chosen.set(id, metadataOf(plain));
  }
  return [...chosen.values()];
}

/** Keeps only the fields that decisions read. Labels and annotations are most of a cluster's metadata. */
const ownershipProjection: Projection<PartialObject> = {
  name: 'ownership',
  project: ({ apiVersion, kind, metadata }) => ({ apiVersion, kind, metadata: ownershipMetadata(metadata) }),
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

const ownershipMetadata = (metadata: ObjectMeta): ObjectMeta =>
  Object.fromEntries(
    KEPT.filter((field) => metadata[field] !== undefined).map((field) => [field, metadata[field]]),
  );

/** `batch/Job`: the kind of an owner reference without its version. */
export const groupKindOf = (apiVersion: string, kind: string): string =>
  `${apiVersion.includes('/') ? apiVersion.slice(0, apiVersion.indexOf('/')) : ''}/${kind}`;

const indexes = {
  uid: ({ metadata }: PartialObject) => (metadata.uid === undefined ? [] : [metadata.uid]),
  owner: ({ metadata }: PartialObject) => (metadata.ownerReferences ?? []).map(({ uid }) => uid),
  ownerKind: ({ metadata }: PartialObject) =>
    (metadata.ownerReferences ?? []).map(({ apiVersion, kind }) => groupKindOf(apiVersion, kind)),
};

export const sourceOf = (kind: Kind<PartialObject>): Source =>
  ({ kind, projection: ownershipProjection, indexes }) as unknown as Source;

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

/** The object of a key; undefined for the cluster key. */
export function addressOf({ namespace, name }: ObjectKey): ObjectAddress | undefined {
  if (namespace === undefined) return undefined;
  const slash = name.indexOf('/');
  if (slash === -1) return { resource: namespace, key: { name } };
  return { resource: name.slice(0, slash), key: { namespace, name: name.slice(slash + 1) } };
}
