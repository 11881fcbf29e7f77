// The permissions that a policy needs, and their review by the API server.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { Client } from '@lapse/kube/client/client';
import { POLICY_DEFAULTS } from '#api/ttlPolicy';
import {
  describeImpersonationOff,
  type ImpersonationScope,
  isImpersonationAllowed,
} from '#deletion/impersonation';
import {
  accountSubject,
  describeNeeds,
  impersonationOf,
  type Need,
  reviewSelf,
  reviewSubject,
  type Subject,
} from '#deletion/rights';
import {
  type AuthorProof,
  canonical,
  describeExpired,
  describeUnknown,
  type Signed,
} from '#deletion/rightsAuthor';
import type { AnyPolicy, CompiledPolicy } from './compile.ts';

export interface Refusal {
  /** The CamelCase reason of the condition. */
  readonly reason: string;
  readonly message: string;
}

export interface Needs {
  readonly self: readonly Need[];
  readonly author: readonly Need[];
  readonly account: readonly Need[];
}

/**
 * Lapse reads the targets. The DELETE is sent as the service account, as the author (`asAuthor`), or as Lapse for an
 * author who has the permission, too.
 */
export function computeNeeds(
  policy: CompiledPolicy,
  target: { readonly group: string; readonly resource: string; readonly namespaced: boolean },
  actAs: 'author' | 'controller',
  asAuthor = false,
): Needs {
  const { group, resource, namespaced } = target;
  const scope = namespaced && policy.namespace !== undefined ? { namespace: policy.namespace } : {};
  const need = (verb: string): Need => ({ verb, group, resource, ...scope });
  const readNeeds = [need('list'), need('watch')];
  const deleteNeeds = [need('list'), need('delete')];
  const { account } = policy;
  if (account === undefined)
    return {
      self: asAuthor ? readNeeds : [...readNeeds, need('delete')],
      author: actAs === 'author' ? deleteNeeds : [],
      account: [],
    };
  const impersonate = impersonationOf(account);
  return {
    self: [...readNeeds, impersonate],
    author: actAs === 'author' ? [impersonate] : [],
    account: deleteNeeds,
  };
}

/** Why a policy may not use its service account: the operator has not enabled impersonation in its namespace. */
export function computeDisabled(
  { account }: CompiledPolicy,
  impersonation: ImpersonationScope,
): Refusal | undefined {
  if (account === undefined || isImpersonationAllowed(impersonation, account)) return undefined;
  return { reason: 'ImpersonationDisabled', message: describeImpersonationOff(account, 'ttlPolicy') };
}

/** Why a policy may not act; undefined if it may. `author`: set if the permissions of the author are required. */
export async function reviewRights(
  client: Pick<Client, 'create'>,
  policy: CompiledPolicy,
  needs: Needs,
  author: Subject | undefined,
): Promise<Refusal | undefined> {
  if (author !== undefined) {
    const missing = await reviewSubject(client, author, needs.author);
    if (missing.length > 0)
      return {
        reason: 'AuthorNotPermitted',
        message: `${author.username} may not ${describeNeeds(missing)}`,
      };
  }
  if (policy.account !== undefined) {
    const subject = accountSubject(policy.account);
    const missing = await reviewSubject(client, subject, needs.account);
    if (missing.length > 0)
      return {
        reason: 'AccountNotPermitted',
        message: `${subject.username} may not ${describeNeeds(missing)}`,
      };
  }
  const missing = await reviewSelf(client, needs.self);
  if (missing.length === 0) return undefined;
  return { reason: 'NotPermitted', message: `the controller may not ${describeNeeds(missing)}` };
}

/** Why a policy has no valid author. */
export const authorRefusal = (proof: Exclude<AuthorProof, { kind: 'author' }>, policy: AnyPolicy): Refusal =>
  proof.kind === 'expired'
    ? { reason: 'AuthorExpired', message: describeExpired(proof, policy) }
    : { reason: 'AuthorUnknown', message: describeUnknown(policy) };

/** The signed part of a policy: the spec without defaulted fields. */
export function signedOf(policy: AnyPolicy): Signed {
  const { namespace, name = '' } = policy.metadata;
  return {
    kind: policy.kind,
    ...(policy.kind === 'TTLPolicy' && namespace !== undefined ? { namespace } : {}),
    name,
    asked: withoutDefaults(policy.spec as unknown as JsonObject | undefined),
  };
}

const DEFAULTS: ReadonlyMap<string, string> = new Map(
  Object.entries(POLICY_DEFAULTS).map(([field, value]) => [field, canonical(value as unknown as Json)]),
);

const withoutDefaults = (spec: JsonObject = {}): JsonObject =>
  Object.fromEntries(
    Object.entries(spec).filter(([field, value]) => DEFAULTS.get(field) !== canonical(value)),
  );
