// Records who wrote an object. The mutating admission function of every kind whose controller acts with the rights of an
// author. The user who creates an object or changes its spec becomes its author; other changes keep the author. A user
// who wants to become the author of an object as it is sets the annotation `lapse.dev/author: claim`.

import { denyInvalid } from '#api/admission';
import { forbidden } from '#api/fieldErrors';
import { equal, type Json } from '#api/json';
import type { KubeObject } from '#api/object';
import { ApiError } from '#api/status';
import type { AdmissionAnswer, AdmissionFunction, AdmissionRequest } from '#runtime/host/review';
import type { Subject } from './rights.ts';
import { AUTHOR_ANNOTATION, type AuthorSeal, CLAIM, type Signed } from './rightsAuthor.ts';

export interface AuthorAdmission<T extends KubeObject> {
  /** Of the admission function: `cleaner-author`. */
  readonly name: string;
  /** `cleaners.cleaner.vtex.dev`. */
  readonly resources: readonly string[];
  readonly seal: Pick<AuthorSeal, 'seal'>;
  /** What the author answers for. The object has its namespace. An empty name refuses objects with a generated name. */
  readonly signedOf: (object: T) => Signed;
}

export const authorAdmission = <T extends KubeObject>(options: AuthorAdmission<T>): AdmissionFunction => ({
  name: options.name,
  resources: options.resources,
  phase: 'mutating',
  async review(request) {
    const object = writtenObject<T>(request);
    if (object === undefined) return { allowed: true };
    if (!isSpecChanged(request) && authorIn(object) !== CLAIM)
      return { allowed: true, object: withAuthor(object, authorIn(request.oldObject)) };
    return sign(options, object, request);
  },
});

async function sign<T extends KubeObject>(
  { seal, signedOf }: AuthorAdmission<T>,
  object: T,
  request: AdmissionRequest,
): Promise<AdmissionAnswer> {
  const signed = signedOf(inNamespace(object, request));
  if (signed.name === '') return denyGeneratedName(object, request);
  try {
    return { allowed: true, object: withAuthor(object, await seal.seal(callerOf(request), signed)) };
  } catch (error) {
    if (error instanceof ApiError) return denyKey(error);
    throw error;
  }
}

/** The object that a request writes; undefined: it deletes. */
export const writtenObject = <T extends KubeObject>({
  operation,
  object,
}: AdmissionRequest): T | undefined =>
  operation === 'DELETE' || object === null ? undefined : (object as T);

/** A new object need not name its namespace: its request does. */
export const inNamespace = <T extends KubeObject>(object: T, { namespace }: AdmissionRequest): T =>
  namespace === undefined || object.metadata.namespace
    ? object
    : { ...object, metadata: { ...object.metadata, namespace } };

const isSpecChanged = ({ operation, object, oldObject }: AdmissionRequest): boolean =>
  operation === 'CREATE' ||
  !equal(object?.['spec'] as Json | undefined, oldObject?.['spec'] as Json | undefined);

/** For validating functions: the object asks for something new, or for the same with the rights of a new author. */
export const isReviewNeeded = (request: AdmissionRequest): boolean =>
  isSpecChanged(request) || authorIn(request.object) !== authorIn(request.oldObject);

/** The user who sends the request. */
export const callerOf = ({ userInfo: { username, uid, groups, extra } }: AdmissionRequest): Subject => ({
  username,
  ...(uid === undefined || uid === '' ? {} : { uid }),
  groups: groups ?? [],
  ...(extra === undefined ? {} : { extra }),
});

const authorIn = (object: KubeObject | null): string | undefined =>
  object?.metadata.annotations?.[AUTHOR_ANNOTATION];

function withAuthor<T extends KubeObject>(object: T, text: string | undefined): T {
  if (authorIn(object) === text) return object;
  const { [AUTHOR_ANNOTATION]: _, ...annotations } = object.metadata.annotations ?? {};
  if (text !== undefined) annotations[AUTHOR_ANNOTATION] = text;
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/** Mutating admission runs before the API server generates the name, and a signature names its object. */
const denyGeneratedName = (object: KubeObject, { kind }: AdmissionRequest): AdmissionAnswer =>
  denyInvalid(kind, object, [
    forbidden('metadata.generateName', 'set metadata.name: the author signs for one object by name'),
  ]);

const denyKey = ({ message }: ApiError): AdmissionAnswer => ({
  allowed: false,
  code: 500,
  reason: 'InternalError',
  message: `cannot record the author: the key Secret is not readable: ${message}`,
});
