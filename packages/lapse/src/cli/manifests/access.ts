// Who the process is and what it may do: one service account, one cluster role per family, so that switching a family
// off takes its rights away, and one that gathers what operators grant for the kinds of Cleaners and policies.

import type { KubeObject } from '@lapse/kube/api/object';
import {
  AUTHOR_IMPERSONATION,
  clusterImpersonation,
  EXTRA_IMPERSONATION,
  localImpersonation,
} from '#deletion/impersonation';
import { type Rule, rulesOf } from '#manager/rbac';
import { EVENT_RIGHTS, LEASES, leaseRights } from '#manager/review';
import {
  clusterMetadataOf,
  familyRules,
  hooksOf,
  type Installation,
  metadataOf,
  webhookSecret,
} from './installation.ts';

const RBAC = 'rbac.authorization.k8s.io';

/** Operators put it on ClusterRoles; whatever these allow, Lapse may then do. */
const AGGREGATE = { 'lapse.dev/aggregate-to-cleaner': 'true' };

export function buildInstallationAccess(installation: Installation): KubeObject[] {
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadataOf(installation) },
    ...clusterRole(installation, 'process', { rules: processRules(installation) }),
    ...installation.families
      .map((family) => ({ name: family.name, rules: familyRules(installation, family) }))
      .filter(({ rules }) => rules.length > 0)
      .flatMap(({ name, rules }) => clusterRole(installation, name, { rules })),
    ...clusterRole(installation, 'granted', {
      aggregationRule: { clusterRoleSelectors: [{ matchLabels: AGGREGATE }] },
    }),
    ...role(installation, metadataOf(installation), localRules(installation)),
    ...impersonation(installation),
  ];
}

function clusterRole(installation: Installation, part: string, content: object): KubeObject[] {
  const metadata = clusterMetadataOf(installation, `${installation.name}:${part}`);
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'ClusterRole', metadata, ...content } as KubeObject,
    bindingOf(installation, 'ClusterRoleBinding', metadata),
  ];
}

function role(
  installation: Installation,
  metadata: KubeObject['metadata'],
  rules: readonly Rule[],
): KubeObject[] {
  return [
    { apiVersion: `${RBAC}/v1`, kind: 'Role', metadata, rules } as unknown as KubeObject,
    bindingOf(installation, 'RoleBinding', metadata),
  ];
}

/** Only what was asked for: by default Lapse impersonates no one. */
function impersonation(installation: Installation): KubeObject[] {
  const { impersonation: scope, actAs, name } = installation;
  const everywhere = [
    ...clusterImpersonation(scope),
    ...(actAs === 'impersonate-author' ? [...AUTHOR_IMPERSONATION, ...EXTRA_IMPERSONATION] : []),
  ];
  return [
    ...(everywhere.length === 0
      ? []
      : clusterRole(installation, 'impersonation', { rules: rulesOf(everywhere) })),
    ...localImpersonation(scope).flatMap(({ namespace, ...right }) => {
      const metadata = { ...metadataOf(installation, `${name}-impersonation`), namespace };
      return role(installation, metadata, rulesOf([right]));
    }),
  ];
}

function bindingOf(installation: Installation, kind: string, metadata: KubeObject['metadata']): KubeObject {
  const { name, namespace } = installation;
  const of = kind.replace('Binding', '');
  return {
    apiVersion: `${RBAC}/v1`,
    kind,
    metadata,
    roleRef: { apiGroup: RBAC, kind: of, name: metadata.name },
    subjects: [{ kind: 'ServiceAccount', name, namespace }],
  } as KubeObject;
}

/** Events wherever objects are, and the caBundles of our own webhooks. */
function processRules(installation: Installation): Rule[] {
  const hooks = hooksOf(installation);
  const configurations = ['mutating', 'validating']
    .filter((phase) => hooks.some((hook) => hook.phase === phase))
    .map((phase) => ({
      group: 'admissionregistration.k8s.io',
      resource: `${phase}webhookconfigurations`,
      verbs: ['get', 'update'],
      names: [installation.name],
    }));
  return rulesOf([...EVENT_RIGHTS, ...configurations]);
}

/** The leases, both of them while a dry run is followed by a real one; the key that signs authors; the certificate. */
function localRules(installation: Installation): Rule[] {
  const { families, actAs } = installation;
  const isNew = ({ verbs, ...rule }: Rule, all: readonly Rule[]) =>
    all.findIndex((other) => JSON.stringify(other) === JSON.stringify({ ...rule, verbs }));
  const author = families.flatMap(({ authorRules, localRules }) =>
    actAs === 'controller' ? localRules : authorRules,
  );
  const certificate = {
    group: '',
    resource: 'secrets',
    verbs: ['create', 'get', 'update'],
    names: [webhookSecret(installation)],
  };
  const rules = [
    ...rulesOf(leaseRights(LEASES)),
    ...author,
    ...(hooksOf(installation).length > 0 ? rulesOf([certificate]) : []),
  ];
  return rules.filter((rule, at) => isNew(rule, rules) === at);
}
