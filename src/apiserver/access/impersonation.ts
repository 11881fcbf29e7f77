// Acting as somebody else: the Impersonate-* headers. It takes the right to be that somebody: either for this request
// alone (constrained, two rights) or for any (the old verb, one right). The first refusal is the one that is told.

import { badRequest } from '#api/errors';
import type { HttpRequest } from '#api/http';
import type { ApiError } from '#api/status';
import type { UserInfo } from '../resources/resource.ts';
import { type Attributes, type ResourceAttributes, refused } from './attributes.ts';
import type { Authorizer } from './authorizer.ts';

const EXTRA = 'impersonate-extra-';
const ACCOUNT = /^system:serviceaccount:([^:]+):([^:]+)$/;
const AUTHENTICATION = 'authentication.k8s.io';

interface Wanted {
  readonly user: string;
  readonly uid: string;
  readonly groups: readonly string[];
  readonly extra: Readonly<Record<string, readonly string[]>>;
}

/** The user the request is made as; throws when the caller may not be that user. */
export function impersonated(
  request: HttpRequest,
  caller: UserInfo,
  attributes: Attributes,
  authorizer: Authorizer,
): UserInfo {
  const wanted = wantedUser(request.headers);
  if (wanted === undefined) return caller;
  const refusal = findRefusal(wanted, caller, attributes, authorizer);
  if (refusal !== undefined) throw refusal;
  const { user, uid, groups, extra } = wanted;
  return {
    username: user,
    ...(uid === '' ? {} : { uid }),
    groups: withSystemGroups(user, groups),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
}

function wantedUser(headers: HttpRequest['headers']): Wanted | undefined {
  const user = headers['impersonate-user'] ?? '';
  const uid = headers['impersonate-uid'] ?? '';
  const groups = listed(headers['impersonate-group']);
  const extra = extrasOf(headers);
  if (user !== '') return { user, uid, groups, extra };
  if (uid !== '' || groups.length > 0 || Object.keys(extra).length > 0)
    throw badRequest('requested impersonation without impersonating a user name');
  return undefined;
}

/** Repeated headers arrive joined. */
const listed = (header: string | undefined): string[] =>
  header === undefined || header === '' ? [] : header.split(', ').filter((value) => value !== '');

function extrasOf(headers: HttpRequest['headers']): Record<string, readonly string[]> {
  const extra: Record<string, readonly string[]> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(EXTRA)) continue;
    // Whatever the key is called: `__proto__` is one, too.
    Object.defineProperty(extra, unescaped(name.slice(EXTRA.length)), {
      value: listed(value),
      enumerable: true,
    });
  }
  return extra;
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Undefined when one of the ways is open. */
function findRefusal(
  wanted: Wanted,
  caller: UserInfo,
  attributes: Attributes,
  authorizer: Authorizer,
): ApiError | undefined {
  const refuse = (needed: readonly Attributes[]): ApiError | undefined => {
    for (const right of needed) {
      const { allowed, reason } = authorizer.authorize(caller, right);
      if (!allowed) return refused(caller, right, reason);
    }
    return undefined;
  };
  const mode = constrainedMode(wanted);
  const plain = () => refuse(rightsToBe(wanted, 'impersonate', ''));
  if (mode === undefined) return plain();
  const constrained = refuse([
    { ...attributes, verb: `impersonate-on:${mode}:${attributes.verb}` },
    ...rightsToBe(wanted, `impersonate:${mode}`, AUTHENTICATION),
  ]);
  return constrained && plain() && constrained;
}

function constrainedMode({ user, uid, groups, extra }: Wanted): string | undefined {
  if (user.startsWith('system:node:')) return undefined;
  if (!ACCOUNT.test(user)) return 'user-info';
  return uid === '' && groups.length === 0 && Object.keys(extra).length === 0 ? 'serviceaccount' : undefined;
}

function rightsToBe({ user, uid, groups, extra }: Wanted, verb: string, group: string): ResourceAttributes[] {
  const base = { verb, group, subresource: '', namespace: '' };
  const account = ACCOUNT.exec(user);
  const own = account
    ? { ...base, resource: 'serviceaccounts', namespace: account[1]!, name: account[2]! }
    : { ...base, resource: 'users', name: user };
  const authentication = { ...base, group: AUTHENTICATION };
  return [
    own,
    ...groups.map((name) => ({ ...base, resource: 'groups', name })),
    ...Object.entries(extra).flatMap(([key, values]) =>
      values.map((name) => ({ ...authentication, resource: 'userextras', subresource: key, name })),
    ),
    ...(uid === '' ? [] : [{ ...authentication, resource: 'uids', name: uid }]),
  ];
}

function withSystemGroups(user: string, groups: readonly string[]): string[] {
  const account = ACCOUNT.exec(user);
  const given =
    groups.length === 0 && account
      ? ['system:serviceaccounts', `system:serviceaccounts:${account[1]}`]
      : [...groups];
  const everybody = user === 'system:anonymous' ? 'system:unauthenticated' : 'system:authenticated';
  const isSaid = given.some((group) => group === everybody || group === 'system:unauthenticated');
  return isSaid ? given : [...given, everybody];
}
