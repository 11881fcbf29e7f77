// The time decisions use. It is the local clock's, unless that is known to run ahead of the server's: then decisions
// live in the server's time, and wakes are translated back.

import type { Clock } from '@lapse/base/clock';
import type { Instant } from '@lapse/base/instant';

export interface DecisionTime {
  now(): Instant;
  /** The local instant at which `now()` will be `at`, as far as we can tell. */
  localOf(at: Instant): Instant;
  /** Why no decision can be made at present; undefined while nothing is held. */
  problem?(): string | undefined;
}

export const localTime = (clock: Clock): DecisionTime => ({ now: () => clock.now(), localOf: (at) => at });
