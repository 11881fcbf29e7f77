// The two words admission has about captures. First the author is written down, signed, by whoever the API server says it
// is. Then the targets are looked at, so that people hear at once what a pass would find: kinds that cannot be captured,
// and objects that the author may not read. Only a new spec is reviewed: it cannot be changed afterwards.

import { type FieldError, forbidden, invalidError } from '#api/fieldErrors';
import { ManifestCaptureRequest } from '#api/kinds/manifestCaptureRequest';
import { Reason } from '#api/kinds/storage/conditions';
import { ApiError } from '#api/status';
import { isFailure } from '#lifecycle/requests/refusal';
import type { Subject } from '#lifecycle/rights';
import { AUTHOR_ANNOTATION, type AuthorSeal } from '#lifecycle/rightsAuthor';
import type { AdmissionAnswer, AdmissionFunction, AdmissionRequest } from '#runtime/host/review';
import type { ManifestPolicy, TargetClient } from './policy.ts';
import { describeMissing, reviewTargets, signedOf } from './rights.ts';
import { findTargets } from './targets.ts';

const RESOURCES = [`${ManifestCaptureRequest.resource}.${ManifestCaptureRequest.group}`];

export interface AdmissionOptions {
  readonly client: TargetClient;
  readonly policy: ManifestPolicy;
  readonly seal: AuthorSeal;
}

/** Writes the author of a new request into an annotation, and keeps it there; whatever a user wrote is dropped. */
export const captureAuthor = ({ seal }: AdmissionOptions): AdmissionFunction => ({
  name: 'manifest-capture-author',
  resources: RESOURCES,
  phase: 'mutating',
  async review({ operation, object, oldObject, userInfo, namespace }) {
    if (operation === 'DELETE' || object === null) return { allowed: true };
    const request = placed(object as ManifestCaptureRequest, namespace);
    if (operation === 'UPDATE')
      return {
        allowed: true,
        object: withAuthor(object, oldObject?.metadata.annotations?.[AUTHOR_ANNOTATION]),
      };
    try {
      return {
        allowed: true,
        object: withAuthor(object, await seal.seal(subjectOf(userInfo), signedOf(request))),
      };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      const message = `who asks for this cannot be written down: ${error.message}`;
      return { allowed: false, code: 500, reason: Reason.InternalError, message };
    }
  },
});

/** Refuses what could not be captured, and what its author may not read. */
export const captureRules = ({ client, policy }: AdmissionOptions): AdmissionFunction => ({
  name: 'manifest-capture',
  resources: RESOURCES,
  phase: 'validating',
  async review({ operation, object, userInfo, namespace }) {
    if (operation !== 'CREATE' || object === null) return { allowed: true };
    const request = placed(object as ManifestCaptureRequest, namespace);
    const targets = await findTargets(request, client.discovery, policy);
    if (isFailure(targets)) return deny(request, forbidden('spec.targets', targets.message));
    if (policy.authorization !== 'Webhook') return { allowed: true };
    const author = subjectOf(userInfo);
    const missing = await reviewTargets(client, author, targets);
    if (missing.length === 0) return { allowed: true };
    return deny(request, forbidden('spec.targets', describeMissing(author, missing)));
  },
});

/** A new object need not say its namespace: the request for it does. */
const placed = (request: ManifestCaptureRequest, namespace: string | undefined): ManifestCaptureRequest => ({
  ...request,
  metadata: { ...request.metadata, namespace: request.metadata.namespace || (namespace ?? '') },
});

const subjectOf = ({ username, uid, groups, extra }: AdmissionRequest['userInfo']): Subject => ({
  username,
  ...(uid === undefined || uid === '' ? {} : { uid }),
  groups: groups ?? [],
  ...(extra === undefined ? {} : { extra }),
});

function withAuthor<T extends NonNullable<AdmissionRequest['object']>>(
  object: T,
  text: string | undefined,
): T {
  const { [AUTHOR_ANNOTATION]: before, ...annotations } = object.metadata.annotations ?? {};
  if (before === text) return object;
  if (text !== undefined) annotations[AUTHOR_ANNOTATION] = text;
  return { ...object, metadata: { ...object.metadata, annotations } };
}

function deny({ metadata }: ManifestCaptureRequest, error: FieldError): AdmissionAnswer {
  const { group, kind } = ManifestCaptureRequest;
  const { message, code, reason, status } = invalidError({ group, kind }, metadata.name ?? '', [error]);
  return { allowed: false, message, code, reason, ...(status.details ? { details: status.details } : {}) };
}
