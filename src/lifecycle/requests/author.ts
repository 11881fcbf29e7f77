// Who made a request. A request acts with the rights of its author, whom admission recorded and signed: see
// rightsAuthor.ts.

import type { Json } from '#api/json';
import { Reason } from '#api/kinds/storage/conditions';
import type { RequestObject } from '#api/kinds/storage/request';
import type { Subject } from '../rights.ts';
import type { AuthorSeal, Signed } from '../rightsAuthor.ts';
import { type Failure, failure } from './refusal.ts';

/** A request as its author signs it. */
type SignedRequest = RequestObject & { readonly spec?: object };

const signedAs = ({ kind, metadata, spec }: SignedRequest, name: string): Signed => ({
  kind,
  namespace: metadata.namespace ?? '',
  name,
  asked: (spec ?? {}) as Json,
});

const generated = ({ metadata }: RequestObject): string | undefined =>
  metadata.generateName === undefined ? undefined : `${metadata.generateName}*`;

/** For admission, which does not know a generated name yet: then its prefix is signed. */
export const signedRequest = (request: SignedRequest): Signed =>
  signedAs(request, request.metadata.name || (generated(request) ?? ''));

/** The verified author; undefined when the signature does not fit. */
export async function requestAuthor(
  seal: Pick<AuthorSeal, 'authorOf'>,
  request: SignedRequest,
): Promise<Subject | undefined> {
  const { name = '', generateName } = request.metadata;
  const author = await seal.authorOf(request, signedAs(request, name));
  if (author !== undefined || generateName === undefined || !name.startsWith(generateName)) return author;
  return seal.authorOf(request, signedAs(request, generated(request)!));
}

export const noAuthor = ({ kind, metadata }: RequestObject): Failure =>
  failure(
    Reason.RBACDenied,
    `${kind} ${metadata.namespace}/${metadata.name} has no verified author; delete it and create it again while the Lapse webhook is running`,
  );
