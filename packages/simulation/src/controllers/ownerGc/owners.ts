// Determines the state of each owner of an object. A cached owner needs no request. A missing owner is read from the API
// server, because a view may be stale, and because an unserved kind proves nothing about its objects.

import { metadataOf, type PartialObject } from '@lapse/kube/api/kind';
import type { OwnerReference } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import { type Owner, type OwnerState, stateOfPresent } from './compute.ts';
import type { Graph } from './graph.ts';
import { resourceId } from './kinds.ts';

export async function getOwners(
  client: Client,
  graph: Graph,
  object: PartialObject,
): Promise<readonly Owner[]> {
  const owners: Owner[] = [];
  for (const reference of object.metadata.ownerReferences ?? []) {
    const state = await getState(client, graph, reference, object.metadata.namespace);
    owners.push({ reference, state });
    // One unknown owner is enough: the collector does nothing then.
    if (state === 'unknown') break;
  }
  return owners;
}

async function getState(
  client: Client,
  graph: Graph,
  reference: OwnerReference,
  namespace: string | undefined,
): Promise<OwnerState> {
  if (graph.isKnownAbsent(reference, namespace)) return 'dangling';
  const kind = graph.kindOf(reference);
  // A cluster-scoped object cannot have a namespaced owner, because the reference has no namespace.
  if (kind === undefined || (kind.namespaced && namespace === undefined)) return 'unknown';
  const key = kind.namespaced ? { namespace: namespace!, name: reference.name } : { name: reference.name };
  const view = graph.view(resourceId(kind));
  const cached = view?.reader.get(key)?.metadata;
  if (cached?.uid === reference.uid) return stateOfPresent(cached);
  const live = await getLive(() => client.get(metadataOf(kind), key));
  // The kind is no longer served. The owner is absent only if a synced view showed that it did not exist.
  const isAbsent = live === 'notServed' ? view?.reader.synced === true : live?.metadata.uid !== reference.uid;
  if (isAbsent) {
    graph.rememberAbsent(reference, namespace);
    return 'dangling';
  }
  return live === 'notServed' || live === undefined ? 'unknown' : stateOfPresent(live.metadata);
}

async function getLive(
  get: () => Promise<PartialObject | undefined>,
): Promise<PartialObject | undefined | 'notServed'> {
  try {
    return await get();
  } catch (error) {
    // The client returns undefined for a missing object. This 404 means that the kind is not served.
    if (error instanceof ApiError && error.code === 404) return 'notServed';
    throw error;
  }
}
