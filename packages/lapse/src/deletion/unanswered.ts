// Errors of requests that may have taken effect.

import { ApiError } from '@lapse/kube/api/status';
import { TransportError } from '@lapse/kube/client/transport';

const isSent = (error: unknown): error is TransportError => error instanceof TransportError && error.sent;

/** The request was sent, but no response arrived. */
export const isUnanswered = (error: unknown): boolean =>
  isSent(error) && (error.failure === 'timeout' || error.failure === 'broken');

/** The request was sent and then aborted: the lease was lost, or the process stops. */
export const isCutOff = (error: unknown): boolean => isSent(error) && error.failure === 'aborted';

/** The request may have taken effect: no response arrived, or a response with code 500 or above. */
export const mayHaveActed = (error: unknown): boolean =>
  isUnanswered(error) || isCutOff(error) || (error instanceof ApiError && error.code >= 500);
