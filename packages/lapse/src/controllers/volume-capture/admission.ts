// Admission of captures. Detach deletes a claim: the mutating function records the author of such a request, and the
// validating function rejects authors who may not delete the claim themselves.

import { denyInvalid } from '@lapse/kube/api/admission';
import { forbidden } from '@lapse/kube/api/fieldErrors';
import type { AdmissionFunction, AdmissionRequest } from '@lapse/runtime/host/review';
import { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import {
  authorAdmission,
  callerOf,
  inNamespace,
  isReviewNeeded,
  writtenObject,
} from '#authors/authorAdmission';
import { signedRequest } from '#requests/author';
import { isFailure } from '#requests/refusal';
import { type Authors, reviewDetach } from './author.ts';
import { computeClaimKey } from './decide.ts';

const RESOURCES = [`${VolumeCaptureRequest.resource}.${VolumeCaptureRequest.group}`];

const isDetach = (admission: AdmissionRequest): boolean =>
  writtenObject<VolumeCaptureRequest>(admission)?.spec?.mode === 'Detach';

export function detachAuthor({ seal }: Authors): AdmissionFunction {
  const all = authorAdmission<VolumeCaptureRequest>({
    name: 'volume-capture-author',
    resources: RESOURCES,
    seal,
    signedOf: signedRequest,
  });
  return {
    ...all,
    review: async (admission) => (isDetach(admission) ? all.review(admission) : { allowed: true }),
  };
}

/** An invalid reference is not rejected here: the controller reports it in the request. */
export const detachRules = (authors: Authors, allowCrossNamespace: boolean): AdmissionFunction => ({
  name: 'volume-capture',
  resources: RESOURCES,
  phase: 'validating',
  async review(admission) {
    if (!isDetach(admission) || !isReviewNeeded(admission)) return { allowed: true };
    const request = inNamespace(writtenObject<VolumeCaptureRequest>(admission)!, admission);
    const claim = computeClaimKey(request, allowCrossNamespace);
    if (isFailure(claim)) return { allowed: true };
    const refusal = await reviewDetach(authors.client, callerOf(admission), claim);
    return refusal === undefined
      ? { allowed: true }
      : denyInvalid(VolumeCaptureRequest, request, [
          forbidden('spec.persistentVolumeClaimRef', refusal.message),
        ]);
  },
});
