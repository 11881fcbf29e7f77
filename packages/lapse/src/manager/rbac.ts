// Builds roles from the rights that controllers declare. Tests enforce the same declaration, so that a role is
// sufficient and minimal.

import type { KubeObject } from '@lapse/kube/api/object';
import { type ControllerDefinition, type Right, rightsOf } from '@lapse/runtime/definition';
import type { LocalRight } from '#controllers/family';
import { EVENT_RIGHTS, LEASES, leaseRights } from './review.ts';

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export interface Subject {
  readonly namespace: string;
  /** Name of the service account and of the roles. */
  readonly name: string;
}

type Named = Right & Pick<LocalRight, 'names'>;

/** Verbs without an object name. A rule with resourceNames never allows them. */
const NAMELESS = new Set(['create', 'list', 'watch', 'deletecollection']);

/** One rule per resource, so that a diff of two versions is readable. Two where only some verbs have a name. */
export function rulesOf(rights: readonly Named[]): Rule[] {
  return merged(rights.flatMap(narrowed)).map(({ group, resource, verbs, names }) => ({
    apiGroups: [group],
    resources: [resource],
    ...(names === undefined ? {} : { resourceNames: [...names] }),
    verbs: [...verbs],
  }));
}

function narrowed(right: Named): Named[] {
  const { group, resource, verbs, names } = right;
  if (names === undefined) return [right];
  const parts = [
    { group, resource, verbs: verbs.filter((verb) => NAMELESS.has(verb)) },
    { group, resource, verbs: verbs.filter((verb) => !NAMELESS.has(verb)), names },
  ];
  return parts.filter((part) => part.verbs.length > 0);
}

/** Combines the verbs of the same resource. */
function merged(rights: readonly Named[]): Named[] {
  const byResource = new Map<string, Named>();
  for (const right of rights) {
    const { group, resource, names } = right;
    const key = `${group}/${resource}/${names?.join() ?? ''}`;
    const verbs = new Set([...(byResource.get(key)?.verbs ?? []), ...right.verbs]);
    byResource.set(key, { ...right, verbs: [...verbs].sort() });
  }
  return [...byResource.entries()].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, right]) => right);
}

function clusterRules(controllers: readonly ControllerDefinition[]): Rule[] {
  return rulesOf([...controllers.flatMap(rightsOf), ...EVENT_RIGHTS]);
}

export interface Needs {
  readonly controllers: readonly ControllerDefinition[];
  /** Additional rights in single namespaces. */
  readonly rights?: readonly LocalRight[];
}

/** A service account with exactly the rights to run these controllers, with leader election in its namespace. */
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
  const local = [...leaseRights(LEASES).map((right) => ({ ...right, namespace })), ...rights];
  const namespaces = [...new Set(local.map((right) => right.namespace))];
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { namespace, name } },
    role('ClusterRole', { name }, clusterRules(controllers)),
    binding('ClusterRoleBinding', { name }, 'ClusterRole'),
    ...namespaces.flatMap((where) => {
      const metadata = { namespace: where, name };
      const rules = rulesOf(local.filter((right) => right.namespace === where));
      return [role('Role', metadata, rules), binding('RoleBinding', metadata, 'Role')];
    }),
  ];
}
