// Decides whether a policy may act: its kind is allowed and served, and the author, the account and Lapse have the
// permissions. Evaluated for a new policy, and again periodically, because no event reports changes of permissions.

import { hours, type Instant, isDue, minutes, plus, seconds } from '@lapse/base/instant';
import { describeKind, type Kind, plainKind } from '@lapse/kube/api/kind';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { Subject } from '#authors/accessReview';
import { type AuthorProof, type AuthorSeal, describeExpiry } from '#authors/authorSeal';
import type { ImpersonationScope } from '#authors/impersonation';
import type { AnyPolicy, CompiledPolicy } from './compile.ts';
import {
  authorRefusal,
  computeDisabled,
  computeNeeds,
  computeRefusedKind,
  type Refusal,
  reviewRights,
  signedOf,
} from './rights.ts';

export type Activation =
  /** Without `reviewAt` only permissions of Lapse itself are needed: a refused DELETE shows their loss. */
  | {
      readonly kind: 'allowed';
      readonly target: Kind;
      readonly reviewAt?: Instant;
      /** The author whose permissions were reviewed. */
      readonly author?: Subject;
      /** For the condition: the author's signature expires soon. */
      readonly notice?: string;
    }
  | {
      readonly kind: 'refused';
      readonly refusal: Refusal;
      readonly reviewAt: Instant;
      /** A CRD of this group may add the kind. */
      readonly awaits?: string;
      /** It is unknown whether the policy may act: objects that it may select are held. */
      readonly isOpen?: boolean;
    };

export interface ActivationOptions {
  readonly client: Client;
  readonly actAs: 'author' | 'controller';
  readonly seal: AuthorSeal;
  /** The service accounts that may be impersonated. */
  readonly impersonation: ImpersonationScope;
  /** DELETEs are sent as the author: Lapse itself needs no permission to delete. */
  readonly asAuthor: boolean;
}

/** Revoked permissions are detected after this time at the latest; a refused DELETE is detected at once. */
const REVIEW_ALLOWED = minutes(5);
const REVIEW_REFUSED = seconds(30);
/** How long before its expiry the author's signature is mentioned in the status. */
const NOTICE = hours(7 * 24);
/** The interval of looking for kinds without a CRD (aggregated APIs). */
const REVIEW_UNSERVED = minutes(1);
/** Discovery may be this old, and a kind is served some time after its CRD was created. */
const REVIEW_COMING = seconds(5);

/** `isComing`: a kind that is not served may be served soon: this is the first review, or a CRD was created. */
export async function activate(
  options: ActivationOptions,
  policy: AnyPolicy,
  compiled: CompiledPolicy,
  { now, isComing }: { readonly now: Instant; readonly isComing: boolean },
): Promise<Activation> {
  const { client, actAs, seal } = options;
  const refuse = (refusal: Refusal): Extract<Activation, { kind: 'refused' }> => ({
    kind: 'refused',
    refusal,
    reviewAt: plus(now, REVIEW_REFUSED),
  });
  const never = computeRefusedKind(compiled);
  if (never !== undefined) return refuse(never);
  const served = await client.discovery.find(compiled.target);
  if (served === undefined) return unserved(compiled, plus(now, isComing ? REVIEW_COMING : REVIEW_UNSERVED));
  const unfit = computeUnfit(compiled, served);
  if (unfit !== undefined) return refuse(unfit);
  const disabled = computeDisabled(compiled, options.impersonation);
  if (disabled !== undefined) return refuse(disabled);
  const author = actAs === 'author' ? await authorOf(seal, policy) : undefined;
  if (author?.kind === 'unprovable') return refuse(author.refusal);
  // The author may still have the permissions: the policy deletes nothing, but holds the objects that it may select.
  if (author?.kind === 'expired') return { ...refuse(authorRefusal(author, policy)), isOpen: true };
  if (author?.kind === 'unknown') return refuse(authorRefusal(author, policy));
  const needs = computeNeeds(compiled, served, actAs, options.asAuthor);
  const answer = await tryReviewRights(client, compiled, needs, author?.subject);
  if (answer.kind === 'unanswered') return { ...refuse(answer.refusal), isOpen: true };
  if (answer.refusal !== undefined) return refuse(answer.refusal);
  const isOurs = needs.author.length + needs.account.length === 0;
  return {
    kind: 'allowed',
    target: plainKind(served),
    ...(author === undefined ? {} : { author: author.subject }),
    ...(isOurs ? {} : { reviewAt: plus(now, REVIEW_ALLOWED) }),
    ...expiryOf(author?.expiresAt, policy, now),
  };
}

/** Reviews again exactly when the signature expires. */
function expiryOf(
  expiresAt: Instant | undefined,
  policy: AnyPolicy,
  now: Instant,
): { reviewAt?: Instant; notice?: string } {
  if (expiresAt === undefined) return {};
  const reviewAt = plus(now, REVIEW_ALLOWED);
  return {
    ...(expiresAt < reviewAt ? { reviewAt: expiresAt } : {}),
    ...(isDue(expiresAt, plus(now, NOTICE)) ? { notice: describeExpiry(expiresAt, policy) } : {}),
  };
}

type Proof = AuthorProof | { readonly kind: 'unprovable'; readonly refusal: Refusal };

/** If the controller may not read the key Secret, the policy is refused: the operator has to grant the permission. */
async function authorOf(seal: AuthorSeal, policy: AnyPolicy): Promise<Proof> {
  try {
    return await seal.authorOf(policy, signedOf(policy));
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const message = `the key that proves who wrote it cannot be read: ${error.message}`;
    return { kind: 'unprovable', refusal: { reason: 'AuthorUnknown', message } };
  }
}

type Review =
  | { readonly kind: 'answered'; readonly refusal: Refusal | undefined }
  | { readonly kind: 'unanswered'; readonly refusal: Refusal };

/** A 403 to the review itself is not an answer: the operator has to grant the permission to review. */
async function tryReviewRights(...parameters: Parameters<typeof reviewRights>): Promise<Review> {
  try {
    return { kind: 'answered', refusal: await reviewRights(...parameters) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 403) throw error;
    const message = `the controller may not review rights: ${error.message}`;
    return { kind: 'unanswered', refusal: { reason: 'NotPermitted', message } };
  }
}

function unserved({ target }: CompiledPolicy, reviewAt: Instant): Activation {
  return {
    kind: 'refused',
    refusal: {
      reason: 'KindNotServed',
      message: `the API server does not serve ${describeKind(target)} (yet)`,
    },
    reviewAt,
    awaits: target.group,
  };
}

const VERBS = ['list', 'watch', 'delete'];

export function computeUnfit(policy: CompiledPolicy, served: ServedKind): Refusal | undefined {
  const missing = VERBS.filter((verb) => !served.verbs.includes(verb));
  const what = describeKind(served);
  if (missing.length > 0)
    return { reason: 'KindRefused', message: `${what} does not support ${missing.join(', ')}` };
  if (policy.namespace !== undefined && !served.namespaced)
    return {
      reason: 'KindRefused',
      message: `${what} is not namespaced, and a TTLPolicy acts in its namespace only; use a ClusterTTLPolicy`,
    };
  return undefined;
}
