// Defines two controllers, one per kind of policy, with shared state: policies of both kinds may select an object; the
// policy that keeps it longest wins. Each controller has its policies and their targets in one queue. Targets, namespaces
// and CRDs are watched while a policy needs them.

import { findCondition } from '@lapse/kube/api/conditions';
import { type Kind, keyOf, type ObjectKey } from '@lapse/kube/api/kind';
import { apiVersionOf, type KubeObject } from '@lapse/kube/api/object';
import { type ControllerDefinition, defineController, type Right } from '@lapse/runtime/definition';
import type { Source } from '@lapse/runtime/source';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';
import { AUTHOR_ANNOTATION, type AuthorSeal } from '#authors/authorSeal';
import { AUTHOR_IMPERSONATION, clusterImpersonation, type ImpersonationScope } from '#authors/impersonation';
import { afterDeadline } from '#deletion/deletionCounter';
import { Expirer } from '#deletion/expirer';
import type { Services } from '../family.ts';
import type { AnyPolicy } from './compile.ts';
import { describeDecisions } from './decide.ts';
import { readLive } from './gather.ts';
import { objectName, parseWaking, targetKey } from './keys.ts';
import { policyMetrics } from './metrics.ts';
import { metricKind, Policies, targetId, targetIdOf } from './policies.ts';
import { type ExpiredTarget, TargetReconciler } from './reconcile.ts';
import { reconcilePolicy } from './reconcilePolicy.ts';
import { DEFINITIONS, isPolicyKind, isPolicyProjection, NAMESPACES, targetFacts } from './sources.ts';

export interface TtlPolicyOptions {
  readonly services: Services;
  readonly seal: AuthorSeal;
  readonly concurrency: number;
  readonly deletionEvents: boolean;
  readonly impersonation: ImpersonationScope;
}

const NAME = 'ttl-policy';
const QUEUE = 'ttl_policy_objects_to_delete';
const CLUSTER_NAME = 'cluster-ttl-policy';
const CLUSTER_QUEUE = 'ttl_cluster_policy_objects_to_delete';

export function ttlPolicyControllers(options: TtlPolicyOptions): ControllerDefinition[] {
  const { services, seal, concurrency, deletionEvents, impersonation } = options;
  const { clock, client, guard, registry, actAs, impersonate, impersonateAuthor, namespace } = services;
  const clusterWide = namespace === undefined;
  const within = namespace === undefined ? {} : { namespace };
  const policies = new Policies({
    clock,
    client: services.acting ?? client,
    impersonate,
    ...(impersonateAuthor === undefined ? {} : { impersonateAuthor }),
  });
  const activationOptions = { client, actAs, seal, impersonation, asAuthor: impersonateAuthor !== undefined };
  const metrics = policyMetrics(registry, NAME, policies, () => guard.now());
  const expirer = new Expirer<ExpiredTarget>({
    clock,
    guard,
    metrics: metrics.deletion,
    read: readLive,
    deletionEvents,
    describe: ({ because: { decisions, by }, lag }) =>
      `${describeDecisions(decisions)}; deleted ${afterDeadline(lag)} by ${by.name}`,
    onDeleted(deleted) {
      const { kind, records } = deleted.because.by;
      metrics.deleted(metricKind(kind), deleted);
      if (deleted.outcome !== 'wouldDelete') records.countDeleted();
    },
    ...services.deletion?.(NAME),
  });
  const tolerance = guard.maxSkew;
  const targets = new TargetReconciler({ policies, expirer, metrics, clusterWide, tolerance });

  const controllerOf = (of: Kind<AnyPolicy>, others: readonly Kind<AnyPolicy>[]) =>
    defineController<AnyPolicy>({
      name: of.namespaced ? NAME : CLUSTER_NAME,
      queue: of.namespaced ? QUEUE : CLUSTER_QUEUE,
      for: of,
      concurrency,
      facts: policyFacts,
      indexes: BY_TARGET,
      // Reconciles read them; the dynamic sources map their changes to keys.
      watches: others.map((kind) => ({ kind: kind as Kind, indexes: BY_TARGET, to: () => [] })),
      dynamic: { facts: dynamicFacts, to: (object, source) => keysToReconcile(policies, of, object, source) },
      rights: [
        ...RIGHTS,
        ...clusterImpersonation(impersonation),
        ...(impersonateAuthor === undefined ? [] : AUTHOR_IMPERSONATION),
      ],
      ...within,
      onPause: () => {
        policies.isActing = false;
        expirer.pause();
      },
      onStandby: () => policies.standBy(),
      reconcile(ctx) {
        policies.isActing = true;
        expirer.resume();
        const waking = parseWaking(ctx.key);
        return waking.kind === 'policy'
          ? reconcilePolicy(ctx, waking, { policies, ...activationOptions, ...within })
          : targets.reconcile(ctx, waking);
      },
    }) as ControllerDefinition;

  const [local, cluster] = [TTLPolicy as Kind<AnyPolicy>, ClusterTTLPolicy as Kind<AnyPolicy>];
  return clusterWide
    ? [controllerOf(local, [cluster]), controllerOf(cluster, [local])]
    : [controllerOf(local, [])];
}

const BY_TARGET = { target: (policy: KubeObject) => [targetId(policy)] };

/**
 * Permissions for targets are not included: users grant them, and reviews check them. Every user may create
 * SelfSubjectAccessReviews (system:basic-user).
 */
const RIGHTS: readonly Right[] = [
  { group: 'lapse.dev', resource: 'ttlpolicies/status', verbs: ['patch'] },
  { group: 'lapse.dev', resource: 'clusterttlpolicies/status', verbs: ['patch'] },
  { group: 'authorization.k8s.io', resource: 'subjectaccessreviews', verbs: ['create'] },
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', verbs: ['list', 'watch'] },
  { group: '', resource: 'namespaces', verbs: ['list', 'watch'] },
];

/** Without the status: the controller's own status writes trigger no reconcile. */
export function policyFacts({ metadata }: AnyPolicy): unknown {
  const { generation, deletionTimestamp, annotations } = metadata;
  return [generation ?? 0, deletionTimestamp ?? null, annotations?.[AUTHOR_ANNOTATION] ?? null];
}

/** A change of a policy, of its author or of its Ready status triggers reconciles of the targets of other policies. */
function dynamicFacts(object: KubeObject): unknown {
  // Policies are never targets: see rights.ts.
  if (object.apiVersion !== apiVersionOf(TTLPolicy)) return targetFacts(object);
  const { status } = object as AnyPolicy;
  const ready = findCondition(status?.conditions, 'Ready');
  return [policyFacts(object as AnyPolicy), ready?.status ?? null];
}

function* keysToReconcile(
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
  } else if (isPolicyKind(kind)) yield* targetsOfOthers(policies, of, object);
  else if (projection === NAMESPACES.projection) yield* targetsIn(policies, of, name);
  else if (projection === DEFINITIONS.projection) yield* policiesAwaiting(policies, of, name);
}

/** The policy that keeps an object longest wins, so a change of one policy may make targets of others due. */
function* targetsOfOthers(policies: Policies, of: Kind, policy: KubeObject): Generator<ObjectKey> {
  const id = targetId(policy);
  const own = objectName(keyOf(policy));
  for (const { active } of policies.entries()) {
    if (active?.of !== of || targetIdOf(active.kind) !== id || objectName(active.key) === own) continue;
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
