// Defines which service accounts Lapse may impersonate for Cleaners and policies that name one. Default: none.

import { isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { Account } from './accessReview.ts';

export type ImpersonationScope =
  | { readonly kind: 'none' }
  | { readonly kind: 'namespaces'; readonly namespaces: readonly string[] }
  | { readonly kind: 'cluster' };

export const NO_IMPERSONATION: ImpersonationScope = { kind: 'none' };

/** The field `impersonation` of a configuration section. It has no type because it is a string or a map. */
export const IMPERSONATION_SCHEMA: JsonObject = {
  'x-kubernetes-preserve-unknown-fields': true,
  default: 'none',
  description:
    'Service accounts that Lapse may act as where spec.serviceAccountName asks for it: none, {namespaces: […]} or cluster.',
};

const NAMESPACE = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;

/** Throws if the value matches none of the three forms. */
export function parseImpersonation(value: Json | undefined, section: string): ImpersonationScope {
  if (value === undefined || value === 'none') return NO_IMPERSONATION;
  if (value === 'cluster') return { kind: 'cluster' };
  const namespaces = isObject(value) && Object.keys(value).length === 1 ? value['namespaces'] : undefined;
  if (!Array.isArray(namespaces) || namespaces.length === 0 || !namespaces.every(isNamespace))
    throw new Error(`${section}.impersonation: must be none, cluster or {namespaces: [NAME, …]}`);
  return { kind: 'namespaces', namespaces: namespaces as string[] };
}

const isNamespace = (name: unknown): boolean => typeof name === 'string' && NAMESPACE.test(name);

/** Why Lapse may not act as this account, for the user who names it; undefined if it may. */
export function impersonationRefusal(
  scope: ImpersonationScope,
  { namespace, name }: Account,
  section: string,
): string | undefined {
  if (scope.kind === 'cluster') return undefined;
  if (scope.kind === 'namespaces' && scope.namespaces.includes(namespace)) return undefined;
  return `Lapse does not act as service account ${namespace}/${name}: impersonation is not enabled for namespace ${namespace}; leave out serviceAccountName, or ask the operator to set ${section}.impersonation to {namespaces: [${namespace}]} or cluster`;
}

const IMPERSONATE = { group: '', resource: 'serviceaccounts', verbs: ['impersonate'] } as const;

/** The RBAC rules that the scope needs: cluster-wide, or in single namespaces. */
export const clusterImpersonation = ({ kind }: ImpersonationScope): (typeof IMPERSONATE)[] =>
  kind === 'cluster' ? [IMPERSONATE] : [];
export const localImpersonation = (
  scope: ImpersonationScope,
): (typeof IMPERSONATE & { readonly namespace: string })[] =>
  scope.kind === 'namespaces' ? scope.namespaces.map((namespace) => ({ ...IMPERSONATE, namespace })) : [];

/** Extra fields that the API server sets for service accounts. Other fields need an RBAC rule by the operator. */
const EXTRAS = ['credential-id', 'node-name', 'node-uid', 'pod-name', 'pod-uid'].map(
  (name) => `userextras/authentication.kubernetes.io/${name}`,
);

/** The RBAC rules for `actAs: impersonate-author`. Authors are not known in advance. */
export const AUTHOR_IMPERSONATION = ['groups', 'serviceaccounts', 'users'].map((resource) => ({
  ...IMPERSONATE,
  resource,
}));

/** The RBAC rules for the extra fields of authors that are service accounts. */
export const EXTRA_IMPERSONATION = EXTRAS.map((resource) => ({
  ...IMPERSONATE,
  group: 'authentication.k8s.io',
  resource,
}));
