// Waiting for an instant, with a way out.

import type { Clock } from './clock.ts';
import { type Instant, type Millis, plus } from './instant.ts';

/** Resolves at `at`, or as soon as `signal` is aborted; it never rejects, so the caller looks at the signal. */
export function sleepUntil(clock: Clock, at: Instant, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = clock.wakeAt(at, () => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    });
    const onAbort = () => {
      cancel();
      resolve();
    };
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

export const sleep = (clock: Clock, length: Millis, signal?: AbortSignal): Promise<void> =>
  sleepUntil(clock, plus(clock.now(), length), signal);
