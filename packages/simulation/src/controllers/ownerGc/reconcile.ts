// Reconciles either the cluster key (which kinds to watch) or one object (whether it is garbage).

import { assertNever } from '@lapse/base/assertNever';
import { plus, seconds } from '@lapse/base/instant';
import type { PartialObject } from '@lapse/kube/api/kind';
import { CustomResourceDefinition } from '@lapse/kube/api/kinds/builtin';
import { apiVersionOf, type OwnerReference } from '@lapse/kube/api/object';
import { again, type Outcome, settled, waitUntil } from '@lapse/runtime/outcome';
import type { ReconcileContext } from '@lapse/runtime/reconcileContext';
import {
  computeDecision,
  computeRole,
  type Decision,
  FOREGROUND,
  isBlocking,
  ORPHAN,
  type Owner,
} from './compute.ts';
import { definitionsState, isDefinedBy, isUndiscovered } from './definitions.ts';
import type { Found, Graph } from './graph.ts';
import { addressOf, computeCollected, resourceId, sourceOf } from './kinds.ts';
import { getOwners } from './owners.ts';
import { deleteUnowned, removeFinalizer, removeOwners, replaceOwners, type Written } from './writes.ts';

/** Discovery may lag behind a new CRD. */
const DISCOVERY_LAG = seconds(1);

export async function reconcile(ctx: ReconcileContext, graph: Graph): Promise<Outcome> {
  const address = addressOf(ctx.key);
  if (address === undefined) return discover(ctx, graph);
  const found = graph.get(address.resource, address.key);
  if (found === undefined) return settled();
  const role = computeRole(found.object.metadata);
  // Until all kinds are listed, a blocking dependent may exist that is not cached.
  if (role !== 'none' && !graph.isComplete(ctx.now)) return again('kinds are still being listed');
  switch (role) {
    case 'none':
      return settled();
    case 'owned':
      return reconcileOwned(ctx, graph, found);
    case 'deletingDependents':
      return release(ctx, graph, found);
    case 'orphaning':
      return orphan(ctx, graph, found);
    default:
      return assertNever(role);
  }
}

/** Declares the watched kinds. Runs discovery if a CRD has changed since the last one. */
async function discover({ client, cache, dynamic, now }: ReconcileContext, graph: Graph): Promise<Outcome> {
  const definitions = [...cache.list(CustomResourceDefinition)];
  const state = definitionsState(definitions);
  if (graph.definitions !== state) {
    client.discovery.invalidate();
    const served = await client.discovery.all();
    if (served.length === 0) throw new Error('discovery returned no kinds');
    const isBehind = definitions.some((definition) => isUndiscovered(definition, served));
    graph.discovered(served, isBehind ? undefined : state);
  }
  graph.watch(dynamic.declare(computeCollected(graph.served).map(sourceOf)), now);
  return graph.definitions === undefined ? waitUntil(plus(now, DISCOVERY_LAG), 'discovery') : settled();
}

/** Reconciles an object with owners. */
async function reconcileOwned(ctx: ReconcileContext, graph: Graph, found: Found): Promise<Outcome> {
  const owners = await getOwners(ctx.client, graph, found.object);
  reportForeign(ctx, graph, found, owners);
  const dependents = graph.dependentsOf(found.object.metadata.uid!).map(({ object }) => object.metadata);
  const isCustom = ctx.cache.get(CustomResourceDefinition, { name: resourceId(found.kind) }) !== undefined;
  const decision = computeDecision(found.object.metadata, { owners, dependents, isCustom });
  return carryOut(ctx, graph, found, decision);
}

async function carryOut(
  ctx: ReconcileContext,
  graph: Graph,
  found: Found,
  decision: Decision,
): Promise<Outcome> {
  const { client } = ctx;
  switch (decision.kind) {
    case 'keep':
      return settled();
    case 'hold':
      // A new CRD of that kind enqueues the object. Here the CRD exists but discovery is behind.
      return isUndiscoveredOwner(ctx, graph, decision.owner)
        ? again('the kind of an owner is not discovered yet')
        : settled();
    case 'strip': {
      const kept = new Set(decision.references.map(({ uid }) => uid));
      const all = found.object.metadata.ownerReferences ?? [];
      const struck = new Set(all.map(({ uid }) => uid).filter((uid) => !kept.has(uid)));
      return after(await removeOwners(client, found, struck));
    }
    case 'unblock':
      return after(await replaceOwners(client, found, decision.references));
    case 'delete':
      return after(await deleteUnowned(client, found, decision.propagation));
    default:
      return assertNever(decision);
  }
}

const isUndiscoveredOwner = ({ cache }: ReconcileContext, graph: Graph, owner: OwnerReference): boolean =>
  graph.kindOf(owner) === undefined &&
  [...cache.list(CustomResourceDefinition)].some((definition) => isDefinedBy(definition, owner));

/** Foreground deletion: releases the object if no dependent blocks it. Events of its dependents enqueue it again. */
async function release({ client }: ReconcileContext, graph: Graph, found: Found): Promise<Outcome> {
  const uid = found.object.metadata.uid!;
  const isBlocked = graph.dependentsOf(uid).some(({ object }) => isBlocking(object.metadata, uid));
  return isBlocked ? settled() : after(await removeFinalizer(client, found, FOREGROUND));
}

/** Orphan deletion: removes the object from the references of all dependents, then releases it. */
async function orphan({ client }: ReconcileContext, graph: Graph, found: Found): Promise<Outcome> {
  const uid = found.object.metadata.uid!;
  for (const dependent of graph.dependentsOf(uid))
    if ((await removeOwners(client, dependent, new Set([uid]))) === 'contended')
      return again('a dependent changed too often');
  return after(await removeFinalizer(client, found, ORPHAN));
}

const after = (written: Written): Outcome =>
  written === 'contended' ? again('changed while it was decided') : settled();

/** Emits an Event for owners in other namespaces, which do not count. */
function reportForeign(
  ctx: ReconcileContext,
  graph: Graph,
  { kind, object }: Found,
  owners: readonly Owner[],
): void {
  for (const { reference, state } of owners) {
    if (state !== 'dangling') continue;
    const elsewhere = graph.withUid(reference.uid);
    const namespace = elsewhere?.object.metadata.namespace;
    if (namespace === undefined || namespace === object.metadata.namespace) continue;
    ctx.event(typed(kind, object), {
      type: 'Warning',
      reason: 'OwnerRefInvalidNamespace',
      action: 'GarbageCollect',
      note: `ownerRef [${reference.apiVersion}/${reference.kind}, namespace: ${object.metadata.namespace ?? ''}, name: ${reference.name}, uid: ${reference.uid}] does not exist in namespace ${JSON.stringify(object.metadata.namespace ?? '')}`,
    });
  }
}

/** The metadata-only object with its real apiVersion and kind. */
const typed = (kind: Found['kind'], { metadata }: PartialObject) => ({
  apiVersion: apiVersionOf(kind),
  kind: kind.kind,
  metadata,
});
