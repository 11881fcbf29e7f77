// Admission of captures. The mutating function records the author. The validating function reviews the targets, so that
// the user sees at once which kinds cannot be captured and which objects the author may not read.

import { denyInvalid } from '@lapse/kube/api/admission';
import { forbidden } from '@lapse/kube/api/fieldErrors';
import type { AdmissionFunction, AdmissionResponse } from '@lapse/runtime/host/review';
import { ManifestCaptureRequest } from '#api/manifestCaptureRequest';
import {
  authorAdmission,
  callerOf,
  inNamespace,
  isReviewNeeded,
  restoredWarnings,
  writtenObject,
} from '#authors/authorAdmission';
import type { AuthorSeal } from '#authors/authorSeal';
import { signedRequest } from '#requests/author';
import { isFailure } from '#requests/refusal';
import type { ManifestPolicy, TargetClient } from './policy.ts';
import { describeMissing, reviewTargets } from './rights.ts';
import { findTargets } from './targets.ts';

const RESOURCES = [`${ManifestCaptureRequest.resource}.${ManifestCaptureRequest.group}`];

export interface AdmissionOptions {
  readonly client: TargetClient;
  readonly policy: ManifestPolicy;
  readonly seal: AuthorSeal;
}

export const captureAuthor = ({ seal }: AdmissionOptions): AdmissionFunction =>
  authorAdmission<ManifestCaptureRequest>({
    name: 'manifest-capture-author',
    resources: RESOURCES,
    seal,
    signedOf: signedRequest,
  });

/** Rejects targets that cannot be captured or that the author may not read. */
export const captureRules = ({ client, policy, seal }: AdmissionOptions): AdmissionFunction => ({
  name: 'manifest-capture',
  resources: RESOURCES,
  phase: 'validating',
  async review(admission) {
    const written = writtenObject<ManifestCaptureRequest>(admission);
    if (written === undefined || !isReviewNeeded(admission)) return { allowed: true };
    const request = inNamespace(written, admission);
    const targets = await findTargets(request, client.discovery, policy);
    if (isFailure(targets)) return deny(request, targets.message);
    if (policy.authorization !== 'Webhook') return { allowed: true };
    const author = callerOf(admission);
    const missing = await reviewTargets(client, author, targets);
    if (missing.length > 0) return deny(request, describeMissing(author, missing));
    const warnings = await restoredWarnings(seal, signedRequest(request), admission, (restored) =>
      reviewTargets(client, restored, targets),
    );
    return { allowed: true, warnings };
  },
});

const deny = (request: ManifestCaptureRequest, message: string): AdmissionResponse =>
  denyInvalid(ManifestCaptureRequest, request, [forbidden('spec.targets', message)]);
