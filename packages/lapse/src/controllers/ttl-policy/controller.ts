// Defines two controllers, one per kind of policy, with shared state: policies of both kinds may select an object; the
// policy that keeps it longest wins. Each controller has its policies and their targets in one queue. Targets, namespaces
// and CRDs are watched while a policy needs them.

import type { Kind } from '@lapse/kube/api/kind';
import { type ControllerDefinition, defineController, type Right } from '@lapse/runtime/definition';
import { clusterImpersonation } from '#authors/impersonation';
import { dynamicFacts, keysToReconcile, policyFacts } from './changes.ts';
import type { AnyPolicy } from './compile.ts';
import { BY_TARGET, policyKinds } from './policyIndex.ts';
import { createReconciler, type TtlPolicyOptions } from './reconciler.ts';

const NAMES: Readonly<Record<string, { readonly name: string; readonly queue: string }>> = {
  TTLPolicy: { name: 'ttl-policy', queue: 'ttl_policy_objects_to_delete' },
  ClusterTTLPolicy: { name: 'cluster-ttl-policy', queue: 'ttl_cluster_policy_objects_to_delete' },
};

export function ttlPolicyControllers(options: TtlPolicyOptions): ControllerDefinition[] {
  const { policies, within, authorRights, ...reconciler } = createReconciler(options);
  const kinds = policyKinds(within.namespace);
  const { concurrency, impersonation } = options;
  return kinds.map(
    (of) =>
      defineController<AnyPolicy>({
        ...NAMES[of.kind]!,
        for: of,
        concurrency,
        facts: policyFacts,
        indexes: BY_TARGET,
        // Reconciles read them; the dynamic sources map their changes to keys.
        watches: kinds
          .filter((kind) => kind !== of)
          .map((kind) => ({ kind: kind as Kind, indexes: BY_TARGET, to: () => [] })),
        dynamic: {
          facts: dynamicFacts,
          to: (object, source) => keysToReconcile(policies, of, object, source),
        },
        rights: [...RIGHTS, ...clusterImpersonation(impersonation), ...authorRights],
        ...within,
        ...reconciler,
      }) as ControllerDefinition,
  );
}

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
