// authorizer: access checks for the user of a request or a service account. The caller that binds the variable
// implements the checks. Without a binding the functions exist but cannot be called, as in Kubernetes.

import { fn, fnAt, type Library, member } from '../../declarations.ts';
import { sizeOf, traversal } from '../../sizes.ts';
import { BOOL, type CelType, STRING, structOf } from '../../types.ts';
import { fail, Opaque, type Value } from '../../values.ts';
import { isDnsLabel, isDnsSubdomain } from './formats.ts';

export interface ResourceAttributes {
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
}

export interface AccessRequest {
  /** Undefined: the user of the request. */
  readonly serviceAccount: { readonly namespace: string; readonly name: string } | undefined;
  readonly verb: string;
  readonly about: ResourceAttributes | { readonly path: string };
}

export interface AccessDecision {
  readonly allowed: boolean;
  readonly reason: string;
}

export type AccessCheck = (request: AccessRequest) => AccessDecision;

const typeNamed = (name: string): CelType => structOf(`kubernetes.authorization.${name}`);
export const AUTHORIZER = typeNamed('Authorizer');
export const RESOURCE_CHECK = typeNamed('ResourceCheck');
const PATH_CHECK = typeNamed('PathCheck');
const GROUP_CHECK = typeNamed('GroupCheck');
const DECISION = typeNamed('Decision');

/** A value with functions and without fields. It equals only itself. */
abstract class Receiver extends Opaque {
  opaqueEquals(other: Value): boolean {
    return this === other;
  }
}

type Account = AccessRequest['serviceAccount'];

class AuthorizerValue extends Receiver {
  readonly opaqueCheck: AccessCheck;
  readonly opaqueAccount: Account;
  constructor(check: AccessCheck, account?: Account) {
    super();
    this.opaqueCheck = check;
    this.opaqueAccount = account;
  }
  opaqueType() {
    return AUTHORIZER;
  }
}

class GroupCheck extends Receiver {
  readonly opaqueFrom: AuthorizerValue;
  readonly opaqueGroup: string;
  constructor(from: AuthorizerValue, group: string) {
    super();
    this.opaqueFrom = from;
    this.opaqueGroup = group;
  }
  opaqueType() {
    return GROUP_CHECK;
  }
}

/** A check of a path or a resource, without its verb. */
class Check extends Receiver {
  readonly opaqueFrom: AuthorizerValue;
  readonly opaqueAbout: AccessRequest['about'];
  constructor(from: AuthorizerValue, about: AccessRequest['about']) {
    super();
    this.opaqueFrom = from;
    this.opaqueAbout = about;
  }
  opaqueType() {
    return 'path' in this.opaqueAbout ? PATH_CHECK : RESOURCE_CHECK;
  }
}

class Decision extends Receiver {
  readonly opaqueDecision: AccessDecision;
  constructor(decision: AccessDecision) {
    super();
    this.opaqueDecision = decision;
  }
  opaqueType() {
    return DECISION;
  }
}

/** The value of `authorizer`. */
export const authorizerValue = (check: AccessCheck): Value => new AuthorizerValue(check);

/** The value of `authorizer.requestResource`. */
export const resourceCheckValue = (check: AccessCheck, about: ResourceAttributes): Value =>
  new Check(new AuthorizerValue(check), about);

const isBlank = (text: string): boolean => text.trim() === '';

const onAuthorizer = (body: (on: AuthorizerValue, text: string) => Value) => (a: Value, b: Value) =>
  a instanceof AuthorizerValue && typeof b === 'string' ? body(a, b) : undefined;

function serviceAccount(a: Value, namespace: Value, name: Value): Value | undefined {
  if (!(a instanceof AuthorizerValue) || typeof namespace !== 'string' || typeof name !== 'string')
    return undefined;
  if (!isDnsSubdomain(name)) return fail('Invalid service account name');
  if (!isDnsLabel(namespace)) return fail('Invalid service account namespace');
  return new AuthorizerValue(a.opaqueCheck, { namespace, name });
}

function resource(a: Value, name: Value): Value | undefined {
  if (!(a instanceof GroupCheck) || typeof name !== 'string') return undefined;
  if (isBlank(name)) return fail('resource must not be empty');
  const about = { group: a.opaqueGroup, resource: name, subresource: '', namespace: '', name: '' };
  return new Check(a.opaqueFrom, about);
}

const narrowed = (field: 'subresource' | 'namespace' | 'name') => (a: Value, b: Value) =>
  a instanceof Check && typeof b === 'string' && !('path' in a.opaqueAbout)
    ? new Check(a.opaqueFrom, { ...a.opaqueAbout, [field]: b })
    : undefined;

/** Selectors are accepted and ignored: no authorizer here supports them. */
const selected = (a: Value, b: Value) => (a instanceof Check && typeof b === 'string' ? a : undefined);

function check(a: Value, verb: Value): Value | undefined {
  if (!(a instanceof Check) || typeof verb !== 'string') return undefined;
  const { opaqueCheck, opaqueAccount } = a.opaqueFrom;
  return new Decision(opaqueCheck({ serviceAccount: opaqueAccount, verb, about: a.opaqueAbout }));
}

const onDecision = (body: (decision: AccessDecision) => Value) => (a: Value) =>
  a instanceof Decision ? body(a.opaqueDecision) : undefined;

// Costs as in Kubernetes: two checks per expression, and half a requirement per character of a selector.
const CHECK_COST = 350_000;
const SELECTOR_BASE = 10;
const REQUIREMENT_COST = 50;
const selectorCost = (_: Value, text: Value): number => {
  const length = sizeOf(text);
  return SELECTOR_BASE + traversal(length) + Math.ceil(Math.ceil(length * 0.5) * REQUIREMENT_COST);
};

const path = onAuthorizer((on, text) =>
  isBlank(text) ? fail('path must not be empty') : new Check(on, { path: text }),
);
const group = onAuthorizer((on, name) => new GroupCheck(on, name));

const narrowing = (field: 'subresource' | 'namespace' | 'name') =>
  fn(field, member(`resourcecheck_${field}`, [RESOURCE_CHECK, STRING], RESOURCE_CHECK, narrowed(field)));
const selecting = (name: string) =>
  fnAt(
    selectorCost,
    name,
    member(`authorizer_${name.toLowerCase()}`, [RESOURCE_CHECK, STRING], RESOURCE_CHECK, selected),
  );
const deciding = (name: string, result: CelType, body: (decision: AccessDecision) => Value) =>
  fn(name, member(`decision_${name}`, [DECISION], result, onDecision(body)));

export const KUBERNETES_AUTHZ: Library = {
  name: 'kubernetes authz',
  functions: [
    fn('path', member('authorizer_path', [AUTHORIZER, STRING], PATH_CHECK, path)),
    fn('group', member('authorizer_group', [AUTHORIZER, STRING], GROUP_CHECK, group)),
    fn(
      'serviceAccount',
      member('authorizer_serviceaccount', [AUTHORIZER, STRING, STRING], AUTHORIZER, serviceAccount),
    ),
    fn('resource', member('groupcheck_resource', [GROUP_CHECK, STRING], RESOURCE_CHECK, resource)),
    narrowing('subresource'),
    narrowing('namespace'),
    narrowing('name'),
    selecting('fieldSelector'),
    selecting('labelSelector'),
    fnAt(
      () => CHECK_COST,
      'check',
      member('pathcheck_check', [PATH_CHECK, STRING], DECISION, check),
      member('resourcecheck_check', [RESOURCE_CHECK, STRING], DECISION, check),
    ),
    deciding('allowed', BOOL, ({ allowed }) => allowed),
    deciding('reason', STRING, ({ reason }) => reason),
    deciding('errored', BOOL, () => false),
    deciding('error', STRING, () => ''),
  ],
};
