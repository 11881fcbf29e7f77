// Roles out of what controllers declare: the same declaration that tests hold them to, so that a role has what is needed
// and nothing else.

import type { KubeObject } from '#api/object';
import type { LocalRight } from '#controllers/family';
import { type ControllerDefinition, type Right, rightsOf } from '#runtime/definition';
import { EVENT_RIGHTS, LEASE_RIGHTS } from './startup.ts';

interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly verbs: readonly string[];
}

export interface Subject {
  readonly namespace: string;
  /** Of the service account; of the roles too. */
  readonly name: string;
}

/** One rule per resource, so that a diff of two versions reads well. */
const ruleOf = ({ group, resource, verbs }: Right): Rule => ({
  apiGroups: [group],
  resources: [resource],
  verbs: [...verbs],
});

/** The same resource once, with all verbs. */
function merged(rights: readonly Right[]): Right[] {
  const byResource = new Map<string, Right>();
  for (const { group, resource, verbs } of rights) {
    const key = `${group}/${resource}`;
    const all = new Set([...(byResource.get(key)?.verbs ?? []), ...verbs]);
    byResource.set(key, { group, resource, verbs: [...all].sort() });
  }
  return [...byResource.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, right]) => right);
}

function clusterRules(controllers: readonly ControllerDefinition[]): Rule[] {
  return merged([...controllers.flatMap(rightsOf), ...EVENT_RIGHTS]).map(ruleOf);
}

export interface Needs {
  readonly controllers: readonly ControllerDefinition[];
  /** Beyond those, in single namespaces. */
  readonly rights?: readonly LocalRight[];
}

/** A service account that may run these controllers, with leader election in its own namespace, and no more. */
export function buildAccess(subject: Subject, { controllers, rights = [] }: Needs): KubeObject[] {
  const { namespace, name } = subject;
  const apiVersion = 'rbac.authorization.k8s.io/v1';
  const role = (kind: string, metadata: object, rules: readonly Rule[]) =>
    ({ apiVersion, kind, metadata, rules }) as KubeObject;
  const binding = (kind: string, metadata: object, of: string) =>
    ({
      apiVersion,
      kind,
      metadata,
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: of, name },
      subjects: [{ kind: 'ServiceAccount', namespace, name }],
    }) as KubeObject;
  const local = [...LEASE_RIGHTS.map((right) => ({ ...right, namespace })), ...rights];
  const namespaces = [...new Set(local.map((right) => right.namespace))];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } },
    role('ClusterRole', { name }, clusterRules(controllers)),
    binding('ClusterRoleBinding', { name }, 'ClusterRole'),
    ...namespaces.flatMap((where) => {
      const metadata = { namespace: where, name };
      const rules = merged(local.filter((right) => right.namespace === where)).map(ruleOf);
      return [role('Role', metadata, rules), binding('RoleBinding', metadata, 'Role')];
    }),
  ];
}
