// Abortable sleeps.

import type { Cancel, Clock } from './clock.ts';
import type { Instant, Millis } from './instant.ts';
import { wakeAfter } from './monotonic.ts';

/** Resolves at `at`, or as soon as `signal` is aborted. It never rejects: the caller checks the signal. */
export const sleepUntil = (clock: Clock, at: Instant, signal?: AbortSignal): Promise<void> =>
  untilWoken((wake) => clock.wakeAt(at, wake), signal);

/** Resolves after `length`, or as soon as `signal` is aborted. Changes of the wall clock have no effect. */
export const sleep = (clock: Clock, length: Millis, signal?: AbortSignal): Promise<void> =>
  untilWoken((wake) => wakeAfter(clock, length, wake), signal);

function untilWoken(arm: (wake: () => void) => Cancel, signal: AbortSignal | undefined): Promise<void> {
  if (signal?.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const cancel = arm(() => {
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
