// Who made a request. A request acts with the rights of its author, whom admission recorded and signed: see
// rightsAuthor.ts.

import { formatTime } from '@lapse/base/instant';
import type { Json } from '@lapse/kube/api/json';
import { Reason } from '#api/storage/conditions';
import type { RequestObject } from '#api/storage/request';
import type { AuthorProof, AuthorSeal, Signed } from '#deletion/rightsAuthor';
import { type Failure, failure } from './refusal.ts';

/** A request as its author signs it. */
type SignedRequest = RequestObject & { readonly spec?: object };

/** What the author of a request signs. The API server may generate its name after it is signed. */
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

/** A request that fails is not tried again: its author creates a new one. */
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
