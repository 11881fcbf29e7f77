// Who must be allowed what before a policy acts, as a table; and the answer of the API server.

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
  /** One word in CamelCase, the reason of the condition. */
  readonly reason: string;
  readonly message: string;
}

export interface Needs {
  readonly self: readonly Need[];
  readonly author: readonly Need[];
  readonly account: readonly Need[];
}

/**
 * Reading is done by us; deleting by the account, by the author (`asAuthor`), or by us for an author who may do it as
 * well.
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
  const reading = [need('list'), need('watch')];
  const ending = [need('list'), need('delete')];
  const { account } = policy;
  if (account === undefined)
    return {
      self: asAuthor ? reading : [...reading, need('delete')],
      author: actAs === 'author' ? ending : [],
      account: [],
    };
  const impersonate = impersonationOf(account);
  return {
    self: [...reading, impersonate],
    author: actAs === 'author' ? [impersonate] : [],
    account: ending,
  };
}

/** Why a policy may not name its account, if so: the operator has not enabled impersonation there. */
export function computeDisabled(
  { account }: CompiledPolicy,
  impersonation: ImpersonationScope,
): Refusal | undefined {
  if (account === undefined || isImpersonationAllowed(impersonation, account)) return undefined;
  return { reason: 'ImpersonationDisabled', message: describeImpersonationOff(account, 'ttlPolicy') };
}

/** Why a policy may not act; undefined when it may. `author` is set where the rights of one are needed. */
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

/** Why a policy has no author to act for. */
export const authorRefusal = (proof: Exclude<AuthorProof, { kind: 'author' }>, policy: AnyPolicy): Refusal =>
  proof.kind === 'expired'
    ? { reason: 'AuthorExpired', message: describeExpired(proof, policy) }
    : { reason: 'AuthorUnknown', message: describeUnknown(policy) };

/** What an author answers for: the spec, without what defaulting adds. */
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
