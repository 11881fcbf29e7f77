// The owner garbage collector as data. Its keys name objects of every kind (see kinds.ts), and one key stands for the
// cluster: the pass over that one states which kinds are watched, again whenever a definition comes or goes.

import type { Kind, ObjectKey, PartialObject } from '@lapse/kube/api/kind';
import { CustomResourceDefinition, Namespace } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { computeRole, FOREGROUND, ORPHAN } from './compute.ts';
import { definitionFacts } from './definitions.ts';
import { type Found, Graph } from './graph.ts';
import { groupKindOf, keyOfObject } from './kinds.ts';
import { reconcile } from './reconcile.ts';

/** The namespace that every cluster has stands for the cluster. */
const CLUSTER: ObjectKey = { name: 'kube-system' };

const keyOfFound = ({ kind, object }: Found): ObjectKey => keyOfObject(kind, object.metadata);

/** What others than the object itself, or a later pass over it, can see of it. */
const ownershipFacts = ({ metadata }: KubeObject) => ({
  uid: metadata.uid,
  owners: metadata.ownerReferences,
  ending: metadata.deletionTimestamp !== undefined,
  finalizers: metadata.finalizers?.filter((name) => name === FOREGROUND || name === ORPHAN),
});

/**
 * Whom the object owns, the object itself, and the owners that wait for it to go. In this order: dependents that do not
 * block are judged while their owner still waits, and so go the way they would in a real cluster.
 */
function* concerned(graph: Graph, kind: Kind, { metadata }: KubeObject): Generator<ObjectKey> {
  for (const dependent of graph.dependentsOf(metadata.uid!))
    if (dependent.object.metadata.uid !== metadata.uid) yield keyOfFound(dependent);
  if (computeRole(metadata) !== 'none') yield keyOfObject(kind, metadata);
  for (const { uid } of metadata.ownerReferences ?? []) {
    const owner = graph.withUid(uid);
    if (owner !== undefined && computeRole(owner.object.metadata) === 'deletingDependents')
      yield keyOfFound(owner);
  }
}

/** The cluster, and whoever is owned by objects of this kind. */
function* concernedByDefinition(graph: Graph, { spec }: CustomResourceDefinition): Generator<ObjectKey> {
  yield CLUSTER;
  if (spec === undefined) return;
  const groupKind = groupKindOf(`${spec.group}/`, spec.names.kind);
  for (const dependent of graph.dependentsOfKind(groupKind)) yield keyOfFound(dependent);
}

/** A collector with a memory of its own, for one manager. */
export function createOwnerGc(): ControllerDefinition {
  const graph = new Graph();
  return defineController<Namespace>({
    name: 'owner-gc',
    for: Namespace,
    fieldSelector: `metadata.name=${CLUSTER.name}`,
    facts: () => null,
    watches: [
      {
        kind: CustomResourceDefinition,
        facts: definitionFacts,
        to: (definition: CustomResourceDefinition) => concernedByDefinition(graph, definition),
      },
    ],
    dynamic: {
      facts: ownershipFacts,
      to: (object, source) => concerned(graph, source.kind, object as PartialObject),
    },
    concurrency: 8,
    rights: [{ group: '*', resource: '*', verbs: ['get', 'patch', 'delete'] }],
    reconcile: (pass) => reconcile(pass, graph),
  }) as ControllerDefinition;
}
