// Admission of policies. The mutating function records the author. The validating function compiles the policy and
// reviews the permissions, so that the user sees at once what the controller would report later.

import { denyInvalid } from '@lapse/kube/api/admission';
import { type FieldError, forbidden } from '@lapse/kube/api/fieldErrors';
import { describeKind } from '@lapse/kube/api/kind';
import type { Client } from '@lapse/kube/client/client';
import type { AdmissionFunction, AdmissionResponse } from '@lapse/runtime/host/review';
import { ClusterTTLPolicy, TTLPolicy } from '#api/ttlPolicy';
import {
  accountSubject,
  describeMissing,
  describeNeeds,
  type Need,
  reviewSubject,
  type Subject,
} from '#authors/accessReview';
import {
  authorAdmission,
  callerOf,
  inNamespace,
  isReviewNeeded,
  restoredWarnings,
  writtenObject,
} from '#authors/authorAdmission';
import type { AuthorSeal } from '#authors/authorSeal';
import type { ImpersonationScope } from '#authors/impersonation';
import { computeUnfit } from './activation.ts';
import { type AnyPolicy, type CompiledPolicy, compilePolicy } from './compile.ts';
import { computeDisabled, computeNeeds, computeRefusedKind, signedOf } from './rights.ts';

const RESOURCES = [TTLPolicy, ClusterTTLPolicy].map(({ resource, group }) => `${resource}.${group}`);

export interface AdmissionOptions {
  readonly client: Client;
  readonly actAs: 'author' | 'controller';
  readonly seal: AuthorSeal;
  readonly impersonation: ImpersonationScope;
}

export const policyAuthor = ({ seal }: AdmissionOptions): AdmissionFunction =>
  authorAdmission<AnyPolicy>({ name: 'ttl-policy-author', resources: RESOURCES, seal, signedOf });

/** Refuses a policy that cannot be evaluated, or whose author lacks permissions. */
export const policyRules = ({ client, actAs, seal, impersonation }: AdmissionOptions): AdmissionFunction => ({
  name: 'ttl-policy',
  resources: RESOURCES,
  phase: 'validating',
  async review(request) {
    const policy = writtenObject<AnyPolicy>(request);
    if (policy === undefined || !isReviewNeeded(request)) return { allowed: true };
    const compiled = compilePolicy(policy);
    if (compiled.kind === 'invalid') return deny(policy, compiled.errors);
    const error = computeSpecError(compiled.policy, impersonation);
    if (error !== undefined) return deny(policy, [error]);
    const served = await client.discovery.find(compiled.policy.target);
    if (served === undefined) return { allowed: true, warnings: [unservedWarning(compiled.policy)] };
    const unfit = computeUnfit(compiled.policy, served);
    if (unfit !== undefined) return deny(policy, [forbidden('spec.target', unfit.message)]);
    const { author, account } = computeNeeds(compiled.policy, served, actAs);
    const missing = describeMissing(request.userInfo, await reviewSubject(client, callerOf(request), author));
    if (missing !== undefined) return deny(policy, [forbidden(rightsField(compiled.policy), missing)]);
    const reviewAuthor = (subject: Subject) => reviewSubject(client, subject, author);
    return {
      allowed: true,
      warnings: [
        ...(actAs === 'author'
          ? await restoredWarnings(seal, signedOf(inNamespace(policy, request)), request, reviewAuthor)
          : []),
        ...(await accountWarnings(client, compiled.policy, account)),
      ],
    };
  },
});

/** The policy may never act as it is written. */
function computeSpecError(policy: CompiledPolicy, impersonation: ImpersonationScope): FieldError | undefined {
  const never = computeRefusedKind(policy);
  if (never !== undefined) return forbidden('spec.target', never.message);
  const disabled = computeDisabled(policy, impersonation);
  return disabled && forbidden('spec.serviceAccountName', disabled.message);
}

const unservedWarning = ({ target }: CompiledPolicy): string =>
  `${describeKind(target)} is not served yet: the policy begins to work, with the rights you have then, when it is`;

/** A warning and not a refusal: the service account may get its permissions later. */
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

const rightsField = ({ account }: CompiledPolicy): string =>
  account === undefined ? 'spec.target' : 'spec.serviceAccountName';

const deny = (policy: AnyPolicy, errors: readonly FieldError[]): AdmissionResponse =>
  denyInvalid({ group: TTLPolicy.group, kind: policy.kind }, policy, errors);
