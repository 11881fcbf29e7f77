// The author of a request. A request acts with the rights of its author; admission records and signs the author (see
// authors/authorSeal.ts).

import { formatTime } from '@lapse/base/instant';
import type { Json } from '@lapse/kube/api/json';
import { Reason } from '#api/storage/conditions';
import type { RequestObject } from '#api/storage/request';
import type { AuthorProof, AuthorSeal, Signed } from '#authors/authorSeal';
import { type Failure, failure } from './refusal.ts';

/** A request with the spec that its author signs. */
type SignedRequest = RequestObject & { readonly spec?: object };

/** The signed part of a request. The API server may generate its name after the signature. */
export const signedRequest = ({ kind, metadata, spec }: SignedRequest): Signed => ({
  kind,
  namespace: metadata.namespace ?? '',
  name: metadata.name ?? '',
  ...(metadata.generateName === undefined ? {} : { generateName: metadata.generateName }),
  asked: (spec ?? {}) as Json,
});

export const requestAuthor = (
  seal: Pick<AuthorSeal, 'authorOf'>,
  request: SignedRequest,
): Promise<AuthorProof> => seal.authorOf(request, signedRequest(request));

/** A failed request is not retried: its author has to create a new one. */
export function noAuthor(
  proof: Exclude<AuthorProof, { kind: 'author' }>,
  { kind, metadata }: RequestObject,
): Failure {
  const why =
    proof.kind === 'expired'
      ? `was signed by ${proof.subject.username}, and the signature expired at ${formatTime(proof.expiredAt)}`
      : 'has no verified author';
  const again = 'delete it and create it again while the Lapse webhook is running';
  return failure(Reason.RBACDenied, `${kind} ${metadata.namespace}/${metadata.name} ${why}; ${again}`);
}
