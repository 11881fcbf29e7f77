// Classifies errors of the API server. Errors caused by the request or by missing permissions are permanent: the request
// fails. Temporary errors are thrown, and the queue retries.

import { ApiError } from '@lapse/kube/api/status';
import { Reason } from '#api/storage/conditions';

export interface Failure {
  readonly kind: 'failure';
  readonly reason: Reason;
  readonly message: string;
}

export const failure = (reason: Reason, message: string): Failure => ({ kind: 'failure', reason, message });

/** The kinds of Kubernetes objects start with a capital, so no object is mistaken for a failure. */
export const isFailure = (answer: unknown): answer is Failure =>
  typeof answer === 'object' && answer !== null && (answer as { kind?: unknown }).kind === 'failure';

/** Not caused by the request: credentials, timeouts, conflicts, rate limits. */
const TEMPORARY = new Set([401, 408, 409, 410, 425, 429]);

/** The failure for a permanent error; throws temporary errors. `doing`: a phrase, `reading StorageClass fast`. */
export function failureOf(error: unknown, doing: string): Failure {
  if (!(error instanceof ApiError) || error.code >= 500 || TEMPORARY.has(error.code)) throw error;
  const reason = error.code === 403 ? Reason.RBACDenied : Reason.InternalError;
  return failure(reason, `${doing}: ${error.message}`);
}

/** Like `failureOf`, for calls to the snapshot API: a 404 means that the API is not served. */
export function snapshotFailureOf(error: unknown, doing: string): Failure {
  if (error instanceof ApiError && error.code === 404)
    return failure(
      Reason.UnsupportedSnapshotStack,
      `${doing}: the API snapshot.storage.k8s.io/v1 is not served; install the snapshot CRDs and controllers`,
    );
  return failureOf(error, doing);
}
