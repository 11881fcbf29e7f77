// Whether a subject has a right according to the roles and bindings of a snapshot. For forecasts, which send no access
// reviews.

import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { Kind } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Need, Subject } from './accessReview.ts';

export interface RbacReader {
  readonly served: readonly ServedKind[];
  list(source: { kind: Kind; namespace?: string }): Promise<readonly KubeObject[]>;
}

/** Where rights are unknown, the subject is assumed to have them. */
export async function isGranted(reader: RbacReader, subject: Subject, need: Need): Promise<boolean> {
  if (subject.groups?.includes('system:masters')) return true;
  const wide = await listRbac(reader, 'clusterrolebindings');
  // Every cluster with RBAC has bindings. If the snapshot has none, nothing is known about rights.
  if (wide.length === 0) return true;
  const { namespace } = need;
  const local = namespace === undefined ? [] : await listRbac(reader, 'rolebindings', namespace);
  for (const binding of [...wide, ...local])
    if (isBound(binding, subject) && (await allows(reader, binding, need))) return true;
  return false;
}

async function listRbac(
  reader: RbacReader,
  resource: string,
  namespace?: string,
): Promise<readonly KubeObject[]> {
  const kind = reader.served.find(
    (one) => one.group === 'rbac.authorization.k8s.io' && one.resource === resource,
  );
  if (kind === undefined) return [];
  return reader.list({ kind, ...(namespace === undefined ? {} : { namespace }) });
}

const field = (from: Json | undefined, name: string): Json | undefined =>
  isObject(from) ? getOwn(from, name) : undefined;
const objectsIn = (from: KubeObject, name: string): JsonObject[] => {
  const value = (from as unknown as JsonObject)[name];
  return Array.isArray(value) ? value.filter(isObject) : [];
};

function isBound(binding: KubeObject, { username, groups = [] }: Subject): boolean {
  return objectsIn(binding, 'subjects').some((one) => {
    const name = String(one.name ?? '');
    if (one.kind === 'User') return name === username;
    if (one.kind === 'Group') return groups.includes(name);
    return (
      username === `system:serviceaccount:${String(one.namespace ?? binding.metadata.namespace)}:${name}`
    );
  });
}

async function allows(reader: RbacReader, binding: KubeObject, need: Need): Promise<boolean> {
  const ref = (binding as unknown as JsonObject)['roleRef'];
  const isCluster = field(ref, 'kind') === 'ClusterRole';
  const roles = isCluster
    ? await listRbac(reader, 'clusterroles')
    : await listRbac(reader, 'roles', binding.metadata.namespace);
  const role = roles.find(({ metadata }) => metadata.name === field(ref, 'name'));
  return role !== undefined && objectsIn(role, 'rules').some((rule) => covers(rule, need));
}

function covers(rule: JsonObject, { verb, group, resource, name = '' }: Need): boolean {
  const has = (list: string, value: string): boolean => {
    const values = rule[list];
    return Array.isArray(values) && (values.includes('*') || values.includes(value));
  };
  const names = rule['resourceNames'];
  const isNamed = !Array.isArray(names) || names.length === 0 || names.includes(name);
  return has('verbs', verb) && has('apiGroups', group) && has('resources', resource) && isNamed;
}
