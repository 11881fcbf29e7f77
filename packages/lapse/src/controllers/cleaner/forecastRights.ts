// Whether the actor of a Cleaner may delete an object, computed from the roles and bindings of a snapshot. A forecast
// sends no access reviews. Where rights are unknown, the actor is assumed to have them.

import { getOwn, isObject, type Json, type JsonObject } from '@lapse/kube/api/json';
import type { Kind, ObjectKey } from '@lapse/kube/api/kind';
import type { KubeObject } from '@lapse/kube/api/object';
import { accountSubject, describeNeed, type Need, type Subject } from '#authors/accessReview';
import { AUTHOR_ANNOTATION, claimedAuthor } from '#authors/authorSeal';
import { type Snapshot, Unreadable } from '../forecaster.ts';
import type { Around } from './forecastTargets.ts';

/** The subject that acts for the Cleaner. Undefined for Lapse itself, whose account a snapshot does not contain. */
export function subjectOf({ forecastContext, rules, cleaner }: Around): Subject | undefined {
  const { metadata, spec } = cleaner;
  const name = spec.serviceAccountName || rules.defaultAccount;
  if (name) return accountSubject({ namespace: metadata.namespace ?? '', name });
  return forecastContext.actAs === 'author'
    ? claimedAuthor(metadata.annotations?.[AUTHOR_ANNOTATION] ?? '')
    : undefined;
}

/** Returns why the subject may not delete the object, or undefined. */
export async function findRefusal(
  snapshot: Snapshot,
  subject: Subject | undefined,
  { group, resource }: Kind,
  { namespace, name }: ObjectKey,
): Promise<string | undefined> {
  if (subject === undefined || subject.groups?.includes('system:masters')) return undefined;
  const need = { verb: 'delete', group, resource, ...(namespace ? { namespace } : {}), name };
  try {
    return (await isGranted(snapshot, subject, need))
      ? undefined
      : `${subject.username} may not ${describeNeed(need)}`;
  } catch (error) {
    if (error instanceof Unreadable) return undefined;
    throw error;
  }
}

async function isGranted(snapshot: Snapshot, subject: Subject, need: Need): Promise<boolean> {
  const wide = await listRbac(snapshot, 'clusterrolebindings');
  // Every cluster with RBAC has bindings. If the snapshot has none, nothing is known about rights.
  if (wide.length === 0) return true;
  const { namespace } = need;
  const local = namespace === undefined ? [] : await listRbac(snapshot, 'rolebindings', namespace);
  for (const binding of [...wide, ...local])
    if (isBound(binding, subject) && (await allows(snapshot, binding, need))) return true;
  return false;
}

async function listRbac(
  snapshot: Snapshot,
  resource: string,
  namespace?: string,
): Promise<readonly KubeObject[]> {
  const kind = snapshot.served.find(
    (one) => one.group === 'rbac.authorization.k8s.io' && one.resource === resource,
  );
  if (kind === undefined) return [];
  return snapshot.list({ kind, ...(namespace === undefined ? {} : { namespace }) });
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

async function allows(snapshot: Snapshot, binding: KubeObject, need: Need): Promise<boolean> {
  const ref = (binding as unknown as JsonObject)['roleRef'];
  const isCluster = field(ref, 'kind') === 'ClusterRole';
  const roles = isCluster
    ? await listRbac(snapshot, 'clusterroles')
    : await listRbac(snapshot, 'roles', binding.metadata.namespace);
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
