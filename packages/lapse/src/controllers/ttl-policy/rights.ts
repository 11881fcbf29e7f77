// What a policy may delete: kinds that no policy may delete, the permissions that it needs, and their review.

import type { Json, JsonObject } from '@lapse/kube/api/json';
import type { Client } from '@lapse/kube/client/client';
import { POLICY_DEFAULTS } from '#api/ttlPolicy';
import {
  accountSubject,
  describeMissing,
  impersonationOf,
  type Need,
  reviewSelf,
  reviewSubject,
  type Subject,
} from '#authors/accessReview';
import {
  type AuthorProof,
  canonical,
  describeExpired,
  describeUnknown,
  type Signed,
} from '#authors/authorSeal';
import { type ImpersonationScope, impersonationRefusal } from '#authors/impersonation';
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

/** Kinds of Lapse: a policy that deletes policies, keepers or requests would break their controllers. */
const OUR_GROUPS = new Set(['lapse.dev', 'cleaner.vtex.dev', 'state-snapshotter.deckhouse.io']);
const OUR_KINDS = new Set(
  [
    ['deckhouse.io', 'ObjectKeeper'],
    ['storage.deckhouse.io', 'VolumeCaptureRequest'],
    ['storage.deckhouse.io', 'VolumeRestoreRequest'],
    ['storage.deckhouse.io', 'ReplicatedStoragePool'],
    ['storage.deckhouse.io', 'LVMVolumeGroup'],
  ].map((pair) => pair.join('/')),
);
/** Leases are used for leader election. Events expire by themselves, and a policy on them would cause new Events. */
const TOO_BUSY = new Set(['/Event', 'events.k8s.io/Event', 'coordination.k8s.io/Lease']);

export function computeRefusedKind({ target }: CompiledPolicy): Refusal | undefined {
  const { group, kind } = target;
  const id = `${group}/${kind}`;
  const refuse = (why: string): Refusal => ({
    reason: 'KindRefused',
    message: `a policy cannot delete ${kind} objects: ${why}`,
  });
  if (TOO_BUSY.has(id)) return refuse('they expire by themselves or are used for leader election');
  return OUR_GROUPS.has(group) || OUR_KINDS.has(id) ? refuse('it is a kind of Lapse') : undefined;
}

/** Why a policy may not use its service account: the operator has not enabled impersonation in its namespace. */
export function computeDisabled(
  { account }: CompiledPolicy,
  impersonation: ImpersonationScope,
): Refusal | undefined {
  const message = account && impersonationRefusal(impersonation, account, 'ttlPolicy');
  return message === undefined ? undefined : { reason: 'ImpersonationDisabled', message };
}

/** Why a policy may not act; undefined if it may. `author`: set if the permissions of the author are required. */
export async function reviewRights(
  client: Pick<Client, 'create'>,
  { account }: CompiledPolicy,
  needs: Needs,
  author: Subject | undefined,
): Promise<Refusal | undefined> {
  const review = async (reason: string, subject: Subject, of: readonly Need[]) =>
    refusalOf(reason, subject, await reviewSubject(client, subject, of));
  return (
    (author && (await review('AuthorNotPermitted', author, needs.author))) ??
    (account && (await review('AccountNotPermitted', accountSubject(account), needs.account))) ??
    refusalOf('NotPermitted', { username: 'the controller' }, await reviewSelf(client, needs.self))
  );
}

function refusalOf(reason: string, subject: Subject, missing: readonly Need[]): Refusal | undefined {
  const message = describeMissing(subject, missing);
  return message === undefined ? undefined : { reason, message };
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
