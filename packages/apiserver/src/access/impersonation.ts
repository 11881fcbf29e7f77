// Impersonation: the Impersonate-* headers. Several modes can allow it (impersonationModes.ts); one is sufficient.
// The mode that last allowed the caller is tried first. When all modes refuse, the first error is returned, so the
// error depends on earlier requests, as in kube-apiserver.

import { BoundedMap } from '@lapse/base/boundedMap';
import { badRequest } from '@lapse/kube/api/errors';
import { quoteGo } from '@lapse/kube/api/fieldErrors';
import type { RequestHeaders } from '@lapse/kube/api/http';
import type { ApiError } from '@lapse/kube/api/status';
import type { UserInfo } from '../resources/resource.ts';
import { type Attributes, refused } from './attributes.ts';
import type { Authorizer } from './authorizer.ts';
import { type Demand, demandsOf, MODES, type Mode, type Wanted, wantedGroups } from './impersonationModes.ts';

const EXTRA = 'impersonate-extra-';

/** Number of callers for which the last mode is remembered. */
const MAX_REMEMBERED = 10_000;
const lastModes = new WeakMap<object, Map<string, Mode>>();

/** Also the key of the remembered modes, which live as long as this object. */
export interface ImpersonationContext {
  readonly authorizer: Authorizer;
}

/** The user for the request; throws when the caller may not impersonate that user. */
export function impersonated(
  headers: RequestHeaders,
  caller: UserInfo,
  attributes: Attributes,
  server: ImpersonationContext,
): UserInfo {
  const wanted = wantedUser(headers);
  if (wanted === undefined) return caller;
  const last = lastModesOf(server);
  const applicable = MODES.filter((mode) => mode.applies(wanted, caller));
  const remembered = applicable.find((mode) => mode === last.get(caller.username));
  const others = applicable.filter((mode) => mode !== remembered);
  let first: ApiError | undefined;
  for (const mode of remembered ? [remembered, ...others] : others) {
    const refusal = findRefusal(demandsOf(mode, wanted, attributes), caller, server.authorizer);
    if (refusal === undefined) {
      last.set(caller.username, mode);
      return userOf(wanted, mode);
    }
    first ??= refusal;
  }
  throw first!;
}

function lastModesOf(server: ImpersonationContext): Map<string, Mode> {
  let last = lastModes.get(server);
  if (last === undefined) {
    last = new BoundedMap(MAX_REMEMBERED);
    lastModes.set(server, last);
  }
  return last;
}

function userOf(wanted: Wanted, mode: Mode): UserInfo {
  const { user, uid, extra } = wanted;
  return {
    username: user,
    ...(uid === '' ? {} : { uid }),
    groups: withAuthenticationGroup(user, wantedGroups(mode, wanted)),
    // Object.fromEntries sets any key, including `__proto__`.
    ...(extra.size === 0 ? {} : { extra: Object.fromEntries(extra) }),
  };
}

/** Undefined when all demands are met. */
function findRefusal(
  demands: Iterable<Demand>,
  caller: UserInfo,
  authorizer: Authorizer,
): ApiError | undefined {
  const refuse = (right: Attributes): ApiError | undefined => {
    const { allowed, reason } = authorizer.authorize(caller, right);
    return allowed ? undefined : refused(caller, right, reason);
  };
  for (const demand of demands) {
    if (demand.kind === 'never') return refused(caller, demand.right, demand.why);
    if (demand.kind === 'each' && demand.all !== undefined && refuse(demand.all) === undefined) continue;
    const rights = demand.kind === 'each' ? demand.rights : [demand.right];
    for (const right of rights) {
      const refusal = refuse(right);
      if (refusal !== undefined) return refusal;
    }
  }
  return undefined;
}

function wantedUser(headers: RequestHeaders): Wanted | undefined {
  const wanted: Wanted = {
    user: headers['impersonate-user'] ?? '',
    uid: headers['impersonate-uid'] ?? '',
    groups: valuesOf(headers['impersonate-group']),
    extra: extrasOf(headers),
  };
  if (wanted.user !== '') return wanted;
  if (wanted.uid !== '' || wanted.groups.length > 0 || wanted.extra.size > 0)
    throw badRequest(`requested ${describe(wanted)} without impersonating a user name`);
  return undefined;
}

/** One value per header line: a comma is part of the value, since groups may contain one. */
const valuesOf = (header: string | readonly string[] | undefined): readonly string[] => {
  if (header === undefined) return [];
  return typeof header === 'string' ? [header] : header;
};

function extrasOf(headers: RequestHeaders): Map<string, readonly string[]> {
  const extra = new Map<string, readonly string[]>();
  for (const [name, value] of Object.entries(headers)) {
    if (!name.startsWith(EXTRA)) continue;
    const key = unescaped(name.slice(EXTRA.length));
    extra.set(key, [...(extra.get(key) ?? []), ...valuesOf(value)]);
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

/** Prints a user as Go does, with its types. */
function describe({ uid, groups, extra }: Wanted): string {
  const list = (values: readonly string[]): string =>
    values.length === 0 ? '[]string(nil)' : `[]string{${values.map(quoteGo).join(', ')}}`;
  const keys = [...extra.keys()].sort();
  const entries = keys.map((key) => `${quoteGo(key)}:${list(extra.get(key)!)}`).join(', ');
  const extras = keys.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries}}`;
  return `&user.DefaultInfo{Name:"", UID:${quoteGo(uid)}, Groups:${list(groups)}, Extra:${extras}}`;
}

/**
 * Adds system:authenticated, or system:unauthenticated for the anonymous user. Groups that contain
 * system:unauthenticated stay unchanged.
 */
function withAuthenticationGroup(user: string, groups: readonly string[]): readonly string[] {
  const unknown = 'system:unauthenticated';
  const group = user === 'system:anonymous' ? unknown : 'system:authenticated';
  return groups.includes(group) || groups.includes(unknown) ? groups : [...groups, group];
}
