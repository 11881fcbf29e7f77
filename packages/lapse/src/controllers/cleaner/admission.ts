// Admission of Cleaners. The mutating function records the author. The validating function interprets the Cleaner as the
// controller would, and reviews the rights of its author.

import { denyInvalid } from '@lapse/kube/api/admission';
import { type FieldError, forbidden, invalid, required } from '@lapse/kube/api/fieldErrors';
import { getOwn, isObject, type Json } from '@lapse/kube/api/json';
import type { Client } from '@lapse/kube/client/client';
import type { AdmissionFunction, AdmissionRequest, AdmissionResponse } from '@lapse/runtime/host/review';
import { Cleaner } from '#api/cleaner';
import {
  describeMissing,
  impersonationOf,
  type Need,
  reviewSelf,
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
import { type ImpersonationScope, impersonationRefusal } from '#authors/impersonation';
import { lackOf, type ReviewNeeds } from '../objectCheck.ts';
import { findKind, type Resolved } from './kinds.ts';
import { missingForHelm, missingOfLapse, needsOf, signedOf } from './rights.ts';
import { type Meaning, understand } from './spec.ts';

const RESOURCES = [`${Cleaner.resource}.${Cleaner.group}`];

export interface AdmissionOptions {
  readonly client: Client;
  readonly actAs: 'author' | 'controller';
  readonly seal: AuthorSeal;
  readonly defaultAccount?: string;
  readonly impersonation: ImpersonationScope;
  /** Deletes are sent as the author. */
  readonly asAuthor: boolean;
}

export const cleanerAuthor = ({ seal }: AdmissionOptions): AdmissionFunction =>
  authorAdmission<Cleaner>({ name: 'cleaner-author', resources: RESOURCES, seal, signedOf });

/**
 * Rejects Cleaners that cannot be evaluated, that name kinds no Cleaner may touch, or that exceed the rights of the
 * author.
 */
export const cleanerRules = (options: AdmissionOptions): AdmissionFunction => ({
  name: 'cleaner',
  resources: RESOURCES,
  phase: 'validating',
  async review(request) {
    const cleaner = writtenObject<Cleaner>(request);
    if (cleaner === undefined || !isObject(cleaner.spec) || !isReviewNeeded(request))
      return { allowed: true };
    const understood = understand(cleaner);
    if (understood.kind === 'invalid')
      return deny(
        cleaner,
        understood.problems.map(({ field, message }) => {
          const value = valueAt(cleaner, field);
          return value === undefined ? required(field, message) : invalid(field, value, message);
        }),
      );
    return reviewKinds(cleaner, understood.meaning, request, options);
  },
});

/** The value at a field path such as `spec.targets[0].name`. */
const valueAt = (cleaner: Cleaner, field: string): Json | undefined =>
  field
    .split(/[.[\]]+/)
    .filter((step) => step !== '')
    .reduce<Json | undefined>(
      (at, step) => (Array.isArray(at) ? at[Number(step)] : isObject(at) ? getOwn(at, step) : undefined),
      cleaner as unknown as Json,
    );

async function reviewKinds(
  cleaner: Cleaner,
  meaning: Meaning,
  request: AdmissionRequest,
  options: AdmissionOptions,
): Promise<AdmissionResponse> {
  const disabled = computeDisabled(meaning, request, options);
  if (disabled !== undefined) return deny(cleaner, [disabled]);
  const all = await options.client.discovery.all();
  const resolved: Resolved[] = [];
  const errors: FieldError[] = [];
  const warnings: string[] = [];
  meaning.targets.forEach((target, i) => {
    const found = findKind(all, target.reference);
    if (found.kind === 'found') resolved.push({ target, kind: found.served });
    else if (found.kind === 'refused') errors.push(forbidden(`spec.targets[${i}].reference`, found.why));
    else warnings.push(`target ${target.name}: ${target.reference.kind} is not served (yet)`);
  });
  if (errors.length > 0) return deny(cleaner, errors);
  const needs = authorNeeds(meaning, resolved, request.namespace ?? '', options);
  const review = (subject: Subject) =>
    missingOf(meaning, needs, request, (some) => reviewSubject(options.client, subject, some));
  const message = describeMissing(request.userInfo, await review(callerOf(request)));
  if (message !== undefined) {
    const field = meaning.account === undefined ? 'spec' : 'spec.serviceAccountName';
    return deny(cleaner, [forbidden(field, message)]);
  }
  warnings.push(...(await selfWarnings(meaning, resolved, request.namespace ?? '', options)));
  if (needs === NO_NEEDS) return { allowed: true, warnings };
  const restored = await restoredWarnings(
    options.seal,
    signedOf(inNamespace(cleaner, request)),
    request,
    review,
  );
  return { allowed: true, warnings: [...warnings, ...restored] };
}

/**
 * Returns why the Cleaner may not set its account, or undefined: the operator has not enabled impersonation in the
 * namespace.
 */
function computeDisabled(
  { account: name }: Meaning,
  { namespace = '' }: AdmissionRequest,
  { impersonation }: AdmissionOptions,
): FieldError | undefined {
  if (name === undefined) return undefined;
  const refusal = impersonationRefusal(impersonation, { namespace, name }, 'cleaner');
  return refusal === undefined ? undefined : forbidden('spec.serviceAccountName', refusal);
}

/** The rights that the author lacks, including those for the records of a release. */
async function missingOf(
  meaning: Meaning,
  needs: readonly Need[],
  { namespace = '' }: AdmissionRequest,
  review: ReviewNeeds,
): Promise<Need[]> {
  const missing = await review(needs);
  const asksForHelm = meaning.release !== undefined && meaning.account === undefined && needs !== NO_NEEDS;
  return asksForHelm ? [...missing, ...(await missingForHelm(namespace, review))] : missing;
}

/** The author's rights are not reviewed. */
const NO_NEEDS: readonly Need[] = [];

/**
 * With a service account, the author must be allowed to impersonate it. With the operator's default account, no
 * right is needed.
 */
function authorNeeds(
  meaning: Meaning,
  resolved: readonly Resolved[],
  namespace: string,
  { actAs, defaultAccount }: AdmissionOptions,
): readonly Need[] {
  if (actAs === 'controller') return NO_NEEDS;
  if (meaning.account !== undefined) return [impersonationOf({ namespace, name: meaning.account })];
  if (defaultAccount !== undefined) return NO_NEEDS;
  return needsOf(resolved, namespace);
}

/** The rights that Lapse itself lacks to carry out the Cleaner, and the ClusterRole that grants them. */
async function selfWarnings(
  meaning: Meaning,
  resolved: readonly Resolved[],
  namespace: string,
  options: AdmissionOptions,
): Promise<string[]> {
  const review: ReviewNeeds = (needs) => reviewSelf(options.client, needs);
  const missing = await missingOfLapse(meaning, resolved, namespace, options, review);
  return lackOf(missing).map(({ message, hint }) => `${message}: ${hint}`);
}

const deny = (cleaner: Cleaner, errors: readonly FieldError[]): AdmissionResponse =>
  denyInvalid(Cleaner, cleaner, errors);
