// Reviews the rights of a detach, which deletes a claim. Without a review, a user who may create requests could
// delete any claim of the namespace.

import type { ObjectKey } from '@lapse/kube/api/kind';
import { PersistentVolumeClaim } from '@lapse/kube/api/kinds/volumes';
import type { Client } from '@lapse/kube/client/client';
import { Reason } from '#api/storage/conditions';
import type { VolumeCaptureRequest } from '#api/volumeCaptureRequest';
import { describeMissing, type Need, reviewSubject, type Subject } from '#authors/accessReview';
import type { AuthorSeal } from '#authors/authorSeal';
import { noAuthor, requestAuthor } from '#requests/author';
import { type Failure, failure, failureOf } from '#requests/refusal';

/** Undefined in the options of a controller that acts with its own rights. */
export interface Authors {
  /** For access reviews. */
  readonly client: Pick<Client, 'create'>;
  readonly seal: AuthorSeal;
}

/** Why the subject may not detach the volume of this claim. Undefined if it may. */
export async function reviewDetach(
  client: Authors['client'],
  subject: Subject,
  { namespace = '', name }: ObjectKey,
): Promise<Failure | undefined> {
  const { group, resource } = PersistentVolumeClaim;
  const need: Need = { verb: 'delete', group, resource, namespace, name };
  const missing = await reviewSubject(client, subject, [need]);
  const message = describeMissing(subject, missing);
  return message === undefined ? undefined : failure(Reason.RBACDenied, message);
}

/** Repeated before each step: rights change, and the webhook may have been unavailable. */
export async function reviewAuthor(
  authors: Authors | undefined,
  request: VolumeCaptureRequest,
  claim: ObjectKey,
): Promise<Failure | undefined> {
  if (authors === undefined) return undefined;
  try {
    const author = await requestAuthor(authors.seal, request);
    return author.kind === 'author'
      ? await reviewDetach(authors.client, author.subject, claim)
      : noAuthor(author, request);
  } catch (error) {
    return failureOf(error, 'reviewing the author');
  }
}
