// Building blocks of the sequences about access: users, roles, bindings and reviews.

import type { Json, JsonObject } from '@lapse/kube/api/json';

export interface AccessStep {
  /** `admin`, `nobody`, `account`: a service account, or `agent`: the same account with a token bound to a node. */
  readonly as: 'admin' | 'nobody' | 'account' | 'agent';
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  /** A list stands for repeated header lines. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
}

export const GROUP = 'rbac.authorization.k8s.io';
export const RBAC = `/apis/${GROUP}/v1`;
export const HERE = `${RBAC}/namespaces/NS`;
export const MAPS = '/api/v1/namespaces/NS/configmaps';

export const role = (name: string, rules: JsonObject[], kind = 'Role'): JsonObject => ({
  apiVersion: `${GROUP}/v1`,
  kind,
  metadata: { name },
  rules,
});
export const account = { kind: 'ServiceAccount', name: 'robot', namespace: 'NS' };
export const binding = (name: string, of: string, subject: JsonObject, kind = 'Role'): JsonObject => ({
  apiVersion: `${GROUP}/v1`,
  kind: 'RoleBinding',
  metadata: { name },
  roleRef: { apiGroup: GROUP, kind, name: of },
  subjects: [subject],
});
export const rule = (resources: string[], verbs: string[], more: JsonObject = {}): JsonObject => ({
  apiGroups: [''],
  resources,
  verbs,
  ...more,
});
export const map = (name: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
});

export const admin = (method: string, path: string, body?: Json): AccessStep => ({
  as: 'admin',
  method,
  path,
  ...(body === undefined ? {} : { body }),
});
export const robot = (method: string, path: string, body?: Json): AccessStep => ({
  ...admin(method, path, body),
  as: 'account',
});
export const acting = (headers: NonNullable<AccessStep['headers']>, step: AccessStep): AccessStep => ({
  ...step,
  headers,
});

/** A ClusterRole, bound to the service account. */
export const granted = (name: string, rules: JsonObject[]): AccessStep[] => [
  admin('POST', `${RBAC}/clusterroles`, role(name, rules, 'ClusterRole')),
  admin('POST', `${RBAC}/clusterrolebindings`, {
    ...binding(name, name, account, 'ClusterRole'),
    kind: 'ClusterRoleBinding',
  }),
];
