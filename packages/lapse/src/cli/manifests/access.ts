// The identity and the rights of the process: one service account, one ClusterRole per family, so that disabling a
// family removes its rights, and one ClusterRole that aggregates the operators' grants for kinds of Cleaners and
// policies.

import type { KubeObject } from '@lapse/kube/api/object';
import {
  AUTHOR_IMPERSONATION,
  clusterImpersonation,
  EXTRA_IMPERSONATION,
  localImpersonation,
} from '#authors/impersonation';
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

/** Operators label ClusterRoles with it. Lapse gets the rights of these roles. */
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

/** Only on request: by default Lapse impersonates no accounts. */
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

/** Events in all namespaces, and the caBundles of the webhook configurations of Lapse. */
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

/**
 * The leases (both, for a dry run that is followed by a real run), the Secret with the author key, and the
 * certificate.
 */
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
