// Whether a policy may act now: its kind is one that may end, is served, and everybody involved has the rights. Asked when
// a policy is new, and again from time to time, since rights and kinds come and go without a word.

import { hours, type Instant, isDue, minutes, plus, seconds } from '@lapse/base/instant';
import type { Kind } from '@lapse/kube/api/kind';
import { describeKind } from '@lapse/kube/api/kind';
import { ApiError } from '@lapse/kube/api/status';
import type { Client } from '@lapse/kube/client/client';
import type { ServedKind } from '@lapse/kube/client/discovery';
import type { ImpersonationScope } from '#deletion/impersonation';
import type { Subject } from '#deletion/rights';
import { type AuthorProof, type AuthorSeal, describeExpiry } from '#deletion/rightsAuthor';
import type { AnyPolicy, CompiledPolicy } from './compile.ts';
import { computeRefusedKind } from './refused.ts';
import {
  authorRefusal,
  computeDisabled,
  computeNeeds,
  type Refusal,
  reviewRights,
  signedOf,
} from './rights.ts';

export type Activation =
  /** Without a time the rights in question are our own: a refused delete tells soon enough. */
  | {
      readonly kind: 'allowed';
      readonly target: Kind;
      readonly reviewAt?: Instant;
      /** Whose rights were reviewed. */
      readonly author?: Subject;
      /** For the condition: the signature of the author expires soon. */
      readonly notice?: string;
    }
  | {
      readonly kind: 'refused';
      readonly refusal: Refusal;
      readonly reviewAt: Instant;
      /** Its kind may come with a CRD of this group. */
      readonly awaits?: string;
      /** Nobody could say whether it may act: what it may mean is held. */
      readonly isOpen?: boolean;
    };

export interface ActivationOptions {
  readonly client: Client;
  readonly actAs: 'author' | 'controller';
  readonly seal: AuthorSeal;
  /** Where accounts may be impersonated. */
  readonly impersonation: ImpersonationScope;
  /** Deletes are sent as the author: Lapse itself need not be allowed to delete. */
  readonly asAuthor: boolean;
}

/** Revoked rights are noticed after this long at the latest; a refused delete is noticed at once. */
const REVIEW_ALLOWED = minutes(5);
const REVIEW_REFUSED = seconds(30);
/** How long before it expires the status names the end of the author's signature. */
const NOTICE = hours(7 * 24);
/** Kinds that come without a CRD (aggregated ones) are looked for this often. */
const REVIEW_UNSERVED = minutes(1);
/** What is known about kinds may be as old as this, and a kind is served a moment after its definition. */
const REVIEW_COMING = seconds(5);

/** `isComing`: a kind that is not served may be on its way; this is the first look, or a definition came. */
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
  // The author had the rights, and may have them still: the policy keeps objects from others, and deletes none.
  if (author?.kind === 'expired') return { ...refuse(authorRefusal(author, policy)), isOpen: true };
  if (author?.kind === 'unknown') return refuse(authorRefusal(author, policy));
  const needs = computeNeeds(compiled, served, actAs, options.asAuthor);
  const answer = await askedRights(client, compiled, needs, author?.subject);
  if (answer.kind === 'unanswered') return { ...refuse(answer.refusal), isOpen: true };
  if (answer.refusal !== undefined) return refuse(answer.refusal);
  const isOurs = needs.author.length + needs.account.length === 0;
  return {
    kind: 'allowed',
    target: kindOf(served),
    ...(author === undefined ? {} : { author: author.subject }),
    ...(isOurs ? {} : { reviewAt: plus(now, REVIEW_ALLOWED) }),
    ...expiryOf(author?.expiresAt, policy, now),
  };
}

/** An expired signature is noticed at once. */
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

/** A key Secret that the controller may not read is a refusal: an operator has to grant the right. */
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

/** To be refused the question is no answer to it, and for an operator to see to. */
async function askedRights(...question: Parameters<typeof reviewRights>): Promise<Review> {
  try {
    return { kind: 'answered', refusal: await reviewRights(...question) };
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

const kindOf = ({ group, version, kind, resource, namespaced }: ServedKind): Kind => ({
  group,
  version,
  kind,
  resource,
  namespaced,
});
