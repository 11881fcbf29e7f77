// How long a key waits after a pass that did not settle it. A failure backs off per key and takes an appointment with
// the overall rate; a lost race does neither, so that one hot object slows down only itself.

import { type BackoffOptions, computeBackoff } from '@lapse/base/backoff';
import { type Millis, millis, minutes, seconds } from '@lapse/base/instant';
import type { Random } from '@lapse/base/random';
import { ApiError } from '@lapse/kube/api/status';
import { TransportError } from '@lapse/kube/client/transport';

export interface RetryOptions {
  /** Delays after failures; 5 ms doubling to 60 s unless told. */
  readonly failure?: BackoffOptions;
  /** Delays after a refusal that only an administrator can lift (403); 1 s doubling to 5 min unless told. */
  readonly forbidden?: BackoffOptions;
  /** Delays after a lost race; 50 ms to 5 s unless told. */
  readonly contended?: BackoffOptions;
  /** Failed keys of the whole queue per second; 100 with a burst of 1,000 unless told. */
  readonly perSecond?: number;
  readonly burst?: number;
}

// Half of each delay is certain and half is chance, so 100 ms means 50 to 100.
export const RETRY_DEFAULTS = {
  failure: { first: millis(5), max: seconds(60) },
  forbidden: { first: seconds(1), max: minutes(5) },
  contended: { first: millis(100), max: seconds(5) },
  perSecond: 100,
  burst: 1000,
} as const satisfies RetryOptions;

/** 403, and requests that cannot be made at all: repeating them soon only makes noise. */
const isForbidden = (cause: unknown): boolean =>
  (cause instanceof ApiError && cause.code === 403) ||
  (cause instanceof TransportError && (cause.failure === 'credentials' || cause.failure === 'unsendable'));

/** What the server asked for, if it did. */
export const askedToWait = (cause: unknown): Millis =>
  millis(cause instanceof ApiError ? (cause.status.details?.retryAfterSeconds ?? 0) * 1000 : 0);

/** The delay of a key that failed for the `failures`-th time in a row, and the longest it may ever be. */
export function computeFailureDelay(
  failures: number,
  cause: unknown,
  options: RetryOptions,
  random: Random,
): { delay: Millis; max: Millis } {
  const backoff = isForbidden(cause)
    ? (options.forbidden ?? RETRY_DEFAULTS.forbidden)
    : (options.failure ?? RETRY_DEFAULTS.failure);
  const delay = Math.max(computeBackoff(failures, backoff, random), Math.min(askedToWait(cause), minutes(1)));
  return { delay: millis(delay), max: backoff.max };
}

export const computeContendedDelay = (losses: number, options: RetryOptions, random: Random): Millis =>
  computeBackoff(losses, options.contended ?? RETRY_DEFAULTS.contended, random);
