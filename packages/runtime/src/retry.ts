// Retry delays of keys. A failure backs off per key and counts against the queue's rate limit. A conflict has a short
// delay of its own and no rate limit, so that one contended object slows down only itself.

import { type BackoffOptions, computeBackoff } from '@lapse/base/backoff';
import { type Millis, millis, minutes, seconds } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import { ApiError } from '@lapse/kube/api/status';
import { TransportError } from '@lapse/kube/client/transport';

export interface RetryOptions {
  /** Delays after failures; default: 5 ms, doubling up to 60 s. */
  readonly failure?: BackoffOptions;
  /** Delays after a 403, which only an administrator can resolve; default: 1 s, doubling up to 5 min. */
  readonly forbidden?: BackoffOptions;
  /** Delays after a conflict; default: 50 ms to 5 s. */
  readonly contended?: BackoffOptions;
  /** Retries of failed keys per second for the whole queue; default: 100 with a burst of 1,000. */
  readonly perSecond?: number;
  readonly burst?: number;
}

// Half of each delay is fixed and half is random: 100 ms means 50 to 100 ms.
export const RETRY_DEFAULTS = {
  failure: { first: millis(5), max: seconds(60) },
  forbidden: { first: seconds(1), max: minutes(5) },
  contended: { first: millis(100), max: seconds(5) },
  perSecond: 100,
  burst: 1000,
} as const satisfies RetryOptions;

/** 403, and requests that cannot be sent at all. Early retries would only produce log noise. */
const isForbidden = (cause: unknown): boolean =>
  (cause instanceof ApiError && cause.code === 403) ||
  (cause instanceof TransportError && (cause.failure === 'credentials' || cause.failure === 'unsendable'));

/** The Retry-After of the server's response; 0 if it has none. */
export const retryAfterOf = (cause: unknown): Millis =>
  millis(cause instanceof ApiError ? (cause.status.details?.retryAfterSeconds ?? 0) * 1000 : 0);

/** The delay after the `failures`-th consecutive failure, and its upper limit. */
export function computeFailureDelay(
  failures: number,
  cause: unknown,
  options: RetryOptions,
  random: Random,
): { delay: Millis; max: Millis } {
  const backoff = isForbidden(cause)
    ? (options.forbidden ?? RETRY_DEFAULTS.forbidden)
    : (options.failure ?? RETRY_DEFAULTS.failure);
  const delay = Math.max(
    computeBackoff(failures, backoff, random),
    Math.min(retryAfterOf(cause), minutes(1)),
  );
  return { delay: millis(delay), max: backoff.max };
}

export const computeContendedDelay = (losses: number, options: RetryOptions, random: Random): Millis =>
  computeBackoff(losses, options.contended ?? RETRY_DEFAULTS.contended, random);
