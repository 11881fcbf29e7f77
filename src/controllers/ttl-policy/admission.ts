// The two words admission has about policies. First the author is written down, signed, by whoever the API server says it
// is. Then the policy is compiled and the rights are reviewed, so that people hear at once what a pass would find later.
// Only a changed spec needs an author: labels may be changed by anybody, and finalizers by controllers. Whoever wants to
// answer for a spec as it is says so with the annotation `lapse.dev/author: claim`.

import { type FieldError, forbidden, invalidError } from '#api/fieldErrors';
import { equal, type Json } from '#api/json';
import { describeKind } from '#api/kind';
import { ClusterTTLPolicy, TTLPolicy } from '#api/kinds/ttlPolicy';
import type { KubeObject } from '#api/object';
import { ApiError } from '#api/status';
import type { Client } from '#client/client';
import { accountSubject, describeNeeds, type Need, reviewSubject, type Subject } from '#lifecycle/rights';
import { AUTHOR_ANNOTATION, type AuthorSeal, CLAIM } from '#lifecycle/rightsAuthor';
import type { AdmissionAnswer, AdmissionFunction, AdmissionRequest } from '#runtime/host/review';
import { computeUnfit } from './activation.ts';
import { type AnyPolicy, type CompiledPolicy, compilePolicy } from './compile.ts';
import { computeRefusedKind } from './refused.ts';
import { computeNeeds, signedOf } from './rights.ts';

const RESOURCES = [TTLPolicy, ClusterTTLPolicy].map(({ resource, group }) => `${resource}.${group}`);

export interface AdmissionOptions {
  readonly client: Client;
  readonly actAs: 'author' | 'controller';
  readonly seal: AuthorSeal;
}

/** Writes the author of a new or changed spec into the annotation; whatever a user wrote there is dropped. */
export const policyAuthor = ({ seal }: AdmissionOptions): AdmissionFunction => ({
  name: 'ttl-policy-author',
  resources: RESOURCES,
  phase: 'mutating',
  async review(request) {
    const policy = policyOf(request);
    if (policy === undefined) return { allowed: true };
    const isClaimed = authorIn(policy) === CLAIM;
    if (!isSpecChanged(request) && !isClaimed)
      return { allowed: true, object: withAuthor(policy, oldAuthor(request)) };
    // A generated name is not known yet, and an author answers for one object.
    if (!policy.metadata.name) return denyName(policy);
    try {
      const text = await seal.seal(subjectOf(request), signedOf(policy));
      return { allowed: true, object: withAuthor(policy, text) };
    } catch (error) {
      if (error instanceof ApiError) return denyKey(error);
      throw error;
    }
  },
});

/** Refuses what could not be evaluated, and what its author may not do. */
export const policyRules = ({ client, actAs }: AdmissionOptions): AdmissionFunction => ({
  name: 'ttl-policy',
  resources: RESOURCES,
  phase: 'validating',
  async review(request) {
    const policy = policyOf(request);
    // The author is what the mutating function left there: a new one answers for all of it.
    if (policy === undefined || (!isSpecChanged(request) && authorIn(policy) === oldAuthor(request)))
      return { allowed: true };
    const compiled = compilePolicy(policy);
    if (compiled.kind === 'invalid') return deny(policy, compiled.errors);
    const never = computeRefusedKind(compiled.policy);
    if (never !== undefined) return deny(policy, [forbidden('spec.target', never.message)]);
    const served = await client.discovery.find(compiled.policy.target);
    if (served === undefined) return { allowed: true, warnings: [unservedWarning(compiled.policy)] };
    const unfit = computeUnfit(compiled.policy, served);
    if (unfit !== undefined) return deny(policy, [forbidden('spec.target', unfit.message)]);
    const { author, account } = computeNeeds(compiled.policy, served, actAs);
    const missing = await reviewSubject(client, subjectOf(request), author);
    if (missing.length > 0) return deny(policy, [rightsError(request, compiled.policy, missing)]);
    return { allowed: true, warnings: await accountWarnings(client, compiled.policy, account) };
  },
});

const policyOf = ({ operation, object }: AdmissionRequest): AnyPolicy | undefined =>
  operation === 'DELETE' || object === null ? undefined : (object as AnyPolicy);

const isSpecChanged = ({ operation, object, oldObject }: AdmissionRequest): boolean =>
  operation === 'CREATE' ||
  !equal(object?.['spec'] as Json | undefined, oldObject?.['spec'] as Json | undefined);

const authorIn = (object: KubeObject | null): string | undefined =>
  object?.metadata.annotations?.[AUTHOR_ANNOTATION];
const oldAuthor = ({ oldObject }: AdmissionRequest): string | undefined => authorIn(oldObject);

const subjectOf = ({ userInfo }: AdmissionRequest): Subject => {
  const { username, uid, groups, extra } = userInfo;
  return {
    username,
    ...(uid === undefined || uid === '' ? {} : { uid }),
    groups: groups ?? [],
    ...(extra === undefined ? {} : { extra }),
  };
};

function withAuthor(policy: AnyPolicy, text: string | undefined): AnyPolicy {
  if (authorIn(policy) === text) return policy;
  const { [AUTHOR_ANNOTATION]: _, ...annotations } = policy.metadata.annotations ?? {};
  if (text !== undefined) annotations[AUTHOR_ANNOTATION] = text;
  return { ...policy, metadata: { ...policy.metadata, annotations } };
}

const unservedWarning = ({ target }: CompiledPolicy): string =>
  `${describeKind(target)} is not served yet: the policy begins to work, with the rights you have then, when it is`;

/** The account may be granted its rights after the policy was made: said, not refused. */
async function accountWarnings(
  client: Client,
  { account }: CompiledPolicy,
  needs: readonly Need[],
): Promise<string[]> {
  if (account === undefined) return [];
  const missing = await reviewSubject(client, accountSubject(account), needs);
  return missing.length === 0
    ? []
    : [`service account ${account.namespace}/${account.name} may not ${describeNeeds(missing)} (yet)`];
}

function rightsError(
  { userInfo }: AdmissionRequest,
  { account }: CompiledPolicy,
  missing: readonly Need[],
): FieldError {
  const field = account === undefined ? 'spec.target' : 'spec.serviceAccountName';
  return forbidden(field, `${userInfo.username} may not ${describeNeeds(missing)}`);
}

function deny(policy: AnyPolicy, errors: readonly FieldError[]): AdmissionAnswer {
  const kind = policy.kind;
  const { message, code, reason, status } = invalidError(
    { group: TTLPolicy.group, kind },
    policy.metadata.name ?? '',
    errors,
  );
  return { allowed: false, message, code, reason, ...(status.details ? { details: status.details } : {}) };
}

/** Not the user's fault, and not for the user to mend; said all the same. */
const denyKey = ({ message }: ApiError): AdmissionAnswer => ({
  allowed: false,
  code: 500,
  reason: 'InternalError',
  message: `who wrote this cannot be written down: ${message}`,
});

const denyName = (policy: AnyPolicy): AdmissionAnswer =>
  deny(policy, [forbidden('metadata.generateName', 'a policy needs a name that its author knows')]);
