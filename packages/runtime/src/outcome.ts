// What a pass may come to: a union that cannot contradict itself. worker.ts decides what follows from each.

import type { Instant } from '@lapse/base/instant';

export type Outcome =
  /** Nothing to do until something changes. */
  | { readonly kind: 'settled' }
  /** Nothing to do until an instant, or until something changes. */
  | { readonly kind: 'waitUntil'; readonly at: Instant; readonly why: string }
  /** Lost a race: soon again, not an error. */
  | { readonly kind: 'again'; readonly why: string }
  /** Retried with backoff, counted, logged. */
  | { readonly kind: 'failed'; readonly cause: Error }
  /** Reported, and not looked at again until something changes. */
  | { readonly kind: 'terminal'; readonly reason: string; readonly message: string };

export const settled = (): Outcome => ({ kind: 'settled' });
/** `why` is a constant of the program ("ttl"), not a text about one object. */
export const waitUntil = (at: Instant, why: string): Outcome => ({ kind: 'waitUntil', at, why });
export const again = (why: string): Outcome => ({ kind: 'again', why });
export const failed = (cause: unknown): Outcome => ({ kind: 'failed', cause: asError(cause) });
/** `reason` is one word in CamelCase, as in conditions and events. */
export const terminal = (reason: string, message: string): Outcome => ({ kind: 'terminal', reason, message });

/** Whatever was thrown, as an error. */
export const asError = (thrown: unknown): Error =>
  thrown instanceof Error
    ? thrown
    : new Error(`something that is not an error was thrown: ${String(thrown)}`);
