// The definition of the simulated garbage collector. Its keys name objects of every kind (see kinds.ts). One key stands
// for the cluster: its reconcile declares the watched kinds, and runs again whenever a CRD is created or deleted.

import type { Kind, ObjectKey, PartialObject } from '@lapse/kube/api/kind';
import { CustomResourceDefinition, Namespace } from '@lapse/kube/api/kinds/builtin';
import type { KubeObject } from '@lapse/kube/api/object';
import { type ControllerDefinition, defineController } from '@lapse/runtime/definition';
import { computeRole, FOREGROUND, ORPHAN } from './compute.ts';
import { definitionFacts } from './definitions.ts';
import { type Found, Graph } from './graph.ts';
import { groupKindOf, keyOfObject } from './kinds.ts';
import { reconcile } from './reconcile.ts';

/** The key that stands for the cluster: a namespace that every cluster has. */
const CLUSTER: ObjectKey = { name: 'kube-system' };

const keyOfFound = ({ kind, object }: Found): ObjectKey => keyOfObject(kind, object.metadata);

/** The fields that decisions about this object, its owners and its dependents read. */
const ownershipFacts = ({ metadata }: KubeObject) => ({
  uid: metadata.uid,
  owners: metadata.ownerReferences,
  ending: metadata.deletionTimestamp !== undefined,
  finalizers: metadata.finalizers?.filter((name) => name === FOREGROUND || name === ORPHAN),
});

/**
 * The dependents of the object, the object itself, and the owners that wait for its deletion, in this order. Dependents
 * that do not block are then evaluated while their owner still waits, as in a real cluster.
 */
function* affectedKeys(graph: Graph, kind: Kind, { metadata }: KubeObject): Generator<ObjectKey> {
  for (const dependent of graph.dependentsOf(metadata.uid!))
    if (dependent.object.metadata.uid !== metadata.uid) yield keyOfFound(dependent);
  if (computeRole(metadata) !== 'none') yield keyOfObject(kind, metadata);
  for (const { uid } of metadata.ownerReferences ?? []) {
    const owner = graph.withUid(uid);
    if (owner !== undefined && computeRole(owner.object.metadata) === 'deletingDependents')
      yield keyOfFound(owner);
  }
}

/** The cluster key and all dependents of objects of this kind. */
function* keysAffectedByCrd(graph: Graph, { spec }: CustomResourceDefinition): Generator<ObjectKey> {
  yield CLUSTER;
  if (spec === undefined) return;
  const groupKind = groupKindOf(`${spec.group}/`, spec.names.kind);
  for (const dependent of graph.dependentsOfKind(groupKind)) yield keyOfFound(dependent);
}

/** Creates a garbage collector with its own state, for one manager. */
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
        to: (definition: CustomResourceDefinition) => keysAffectedByCrd(graph, definition),
      },
    ],
    dynamic: {
      facts: ownershipFacts,
      to: (object, source) => affectedKeys(graph, source.kind, object as PartialObject),
    },
    concurrency: 8,
    rights: [{ group: '*', resource: '*', verbs: ['get', 'patch', 'delete'] }],
    reconcile: (ctx) => reconcile(ctx, graph),
  }) as ControllerDefinition;
}
