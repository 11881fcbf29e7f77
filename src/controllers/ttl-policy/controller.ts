// Wiring as data: policies of both kinds and their targets in one queue. Policies are watched from the start; targets,
// namespaces and definitions of kinds come and go with the policies that need them.

import { keyOf, type ObjectKey } from '#api/kind';
import { ClusterTTLPolicy, TTLPolicy } from '#api/kinds/ttlPolicy';
import type { KubeObject } from '#api/object';
import { GuardedDeletes } from '#lifecycle/guardedDelete';
import { AUTHOR_ANNOTATION, type AuthorSeal } from '#lifecycle/rightsAuthor';
import { type ControllerDefinition, defineController, type WatchDefinition } from '#runtime/definition';
import type { Source } from '#runtime/source';
import type { Services } from '../family.ts';
import type { AnyPolicy } from './compile.ts';
import { parseWaking, targetKey } from './keys.ts';
import { policyMetrics } from './metrics.ts';
import { Policies, targetId } from './policies.ts';
import { reconcilePolicy } from './policyPass.ts';
import { isPolicyProjection, targetFacts } from './projection.ts';
import { DEFINITIONS, NAMESPACES } from './sources.ts';
import { TargetPasses } from './targetPass.ts';

const NAME = 'ttl-policy';

export interface TtlPolicyOptions {
  readonly services: Services;
  readonly seal: AuthorSeal;
  readonly concurrency: number;
  readonly deletionEvents: boolean;
}

export function ttlPolicy(options: TtlPolicyOptions): ControllerDefinition<TTLPolicy> {
  const { services, seal, concurrency, deletionEvents } = options;
  const { clock, client, guard, registry, actAs, impersonate, namespace } = services;
  const clusterWide = namespace === undefined;
  const policies = new Policies({ clock, client, impersonate });
  const metrics = policyMetrics(registry, NAME, policies, () => guard.now());
  const deletes = new GuardedDeletes({
    clock,
    guard,
    metrics: metrics.deletion,
    ...services.deletion?.(NAME),
  });
  const targets = new TargetPasses({
    policies,
    deletes,
    metrics,
    clusterWide,
    deletionEvents,
    tolerance: guard.maxSkew,
  });
  return defineController<TTLPolicy>({
    name: NAME,
    for: TTLPolicy,
    queue: 'ttl_policy_objects_to_delete',
    concurrency,
    facts: policyFacts,
    indexes: { target: (policy) => [targetId(policy)] },
    watches: clusterWide ? [CLUSTER_POLICIES as WatchDefinition] : [],
    dynamic: { facts: targetFacts, to: (object, source) => wokenBy(policies, object, source) },
    rights: RIGHTS,
    ...(namespace === undefined ? {} : { namespace }),
    reconcile(pass) {
      const waking = parseWaking(pass.key);
      return waking.kind === 'policy'
        ? reconcilePolicy(pass, waking, { policies, client, actAs, seal })
        : targets.reconcile(pass, waking);
    },
  });
}

const CLUSTER_POLICIES: WatchDefinition<ClusterTTLPolicy> = {
  kind: ClusterTTLPolicy,
  facts: policyFacts,
  indexes: { target: (policy) => [targetId(policy)] },
  to: (policy) => [keyOf(policy)],
};

/** What its targets need is granted by whoever wants them ended, and found out by reviews. */
const RIGHTS = [
  { group: 'lapse.dev', resource: 'ttlpolicies/status', verbs: ['patch'] },
  { group: 'lapse.dev', resource: 'clusterttlpolicies/status', verbs: ['patch'] },
  { group: 'authorization.k8s.io', resource: 'subjectaccessreviews', verbs: ['create'] },
  { group: 'authorization.k8s.io', resource: 'selfsubjectaccessreviews', verbs: ['create'] },
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', verbs: ['list', 'watch'] },
  { group: '', resource: 'namespaces', verbs: ['list', 'watch'] },
];

/** The status is ours: writing it wakes nobody. */
export function policyFacts({ metadata }: AnyPolicy): unknown {
  const { generation, deletionTimestamp, annotations } = metadata;
  return [generation ?? 0, deletionTimestamp ?? null, annotations?.[AUTHOR_ANNOTATION] ?? null];
}

function* wokenBy(policies: Policies, object: KubeObject, source: Source): Generator<ObjectKey> {
  const { projection, kind } = source;
  const name = object.metadata.name ?? '';
  if (isPolicyProjection(projection)) {
    yield targetKey(kind, object);
    yield projection.policy;
  } else if (projection === NAMESPACES.projection) yield* targetsIn(policies, name);
  else if (projection === DEFINITIONS.projection) yield* policiesAwaiting(policies, name);
}

function* targetsIn(policies: Policies, namespace: string): Generator<ObjectKey> {
  for (const { active } of policies.entries()) {
    if (active?.namespaceLabels === undefined) continue;
    for (const object of active.view?.reader.list() ?? [])
      if (object.metadata.namespace === namespace) yield targetKey(active.kind, object);
    yield active.key;
  }
}

/** A definition is named `<resource>.<group>`. */
function* policiesAwaiting(policies: Policies, definition: string): Generator<ObjectKey> {
  for (const { activation, key } of policies.entries()) {
    const awaits = activation?.kind === 'refused' ? activation.awaits : undefined;
    if (awaits !== undefined && definition.endsWith(`.${awaits}`)) yield key;
  }
}
