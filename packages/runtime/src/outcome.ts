// The possible results of a reconcile. worker.ts applies them to the queue.

import type { Instant } from '@lapse/base/instant';

export type Outcome =
  /** Nothing to do until a watched object changes. */
  | { readonly kind: 'settled' }
  /** Nothing to do until `at`, or until a watched object changes. */
  | { readonly kind: 'waitUntil'; readonly at: Instant; readonly why: string }
  /** A conflict with another writer: retried soon, not counted as an error. */
  | { readonly kind: 'again'; readonly why: string }
  /** Retried with backoff, counted and logged. */
  | { readonly kind: 'failed'; readonly cause: Error }
  /** Reported as an Event. Not reconciled again until a watched object changes. */
  | { readonly kind: 'terminal'; readonly reason: string; readonly message: string };

export const settled = (): Outcome => ({ kind: 'settled' });
/** `why` is a constant of the program ("ttl"), not specific to one object. */
export const waitUntil = (at: Instant, why: string): Outcome => ({ kind: 'waitUntil', at, why });
export const again = (why: string): Outcome => ({ kind: 'again', why });
export const failed = (cause: unknown): Outcome => ({ kind: 'failed', cause: asError(cause) });
/** `reason` is one word in CamelCase, as in conditions and Events. */
export const terminal = (reason: string, message: string): Outcome => ({ kind: 'terminal', reason, message });

/** Converts a thrown value to an Error. */
export const asError = (thrown: unknown): Error =>
  thrown instanceof Error
    ? thrown
    : new Error(`something that is not an error was thrown: ${String(thrown)}`);
