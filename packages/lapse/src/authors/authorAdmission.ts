// Records the author of an object: the mutating admission function of every kind whose controller acts with the rights
// of an author. The user who creates an object or changes its spec becomes its author. Other changes keep the author. The
// annotation `lapse.dev/author: claim` makes the caller the author of the unchanged object. A user who restores an object
// with the signature of its author does not become the author: see docs/adr/0017-rights.md.

import { assertNever } from '@lapse/base/assertNever';
import type { Instant } from '@lapse/base/instant';
import { denyInvalid } from '@lapse/kube/api/admission';
import { forbidden } from '@lapse/kube/api/fieldErrors';
import { equal, type Json } from '@lapse/kube/api/json';
import type { KubeObject } from '@lapse/kube/api/object';
import { ApiError } from '@lapse/kube/api/status';
import type { AdmissionFunction, AdmissionRequest, AdmissionResponse } from '@lapse/runtime/host/review';
import { recordApprover } from '#limits/approval';
import { describeNeeds, type Need, type Subject } from './accessReview.ts';
import {
  AUTHOR_ANNOTATION,
  type AuthorSeal,
  CLAIM,
  namedAuthor,
  type SealedAuthor,
  type Signed,
} from './authorSeal.ts';

const FIELD = `metadata.annotations[${AUTHOR_ANNOTATION}]`;

export interface AuthorAdmission<T extends KubeObject> {
  /** Name of the admission function: `cleaner-author`. */
  readonly name: string;
  /** Resources as `plural.group`: `cleaners.cleaner.vtex.dev`. */
  readonly resources: readonly string[];
  readonly seal: Pick<AuthorSeal, 'seal' | 'verify'>;
  /** The signed part of the object, which has its namespace. Without `generateName`, generated names are refused. */
  readonly signedOf: (object: T) => Signed;
}

export const authorAdmission = <T extends KubeObject>(options: AuthorAdmission<T>): AdmissionFunction => ({
  name: options.name,
  resources: options.resources,
  phase: 'mutating',
  async review(request) {
    const object = writtenObject<T>(request);
    if (object === undefined) return { allowed: true };
    const signed = options.signedOf(inNamespace(object, request));
    if (signed.name === '' && signed.generateName === undefined) return denyGeneratedName(object, request);
    try {
      return await sign(options.seal, withApprover(object, request), signed, request);
    } catch (error) {
      if (error instanceof ApiError) return denyKey(error);
      throw error;
    }
  },
});

async function sign(
  seal: AuthorAdmission<KubeObject>['seal'],
  object: KubeObject,
  signed: Signed,
  request: AdmissionRequest,
): Promise<AdmissionResponse> {
  const caller = callerOf(request);
  const [given, stored] = [authorIn(object), authorIn(request.oldObject)];
  const write: AuthorWrite = {
    isSpecChanged: isSpecChanged(request),
    given,
    stored,
    caller: caller.username,
  };
  const verified = isForeign(write) ? await seal.verify(given, signed) : undefined;
  const decision = decideAuthor(write, verified);
  // A new object has no uid yet: the API server replaces a uid in the manifest.
  const objectUid = request.oldObject?.metadata.uid;
  const bound = objectUid === undefined ? {} : { objectUid };
  switch (decision.kind) {
    case 'stored':
      return { allowed: true, object: withAuthor(object, stored) };
    case 'caller':
      return { allowed: true, object: withAuthor(object, await seal.seal(caller, signed, bound)) };
    case 'restored': {
      const text = await seal.seal(decision.subject, signed, { ...bound, issuedAt: decision.issuedAt });
      return { allowed: true, object: withAuthor(object, text) };
    }
    case 'refused':
      return denyInvalid(request.kind, object, [forbidden(FIELD, decision.message)]);
    default:
      return assertNever(decision);
  }
}

export interface AuthorWrite {
  readonly isSpecChanged: boolean;
  /** The author annotation in the request. */
  readonly given: string | undefined;
  /** The author annotation of the stored object. */
  readonly stored: string | undefined;
  /** The user who sends the request. */
  readonly caller: string;
}

export type AuthorDecision =
  /** The request does not change the author. */
  | { readonly kind: 'stored' }
  /** The caller becomes the author. */
  | { readonly kind: 'caller' }
  /** The caller writes a spec that this author signed. The author and the issue time of the signature stay. */
  | { readonly kind: 'restored'; readonly subject: Subject; readonly issuedAt: Instant }
  | { readonly kind: 'refused'; readonly message: string };

/** The spec changes, and the annotation is neither the stored one, nor a claim, nor names the caller. */
const isForeign = ({ isSpecChanged, given, stored, caller }: AuthorWrite): boolean =>
  isSpecChanged &&
  given !== undefined &&
  given !== CLAIM &&
  given !== stored &&
  namedAuthor(given) !== caller;

/** The author after a write. `verified`: content of a foreign annotation whose signature matches the name and spec. */
export function decideAuthor(write: AuthorWrite, verified: SealedAuthor | undefined): AuthorDecision {
  const { isSpecChanged, given = '', caller } = write;
  if (!isSpecChanged && given !== CLAIM) return { kind: 'stored' };
  if (!isForeign(write)) return { kind: 'caller' };
  // A signature without an issue time would never expire.
  if (verified?.issuedAt !== undefined)
    return { kind: 'restored', subject: verified.subject, issuedAt: verified.issuedAt };
  const named = namedAuthor(given);
  const whose = named === undefined ? 'is not a signature' : `names ${named}, who did not sign this spec`;
  const message = `${whose}; remove the annotation, or set it to "${CLAIM}" to make ${caller} the author`;
  return { kind: 'refused', message };
}

/** The object that a request writes; undefined for a DELETE. */
export const writtenObject = <T extends KubeObject>({
  operation,
  object,
}: AdmissionRequest): T | undefined =>
  operation === 'DELETE' || object === null ? undefined : (object as T);

/** Sets the namespace of the request: a new object may omit its namespace. */
export const inNamespace = <T extends KubeObject>(object: T, { namespace }: AdmissionRequest): T =>
  namespace === undefined || object.metadata.namespace
    ? object
    : { ...object, metadata: { ...object.metadata, namespace } };

const isSpecChanged = ({ operation, object, oldObject }: AdmissionRequest): boolean =>
  operation === 'CREATE' ||
  !equal(object?.['spec'] as Json | undefined, oldObject?.['spec'] as Json | undefined);

/** For validating functions: the spec changes, or the author changes, so the permissions must be reviewed. */
export const isReviewNeeded = (request: AdmissionRequest): boolean =>
  isSpecChanged(request) || authorIn(request.object) !== authorIn(request.oldObject);

/** The user who sends the request. */
export const callerOf = ({ userInfo: { username, uid, groups, extra } }: AdmissionRequest): Subject => ({
  username,
  ...(uid === undefined || uid === '' ? {} : { uid }),
  groups: groups ?? [],
  ...(extra === undefined ? {} : { extra }),
});

/**
 * For validating functions, which require the permissions of the caller. If a restored author lacks them, the request is
 * allowed with a warning: the controller does not act on the object until the author has the permissions.
 */
export async function restoredWarnings(
  seal: Pick<AuthorSeal, 'verify'>,
  signed: Signed,
  request: AdmissionRequest,
  missingOf: (author: Subject) => Promise<readonly Need[]>,
): Promise<string[]> {
  const author = (await seal.verify(authorIn(request.object), signed))?.subject;
  if (author === undefined || author.username === request.userInfo.username) return [];
  const missing = await missingOf(author);
  if (missing.length === 0) return [];
  const claim = `set ${AUTHOR_ANNOTATION}: ${CLAIM} to become the author`;
  return [`the author is still ${author.username}, who may not ${describeNeeds(missing)}; ${claim}`];
}

const authorIn = (object: KubeObject | null): string | undefined =>
  object?.metadata.annotations?.[AUTHOR_ANNOTATION];

function withAuthor<T extends KubeObject>(object: T, text: string | undefined): T {
  if (authorIn(object) === text) return object;
  const { [AUTHOR_ANNOTATION]: _, ...annotations } = object.metadata.annotations ?? {};
  if (text !== undefined) annotations[AUTHOR_ANNOTATION] = text;
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Records who approved deletions, for the status of the rule. */
function withApprover<T extends KubeObject>(object: T, { oldObject, userInfo }: AdmissionRequest): T {
  const { annotations } = object.metadata;
  const next = recordApprover(annotations, oldObject?.metadata.annotations, userInfo.username);
  if (annotations === undefined || next === annotations) return object;
  return { ...object, metadata: { ...object.metadata, annotations: next } };
}

/** Mutating admission runs before the API server generates the name, but the signature covers the name. */
const denyGeneratedName = (object: KubeObject, { kind }: AdmissionRequest): AdmissionResponse =>
  denyInvalid(kind, object, [
    forbidden('metadata.generateName', 'set metadata.name: the author signs for one object by name'),
  ]);

const denyKey = ({ message }: ApiError): AdmissionResponse => ({
  allowed: false,
  code: 500,
  reason: 'InternalError',
  message: `cannot record the author: the key Secret is not readable: ${message}`,
});
