// The state of each owner an object names. What the views show needs no request; what they lack is asked for at the
// server, because a view may be behind, and because a kind that is no longer served says nothing about its objects.

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
    // Nothing is done as long as one of them is unknown.
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
  // A cluster-scoped object cannot be owned by something in a namespace: which one would it be?
  if (kind === undefined || (kind.namespaced && namespace === undefined)) return 'unknown';
  const key = kind.namespaced ? { namespace: namespace!, name: reference.name } : { name: reference.name };
  const view = graph.view(resourceId(kind));
  const cached = view?.reader.get(key)?.metadata;
  if (cached?.uid === reference.uid) return stateOfPresent(cached);
  const live = await getLive(() => client.get(metadataOf(kind), key));
  // Its kind went away with it, and while it was watched we saw that it was not there.
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
    // A 404 that names the object is an answer; this one is about its kind.
    if (error instanceof ApiError && error.code === 404) return 'notServed';
    throw error;
  }
}
