// Exponential backoff with jitter. Pure: the caller supplies the failure count, the clock and the random source.

import { type Millis, millis } from './instant.ts';
import type { Random } from './random.ts';

export interface BackoffOptions {
  /** The first delay. */
  readonly first: Millis;
  /** The longest delay, jitter included. */
  readonly max: Millis;
  /** Growth per failure. Default: 2. */
  readonly factor?: number;
  /** Share of the delay that is random, 0 to 1. Default: 0.5. */
  readonly jitter?: number;
}

/** The delay before attempt `failures + 1`; `failures` counts from 1. */
export function computeBackoff(failures: number, options: BackoffOptions, random: Random): Millis {
  const { first, max, factor = 2, jitter = 0.5 } = options;
  const full = Math.min(max, first * factor ** Math.max(0, failures - 1));
  return millis(full * (1 - jitter) + full * jitter * random.next());
}
