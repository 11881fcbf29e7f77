// Which refusals of the API server end a request, and which are no answer. Whatever was refused for a reason that lies
// in the request or in our rights stays refused: the request ends. What may be different in a second is thrown on, and
// the queue tries again.

import { ApiError } from '@lapse/kube/api/status';
import { Reason } from '#api/storage/conditions';

export interface Failure {
  readonly kind: 'failure';
  readonly reason: Reason;
  readonly message: string;
}

export const failure = (reason: Reason, message: string): Failure => ({ kind: 'failure', reason, message });

/** Kinds of objects begin with a capital, so nothing that was read looks like one. */
export const isFailure = (answer: unknown): answer is Failure =>
  typeof answer === 'object' && answer !== null && (answer as { kind?: unknown }).kind === 'failure';

/** Not about the request: credentials, time-outs, races, floods. */
const TEMPORARY = new Set([401, 408, 409, 410, 425, 429]);

/** How a refused call ends the request; throws what is not an answer. `doing` is a phrase: `reading StorageClass fast`. */
export function failureOf(error: unknown, doing: string): Failure {
  if (!(error instanceof ApiError) || error.code >= 500 || TEMPORARY.has(error.code)) throw error;
  const reason = error.code === 403 ? Reason.RBACDenied : Reason.InternalError;
  return failure(reason, `${doing}: ${error.message}`);
}

/** As `failureOf`, for calls that need the snapshot API: a 404 that names no object means that it is not served. */
export function snapshotFailureOf(error: unknown, doing: string): Failure {
  if (error instanceof ApiError && error.code === 404)
    return failure(
      Reason.UnsupportedSnapshotStack,
      `${doing}: the API snapshot.storage.k8s.io/v1 is not served; install the snapshot CRDs and controllers`,
    );
  return failureOf(error, doing);
}
