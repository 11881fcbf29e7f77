// The time that decisions use. It is the local time, unless the local clock is known to be ahead of the API server's.
// Then decisions use the server's time, and deadlines are converted back to local time.

import type { Clock } from '@lapse/base/clock';
import type { Instant } from '@lapse/base/instant';

export interface DecisionTime {
  now(): Instant;
  /** The local time at which `now()` is expected to return `at`. */
  localOf(at: Instant): Instant;
  /** Why decisions are held at present; undefined if they are not. */
  problem?(): string | undefined;
}

export const localTime = (clock: Clock): DecisionTime => ({ now: () => clock.now(), localOf: (at) => at });
