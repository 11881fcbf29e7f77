// RBAC escalation check: a user who writes roles or bindings cannot grant rights that the user does not have.

import { forbidden, notFound } from '@lapse/kube/api/errors';
import { equal } from '@lapse/kube/api/json';
import { asJson, type KubeObject } from '@lapse/kube/api/object';
import type { Call } from '../context.ts';
import { child, objects } from '../strategies/values.ts';
import { SUPERUSERS } from './authorizer.ts';
import { describeRule, EVERYTHING, missingRights, type PolicyRule, parseRules } from './policyRule.ts';

const GROUP = 'rbac.authorization.k8s.io';

/** Throws 403 when the write grants more rights than the user has. */
export function checkEscalation(call: Call, next: KubeObject, old: KubeObject | undefined): void {
  const { resource, core, user } = call;
  if (resource.group !== GROUP || core.authorizer.mode !== 'RBAC' || call.subresource) return;
  if (user.groups.includes(SUPERUSERS) || (old !== undefined && isOnlyForGc(next, old))) return;
  if (resource.plural === 'roles' || resource.plural === 'clusterroles') checkRole(call, next, old);
  else checkBinding(call, next);
}

/** Changes of finalizers and owners, and writes without changes, grant no rights. */
function isOnlyForGc(next: KubeObject, old: KubeObject): boolean {
  const plain = ({ metadata, ...rest }: KubeObject) => {
    const { finalizers: _f, ownerReferences: _o, managedFields: _m, resourceVersion: _r, ...kept } = metadata;
    return asJson({ ...rest, metadata: kept } as KubeObject);
  };
  return equal(plain(next), plain(old));
}

function checkRole(call: Call, next: KubeObject, old: KubeObject | undefined): void {
  const { resource, core, user, namespace = '' } = call;
  const attributes = { group: GROUP, resource: resource.plural, subresource: '', namespace };
  const name = call.name ?? '';
  if (core.authorizer.authorize(user, { ...attributes, verb: 'escalate', name }).allowed) return;
  confirm(call, parseRules(next), next);
  // An aggregation rule without selectors has no effect; validation rejects it.
  const aggregates = (role: KubeObject | undefined) =>
    objects(child(role, 'aggregationRule'), 'clusterRoleSelectors').length > 0;
  if (!aggregates(next) && !aggregates(old)) return;
  if (missingRights(core.authorizer.rulesFor(user, namespace), EVERYTHING).length > 0)
    throw forbidden(
      resource,
      next.metadata.name ?? '',
      'must have cluster-admin privileges to use the aggregationRule',
    );
}

function checkBinding(call: Call, next: KubeObject): void {
  const { core, user, namespace = '' } = call;
  const ref = next['roleRef'] as unknown as { kind: string; name: string };
  const resource = ref.kind === 'ClusterRole' ? 'clusterroles' : 'roles';
  const attributes = { verb: 'bind', group: GROUP, resource, subresource: '', name: ref.name, namespace };
  if (core.authorizer.authorize(user, attributes).allowed) return;
  const rules = core.authorizer.roleRules(ref, namespace);
  if (rules === undefined) throw notFound(call.resource, ref.name);
  confirm(call, rules, next);
}

function confirm(call: Call, rules: readonly PolicyRule[], object: KubeObject): void {
  const { core, user, namespace = '', resource } = call;
  const missing = missingRights(core.authorizer.rulesFor(user, namespace), rules);
  if (missing.length === 0) return;
  const who = `user ${JSON.stringify(user.username)} (groups=[${user.groups.map((g) => JSON.stringify(g)).join(' ')}])`;
  const what = [...new Set(missing.map(describeRule))].sort().join('\n');
  // kube-apiserver names the resource of the request instead of the missing role.
  const unresolved = core.authorizer
    .unresolved(user, namespace)
    .replaceAll(/(cluster)?role(?=\.rbac)/g, resource.plural);
  const more = unresolved === '' ? '' : `; resolution errors: [${unresolved}]`;
  const why = `${who} is attempting to grant RBAC permissions not currently held:\n${what}${more}`;
  throw forbidden(resource, object.metadata.name ?? '', why);
}
