// Turns changes of policies, targets, namespaces and CRDs into the keys to reconcile, and states which changes count.

import { findCondition } from '@lapse/kube/api/conditions';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import type { Source } from '@lapse/runtime/source';
import { TTLPolicy } from '#api/ttlPolicy';
import { AUTHOR_ANNOTATION } from '#authors/authorSeal';
import { APPROVAL_ANNOTATION } from '#limits/approval';
import type { AnyPolicy } from './compile.ts';
import { targetKey } from './keys.ts';
import type { Policies } from './policies.ts';
import { isPolicyKind, targetId, targetIdOf } from './policyIndex.ts';
import { DEFINITIONS, isPolicyProjection, NAMESPACES, targetFacts } from './sources.ts';

/** Without the status: the controller's own status writes trigger no reconcile. */
export function policyFacts({ metadata }: AnyPolicy): unknown {
  const { generation, deletionTimestamp, annotations } = metadata;
  const { [AUTHOR_ANNOTATION]: author, [APPROVAL_ANNOTATION]: approval } = annotations ?? {};
  return [generation ?? 0, deletionTimestamp ?? null, author ?? null, approval ?? null];
}

/** A change of a policy, of its author or of its Ready status triggers reconciles of its targets and those of others. */
export function dynamicFacts(object: KubeObject): unknown {
  // Policies are never targets: see rights.ts.
  if (object.apiVersion !== apiVersionOf(TTLPolicy)) return targetFacts(object);
  const { status } = object as AnyPolicy;
  const ready = findCondition(status?.conditions, 'Ready');
  return [policyFacts(object as AnyPolicy), ready?.status ?? null];
}

export function* keysToReconcile(
  policies: Policies,
  of: Kind<AnyPolicy>,
  object: KubeObject,
  source: Source,
): Generator<ObjectKey> {
  const { projection, kind } = source;
  const name = object.metadata.name ?? '';
  if (isPolicyProjection(projection)) {
    yield targetKey(kind, object);
    yield projection.policy;
  } else if (isPolicyKind(kind)) yield* targetsOfKind(policies, of, object);
  else if (projection === NAMESPACES.projection) yield* targetsIn(policies, of, name);
  else if (projection === DEFINITIONS.projection) yield* policiesAwaiting(policies, of, name);
}

/**
 * The policy that keeps an object longest wins, so a change of one policy may make targets of others due. Its own targets
 * may be held by its limit.
 */
function* targetsOfKind(policies: Policies, of: Kind, policy: KubeObject): Generator<ObjectKey> {
  const id = targetId(policy);
  for (const { active } of policies.entries()) {
    if (active?.of !== of || targetIdOf(active.kind) !== id) continue;
    for (const object of active.view?.reader.list() ?? []) yield targetKey(active.kind, object);
  }
}

function* targetsIn(policies: Policies, of: Kind, namespace: string): Generator<ObjectKey> {
  for (const { active } of policies.entries()) {
    if (active?.namespaceLabels === undefined || active.of !== of) continue;
    for (const object of active.view?.reader.list() ?? [])
      if (object.metadata.namespace === namespace) yield targetKey(active.kind, object);
    yield active.key;
  }
}

/** The name of a CRD is `<resource>.<group>`. */
function* policiesAwaiting(policies: Policies, of: Kind, definition: string): Generator<ObjectKey> {
  for (const { activation, key } of policies.entries()) {
    const awaits = activation?.kind === 'refused' ? activation.awaits : undefined;
    const isHere = (key.namespace !== undefined) === of.namespaced;
    if (isHere && awaits !== undefined && definition.endsWith(`.${awaits}`)) yield key;
  }
}
