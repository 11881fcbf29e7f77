// The impersonation modes, in the order they are tried, and the rights that each demands. Four are constrained: they
// demand a right to make this request as another user, and one right per part of the identity. The last is the legacy
// impersonate verb, which allows every request. Nodes and service accounts have their own modes, which set the
// groups.

import { quoteGo } from '@lapse/kube/api/fieldErrors';
import type { UserInfo } from '../resources/resource.ts';
import { domainPrefixedPath } from '../strategies/checks.ts';
import { labelName, subdomainName } from '../strategies/names.ts';
import type { Attributes, ResourceAttributes } from './attributes.ts';
import { SUPERUSERS } from './authorizer.ts';

/** The identity named by the headers. */
export interface Wanted {
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: ReadonlyMap<string, readonly string[]>;
}

export interface Mode {
  /** As it appears in verbs; undefined for the legacy verb. */
  readonly name: string | undefined;
  /** Whether this mode supports the caller and the wanted user. */
  applies(wanted: Wanted, caller: UserInfo): boolean;
}

export type Demand =
  | { readonly kind: 'right'; readonly right: Attributes }
  /** One right to `all` if set, or a right to each. */
  | { readonly kind: 'each'; readonly all: Attributes | undefined; readonly rights: readonly Attributes[] }
  /** No right allows this. */
  | { readonly kind: 'never'; readonly right: Attributes; readonly why: string };

const AUTHENTICATION = 'authentication.k8s.io';
const NODE_NAME = 'authentication.kubernetes.io/node-name';
const ASSOCIATED_NODE = 'associated-node';
/** From this number of values on, one right to all of them is checked first. */
const MANY = 4;

const isOnlyName = ({ uid, groups, extra }: Wanted): boolean =>
  uid === '' && groups.length === 0 && extra.size === 0;

function nodeOf(username: string): string | undefined {
  const name = /^system:node:(.*)$/s.exec(username)?.[1];
  return name !== undefined && subdomainName(name).length === 0 ? name : undefined;
}

function accountOf(username: string): { readonly namespace: string; readonly name: string } | undefined {
  const [, namespace, name] = /^system:serviceaccount:([^:]*):([^:]*)$/.exec(username) ?? [];
  if (namespace === undefined || name === undefined) return undefined;
  return labelName(namespace).length === 0 && subdomainName(name).length === 0
    ? { namespace, name }
    : undefined;
}

/** A service account whose token names the node on which it runs. */
function isOnNode(caller: UserInfo, node: string): boolean {
  const names = caller.extra?.[NODE_NAME] ?? [];
  return accountOf(caller.username) !== undefined && names.length === 1 && names[0] === node;
}

export const MODES: readonly Mode[] = [
  {
    name: ASSOCIATED_NODE,
    applies: (wanted, caller) => {
      const node = nodeOf(wanted.user);
      return node !== undefined && isOnlyName(wanted) && isOnNode(caller, node);
    },
  },
  {
    name: 'arbitrary-node',
    applies: (wanted) => isOnlyName(wanted) && nodeOf(wanted.user) !== undefined,
  },
  {
    name: 'serviceaccount',
    applies: (wanted) => isOnlyName(wanted) && accountOf(wanted.user) !== undefined,
  },
  {
    name: 'user-info',
    applies: ({ user }) => nodeOf(user) === undefined && accountOf(user) === undefined,
  },
  { name: undefined, applies: () => true },
];

/** The groups of the wanted user, without system:authenticated. */
export function wantedGroups(mode: Mode, { user, groups }: Wanted): readonly string[] {
  if (mode.name !== undefined && nodeOf(user) !== undefined) return ['system:nodes'];
  const account = accountOf(user);
  return groups.length === 0 && account
    ? ['system:serviceaccounts', `system:serviceaccounts:${account.namespace}`]
    : groups;
}

/** In the order in which kube-apiserver checks them. */
export function* demandsOf(mode: Mode, wanted: Wanted, attributes: Attributes): Generator<Demand> {
  const { name } = mode;
  if (name !== undefined) {
    const verb = `impersonate-on:${name}:${attributes.verb}`;
    yield { kind: 'right', right: { ...attributes, verb } };
  }
  const identity = identityOf(name);
  yield { kind: 'right', right: rightToName(name, wanted.user) };
  if (wanted.uid !== '') yield { kind: 'right', right: identity('uids', wanted.uid) };
  if (wanted.groups.length > 0) yield groupsDemand(name, wanted.groups);
  if (wanted.extra.size > 0) yield extraDemand(name, wanted.extra);
}

/** A right to one part of an identity. The legacy verb has users and groups in the core group. */
const identityOf =
  (mode: string | undefined) =>
  (resource: string, name: string, subresource = ''): ResourceAttributes => {
    const isOld = mode === undefined && ['users', 'groups', 'serviceaccounts'].includes(resource);
    return {
      verb: mode === undefined ? 'impersonate' : `impersonate:${mode}`,
      group: isOld ? '' : AUTHENTICATION,
      resource,
      subresource,
      name,
      namespace: '',
    };
  };

function rightToName(mode: string | undefined, user: string): ResourceAttributes {
  const identity = identityOf(mode);
  const account = accountOf(user);
  if (account) return { ...identity('serviceaccounts', account.name), namespace: account.namespace };
  const node = mode === undefined ? undefined : nodeOf(user);
  if (node === undefined) return identity('users', user);
  // `*`: any node on which the caller runs.
  return identity('nodes', mode === ASSOCIATED_NODE ? '*' : node);
}

function groupsDemand(mode: string | undefined, groups: readonly string[]): Demand {
  const right = (name: string) => identityOf(mode)('groups', name);
  const isConstrained = mode !== undefined;
  if (isConstrained && groups.includes(''))
    return { kind: 'never', right: right(''), why: 'impersonating the empty string group is not allowed' };
  if (isConstrained && groups.includes(SUPERUSERS)) {
    const why = `impersonating the ${SUPERUSERS} group is not allowed`;
    return { kind: 'never', right: right(SUPERUSERS), why };
  }
  const all = isConstrained && groups.length >= MANY ? right('*') : undefined;
  return { kind: 'each', all, rights: groups.map(right) };
}

function extraDemand(mode: string | undefined, extra: Wanted['extra']): Demand {
  const right = (key: string, value: string) => identityOf(mode)('userextras', value, key);
  const rights = [...extra].flatMap(([key, values]) => values.map((value) => right(key, value)));
  if (mode === undefined) return { kind: 'each', all: undefined, rights };
  const why = extraProblem(extra);
  if (why !== undefined) return { kind: 'never', right: right('', ''), why };
  const isMany = Math.max(extra.size, rights.length) >= MANY;
  return { kind: 'each', all: isMany ? right('*', '*') : undefined, rights };
}

/** The problem with the extra values; undefined when they are valid. */
function extraProblem(extra: Wanted['extra']): string | undefined {
  for (const [key, values] of extra) {
    const what = oddKey(key);
    if (what !== undefined) return `impersonating ${what}`;
    if (values.length === 0) return 'impersonating empty values in extra is not allowed';
    if (values.includes('')) return 'impersonating the empty string value in extra is not allowed';
  }
  return undefined;
}

function oddKey(key: string): string | undefined {
  if (key === '') return 'the empty string key in extra is not allowed';
  const errors = domainPrefixedPath(key, 'extra.key').map(({ field, message }) => `${field}: ${message}`);
  if (errors.length > 0) {
    const message = errors.length === 1 ? errors[0] : `[${errors.join(', ')}]`;
    return `an invalid key in extra is not allowed: ${message}`;
  }
  return key === key.toLowerCase()
    ? undefined
    : `a non-lowercase key in extra is not allowed: ${quoteGo(key)}`;
}
