// Authorizers: AlwaysAllow, and RBAC, which evaluates the roles and bindings in the store.

import type { UserInfo } from '../resources/resource.ts';
import type { Store } from '../store/store.ts';
import { selects } from '../strategies/labelSelector.ts';
import { type Attributes, isPath } from './attributes.ts';
import { allows, EVERYTHING, type PolicyRule } from './policyRule.ts';
import { type Binding, type Role, type RoleRef, readBinding, readRole, type Subject } from './storedRules.ts';

export interface Authorization {
  readonly allowed: boolean;
  /** For humans; may be empty. */
  readonly reason: string;
}

export interface Authorizer {
  readonly mode: 'AlwaysAllow' | 'RBAC';
  authorize(user: UserInfo, attributes: Attributes): Authorization;
  /** The rules that apply to the user in a namespace, including cluster-wide ones; superusers need none. */
  rulesFor(user: UserInfo, namespace: string): PolicyRule[];
  /** Describes roles that bindings of the user refer to but that do not exist; empty when all exist. */
  unresolved(user: UserInfo, namespace: string): string;
  /** The rules of a role for a binding in `namespace`; undefined when the role does not exist. */
  roleRules(ref: RoleRef, namespace: string): readonly PolicyRule[] | undefined;
}

export const SUPERUSERS = 'system:masters';
const UNAUTHENTICATED = 'system:unauthenticated';
const PUBLIC = /^\/(version|healthz|livez|readyz)(\/|$)/;

const isUnknown = ({ username, groups }: UserInfo): boolean =>
  username === 'system:anonymous' || groups.includes(UNAUTHENTICATED);

/** Authenticated users may do everything; others may read health and version. */
export const alwaysAllow: Authorizer = {
  mode: 'AlwaysAllow',
  authorize: (user, attributes) => ({
    allowed: !isUnknown(user) || (isPath(attributes) && PUBLIC.test(attributes.path)),
    reason: '',
  }),
  rulesFor: (user) => (isUnknown(user) ? [] : [...EVERYTHING]),
  unresolved: () => '',
  roleRules: () => [],
};

interface Granted {
  readonly rule: PolicyRule;
  /** Describes the binding that grants the right. */
  readonly source: () => string;
}

const ROLES = 'roles.rbac.authorization.k8s.io';
const CLUSTER_ROLES = 'clusterroles.rbac.authorization.k8s.io';
const BINDINGS = 'rolebindings.rbac.authorization.k8s.io';
const CLUSTER_BINDINGS = 'clusterrolebindings.rbac.authorization.k8s.io';

export class Rbac implements Authorizer {
  readonly mode = 'RBAC';
  readonly #store: Store;

  constructor(store: Store) {
    this.#store = store;
  }

  authorize(user: UserInfo, attributes: Attributes): Authorization {
    if (user.groups.includes(SUPERUSERS)) return { allowed: true, reason: '' };
    const namespace = isPath(attributes) ? '' : attributes.namespace;
    const missing: string[] = [];
    for (const { rule, source } of this.#granted(user, namespace, missing))
      if (allows(rule, attributes)) return { allowed: true, reason: `RBAC: allowed by ${source()}` };
    return { allowed: false, reason: missing.length === 0 ? '' : `RBAC: ${aggregate(missing)}` };
  }

  rulesFor(user: UserInfo, namespace: string): PolicyRule[] {
    return [...this.#granted(user, namespace, [])].map(({ rule }) => rule);
  }

  unresolved(user: UserInfo, namespace: string): string {
    const missing: string[] = [];
    for (const _ of this.#granted(user, namespace, missing));
    return aggregate(missing);
  }

  roleRules({ kind, name }: RoleRef, namespace: string): readonly PolicyRule[] | undefined {
    const isCluster = kind === 'ClusterRole';
    const stored = isCluster
      ? this.#store.get(CLUSTER_ROLES, name)
      : this.#store.get(ROLES, `${namespace}/${name}`);
    if (stored === undefined) return undefined;
    const role = readRole(stored);
    return isCluster ? [...this.#clusterRules(role, new Set())] : role.rules;
  }

  /** In a cluster a controller writes the aggregated rules into a role; here they are computed on each use. */
  *#clusterRules(role: Role, seen: Set<string>): Generator<PolicyRule> {
    seen.add(role.name);
    const { selectors } = role;
    if (selectors === undefined) {
      yield* role.rules;
      return;
    }
    for (const stored of this.#store.heads(CLUSTER_ROLES)) {
      const other = readRole(stored);
      if (seen.has(other.name)) continue;
      if (selectors.some((selector) => selects(selector, other.labels) === true))
        yield* this.#clusterRules(other, seen);
    }
  }

  *#granted(user: UserInfo, namespace: string, missing: string[]): Generator<Granted> {
    for (const stored of this.#store.heads(CLUSTER_BINDINGS)) {
      const binding = readBinding(stored);
      const subject = binding.subjects.find((candidate) => matchesSubject(user, candidate, ''));
      if (subject) yield* this.#binding(binding, subject, '', missing);
    }
    if (namespace === '') return;
    const here = `${namespace}/`;
    for (const stored of this.#store.heads(BINDINGS)) {
      if (!stored.key.startsWith(here)) continue;
      const binding = readBinding(stored);
      const subject = binding.subjects.find((candidate) => matchesSubject(user, candidate, namespace));
      if (subject) yield* this.#binding(binding, subject, namespace, missing);
    }
  }

  *#binding(binding: Binding, subject: Subject, namespace: string, missing: string[]): Generator<Granted> {
    const { ref } = binding;
    const rules = this.roleRules(ref, namespace);
    if (rules === undefined) {
      const resource = ref.kind === 'ClusterRole' ? 'clusterrole' : 'role';
      missing.push(`${resource}.rbac.authorization.k8s.io ${JSON.stringify(ref.name)} not found`);
      return;
    }
    for (const rule of rules) yield { rule, source: () => describeBinding(binding, subject, namespace) };
  }
}

function matchesSubject(user: UserInfo, subject: Subject, namespace: string): boolean {
  switch (subject.kind) {
    case 'User':
      return user.username === subject.name;
    case 'Group':
      return user.groups.includes(subject.name);
    case 'ServiceAccount': {
      const home = subject.namespace || namespace;
      return home !== '' && user.username === `system:serviceaccount:${home}:${subject.name}`;
    }
    default:
      return false;
  }
}

function describeBinding({ name, ref }: Binding, subject: Subject, namespace: string): string {
  const own = namespace === '' ? name : `${name}/${namespace}`;
  const what = namespace === '' ? 'ClusterRoleBinding' : 'RoleBinding';
  const who =
    subject.kind === 'ServiceAccount' ? `${subject.name}/${subject.namespace || namespace}` : subject.name;
  return `${what} ${JSON.stringify(own)} of ${ref.kind} ${JSON.stringify(ref.name)} to ${subject.kind} ${JSON.stringify(who)}`;
}

/** Several errors, joined as Go does it. */
const aggregate = (errors: readonly string[]): string => {
  const unique = [...new Set(errors)];
  return unique.length <= 1 ? (unique[0] ?? '') : `[${unique.join(', ')}]`;
};
